/**
 * The real-time part of a process on a loopback port, with a memory store, a still clock, and clients to connect to it.
 */
import { createServer, type IncomingHttpHeaders, type Server } from 'node:http'
import type { Socket } from 'node:net'
import { text } from 'node:stream/consumers'
import { getRequestListener } from '@hono/node-server'
import { Client as Sdk } from '@colyseus/sdk'
import { type ServerOptions, WebSocket, WebSocketServer } from 'ws'
import { present } from '../../actors/kernel/assert.ts'
import { type InstrumentId, type SessionId, sessionId, type UserId } from '../../actors/kernel/ids.ts'
import { DEFAULT_RULES, STARTING_BALANCE } from '../../actors/kernel/limits.ts'
import { lots, price } from '../../actors/kernel/micros.ts'
import { DEFAULT_MODEL } from '../../actors/market/pricing.ts'
import type { FixtureSnapshot } from '../../actors/market/fixture.ts'
import { listen } from '../../ops/rehearse/conformance/listen.ts'
import { type Cluster, type RealTime, startRealTime } from '../../rooms/boot.ts'
import type { Directory } from '../../rooms/match/match-desk.ts'
import { AccountStream, type ReadAccounts } from '../../rooms/feed/account-stream.ts'
import { FanOut, type PriceSource } from '../../rooms/feed/fan-out.ts'
import { type Wake, WakeLimiter } from '../../rooms/feed/wake-limiter.ts'
import { PriceFeed } from '../../rooms/feed/price-feed.ts'
import { ConnectionLimit, type ConnectionLimits } from '../../rooms/sockets/connection-limit.ts'
import {
  decodePriceFrame,
  encodePriceFrame,
  type PriceFrame,
  type PublishedPrice,
} from '../../rooms/feed/price-frame.ts'
import { Door, type DoorLimits } from '../../rooms/sockets/door.ts'
import { WriteDeadline } from '../../rooms/sockets/write-deadline.ts'
import { handshakeWithin, type Visitor } from '../../rooms/sockets/admission.ts'
import { half, KICK_OFF, MATCH, P, player, snapshot, U, u } from '../support/fixtures.ts'
import { MemoryMatchStore } from '../support/memory-store.ts'
import { TestWorld } from '../support/test-world.ts'

/** Less than the timeout of a test, so that the failure names the condition. */
const PATIENCE_MS = 10_000

/** Waits until a condition holds; fails with its name if it never does. */
export async function until(what: string, holds: () => boolean): Promise<void> {
  const deadline = performance.now() + PATIENCE_MS
  while (!holds()) {
    if (performance.now() > deadline) throw new Error(`timed out waiting for: ${what}`)
    await new Promise((resolve) => setTimeout(resolve, 2))
  }
}

export interface RealtimeRigOptions {
  readonly store?: MemoryMatchStore
  readonly players?: number
  readonly leaseTtlMs?: number
  readonly limits?: Partial<ConnectionLimits>
  readonly doorLimits?: Partial<DoorLimits>
  readonly cluster?: Cluster
}

/** Limits that nobody reaches. */
const NO_LIMITS: DoorLimits = { admitsAddress: async () => true, admitsUser: async () => true }

/** Events of one page of the account stream here. */
export const PAGE = 3

/** Reads the account logs of a memory store. */
const readerOf =
  (store: MemoryMatchStore): ReadAccounts =>
  async (questions) =>
    questions.map(({ userId, since }) => {
      const events = store.accountEvents.get(userId) ?? []
      if (since === null || since > events.length) {
        const body = { marker: String(events.length), snapshot: true, events: [] }
        return { marker: events.length, more: false, isEmpty: false, body }
      }
      const page = events
        .slice(since, since + PAGE)
        .map(({ kind }, n) => ({ marker: String(since + n + 1), type: kind }))
      const marker = since + page.length
      const body = { marker: String(marker), snapshot: false, events: page }
      return { marker, more: marker < events.length, isEmpty: page.length === 0, body }
    })

/** A token is the user's number: `token=1`. Each user has one session. */
async function verify(token: string): Promise<Visitor | 'forbidden' | null> {
  if (token === 'broken') throw new Error('the key store is away')
  if (token === 'early') return 'forbidden'
  const n = Number(token)
  return Number.isInteger(n) ? { userId: U(n), sessionId: sessionOf(n) } : null
}

export const sessionOf = (n: number): SessionId => sessionId(`session ${n}`)

export class RealtimeRig {
  readonly world = new TestWorld()
  readonly store: MemoryMatchStore
  readonly reports: { readonly event: string; readonly error: unknown }[] = []
  readonly warnings: object[] = []
  readonly #server: Server
  readonly #sockets: FeedClient[] = []
  readonly #connections = new Set<Socket>()
  readonly #players: number
  readonly #limits: Partial<ConnectionLimits>
  readonly #doorLimits: DoorLimits
  readonly #cluster: Cluster | null
  #realTime: RealTime | null = null
  #seq = 0
  #elapsedSecs = 0
  /** Tests may replace it. */
  readAccounts: ReadAccounts

  private constructor(options: RealtimeRigOptions) {
    this.store = options.store ?? new MemoryMatchStore()
    this.#players = options.players ?? 2
    this.#limits = options.limits ?? {}
    this.#doorLimits = { ...NO_LIMITS, ...options.doorLimits }
    this.#cluster = options.cluster ?? null
    this.readAccounts = readerOf(this.store)
    const answer = getRequestListener((request) => this.realTime.matchmake(request))
    this.#server = createServer((request, response) => void answer(request, response))
    this.#server.on('connection', (socket) => {
      this.#connections.add(socket)
      socket.once('close', () => this.#connections.delete(socket))
    })
  }

  static async open(options: RealtimeRigOptions = {}): Promise<RealtimeRig> {
    const rig = new RealtimeRig(options)
    await rig.boot(options.leaseTtlMs)
    await listen(rig.#server, 0)
    return rig
  }

  /** One that runs the match, which is in play, for users with wallets. */
  static async playing({ users = 1, ...options }: RealtimeRigOptions & { users?: number } = {}): Promise<RealtimeRig> {
    const rig = await RealtimeRig.open(options)
    for (let n = 1; n <= users; n++) rig.grant(n)
    await rig.plays()
    return rig
  }

  /** The process stops, and the next one begins with what is stored. */
  async restart(): Promise<void> {
    await this.realTime.stop()
    await this.boot()
  }

  async boot(leaseTtlMs = 30_000): Promise<void> {
    this.#realTime = await startRealTime({
      server: this.#server,
      verify,
      doorLimits: this.#doorLimits,
      directory: this.#directory(),
      ownership: this.store,
      cluster: this.#cluster,
      runsMatches: true,
      publicAddress: null,
      readAccounts: (questions) => this.readAccounts(questions),
      limits: this.#limits,
      store: this.store,
      quarantine: (matchId, reason) => this.store.quarantine(matchId, reason),
      leases: this.store,
      leaseTtlMs,
      world: this.world,
      rules: () => DEFAULT_RULES,
      model: () => DEFAULT_MODEL,
      rulesWith: () => null,
      report: (event, error) => this.reports.push({ event, error }),
      warn: (event, facts) => this.warnings.push({ event, ...facts }),
      replay: this.#replay(),
      provider: null,
    })
  }

  get realTime(): RealTime {
    return present(this.#realTime, 'the real-time side')
  }

  get desk(): RealTime['desk'] {
    return this.realTime.desk
  }

  get address(): string {
    const address = this.#server.address()
    return `127.0.0.1:${typeof address === 'object' && address !== null ? address.port : 0}`
  }

  /** Gives user n a wallet. */
  grant(n: number): UserId {
    this.store.grant(U(n), STARTING_BALANCE)
    return U(n)
  }

  /** The next update is number 1, as after a poller has forgotten the match. */
  countsAnew(): void {
    this.#seq = 0
  }

  /** The next feed update: ten seconds of play on. */
  plays(over: Partial<FixtureSnapshot> = {}): Promise<'applied' | 'dropped' | 'elsewhere'> {
    this.#elapsedSecs += 10
    this.world.pass(1)
    const players = Array.from({ length: this.#players }, (_, i) => player(i + 1))
    const update = snapshot({ players, periods: half(this.#elapsedSecs), sourceAt: this.world.now(), ...over })
    return this.desk.feed({ kind: 'feed_update', seq: ++this.#seq, snapshot: update }, { replay: false })
  }

  async feedClient(token = '1'): Promise<FeedClient> {
    const client = new FeedClient(`ws://${this.address}/?token=${token}`)
    this.#sockets.push(client)
    await client.opened
    return client
  }

  sdk(token = '1'): Sdk {
    return new Sdk(`ws://${this.address}/?token=${token}`)
  }

  /** The code that a connection is closed with before it has been sent anything. */
  async closedWith(path: string): Promise<number> {
    const client = new FeedClient(`ws://${this.address}${path}`)
    this.#sockets.push(client)
    await client.opened
    const code = await client.closed
    if (client.said.length + client.prices.length > 0) throw new Error(`${path} was served`)
    return code
  }

  /** How many connections of clients the server has not closed. */
  openSockets(): number {
    return this.#connections.size
  }

  /** The HTTP status an upgrade request is refused with. */
  async refusedWith(path: string): Promise<number | undefined> {
    return (await this.refusalOf(path)).status
  }

  /** What a refused upgrade request is answered. */
  refusalOf(path: string): Promise<{ status: number | undefined; headers: IncomingHttpHeaders; body: string }> {
    const ws = new WebSocket(`ws://${this.address}${path}`)
    return new Promise((resolve, reject) => {
      ws.on('unexpected-response', (_request, response) => {
        void text(response).then((body) => {
          ws.terminate()
          resolve({ status: response.statusCode, headers: response.headers, body })
        }, reject)
      })
      ws.on('open', () => reject(new Error(`${path} was accepted`)))
      ws.on('error', () => undefined)
    })
  }

  async close(): Promise<void> {
    for (const client of this.#sockets) client.ws.terminate()
    await this.realTime.stop()
    this.#server.closeAllConnections()
    await new Promise((resolve) => this.#server.close(resolve))
  }

  /** Recordings whose frames are parts of snapshots. */
  #replay(): Parameters<typeof startRealTime>[0]['replay'] {
    return {
      parse: (payload) => (typeof payload === 'object' && payload !== null ? snapshot(payload) : null),
      enrol: async (count) => Array.from({ length: count }, (_, i) => this.grant(i + 1)),
    }
  }

  /** The test match as a database knows it: players 1 to n, and every stored position. */
  #directory(): Directory {
    return {
      matchOfInstrument: async (id) =>
        Array.from({ length: this.#players }, (_, i) => P(i + 1)).includes(id) ? MATCH : null,
      matchOfPosition: async (id, userId) => {
        const position = this.store.positions.get(id)
        if (position === undefined || position.userId !== userId) return null
        return { matchId: position.fixtureId, open: position.close === null }
      },
    }
  }
}

/** A plain client of the price feed, which keeps everything it received. */
export class FeedClient {
  readonly ws: WebSocket
  readonly opened: Promise<void>
  readonly closed: Promise<number>
  readonly prices: PriceFrame[] = []
  readonly said: { readonly type: string; readonly [key: string]: unknown }[] = []

  constructor(url: string) {
    this.ws = new WebSocket(url, 'feed.v1')
    this.opened = new Promise((resolve, reject) => {
      this.ws.once('open', resolve)
      this.ws.once('error', reject)
    })
    this.closed = new Promise((resolve) => this.ws.once('close', resolve))
    this.ws.on('message', (data: Buffer, isBinary) => {
      if (isBinary) this.prices.push(present(decodePriceFrame(data), 'a valid frame'))
      else if (data[0] === 0x7b) this.said.push(JSON.parse(data.toString()))
    })
  }

  ask(request: object | string): void {
    this.ws.send(typeof request === 'string' ? request : JSON.stringify(request))
  }

  /** Subscribes and waits for the answer. */
  async subscribe(instrumentIds: readonly InstrumentId[], over: object = {}): Promise<Record<string, unknown>> {
    const before = this.said.length
    this.ask({ type: 'subscribe', id: 7, instrumentIds, ...over })
    await until('subscribed', () => this.said.length > before)
    return present(this.said[before], 'answer')
  }
}

/** The nth player's price with sequence number `seq`, which is also by how many micros it is above 200. */
export const priceOf = (n: number, seq: number): PublishedPrice => {
  const frame = encodePriceFrame({
    flags: 0,
    epoch: 1,
    seq,
    instrumentId: P(n),
    at: KICK_OFF,
    price: price(u(200) + seq),
    base: price(u(200)),
    imbalance: lots(0),
    previous: price(u(200)),
    providerEventId: 0,
    fixtureId: MATCH,
    phase: 'live',
    cause: 'trade',
    minute: 1,
    status: 'OPEN',
  })
  return { matchId: MATCH, instrumentId: P(n), epoch: 1, seq, frame }
}

export interface FeedStandOptions {
  readonly players?: number
  readonly connectionsMax?: number
  /** For the handshake. */
  readonly handshakeMs?: number
  /** Answers lookups of instruments that the match does not have. */
  readonly wake?: Wake
}

/** The price feed alone, with one simulated match of as many players as a test needs. */
export class FeedStand {
  readonly world = new TestWorld()
  readonly deadline = new WriteDeadline()
  readonly reports: unknown[] = []
  readonly fanOut: FanOut
  readonly feed: PriceFeed
  readonly #door: Door
  readonly #account: AccountStream
  readonly #server: Server
  readonly #clients: FeedClient[] = []
  readonly #moves = new Map<InstrumentId, PublishedPrice>()
  readonly #source: PriceSource
  #seq = 0

  private constructor(options: FeedStandOptions) {
    const { players = 2, connectionsMax = 100, handshakeMs = 10_000, wake = async () => 'unknown' } = options
    this.#server = createServer(handshakeWithin(handshakeMs))
    const { world, deadline } = this
    const report = (_event: string, error: unknown): void => void this.reports.push(error)
    this.fanOut = new FanOut({ clock: world.steady, report })
    this.#account = new AccountStream({ read: async (asked) => asked.map(() => null), report })
    this.#door = new Door({ limits: NO_LIMITS, clock: world.steady, report })
    this.feed = new PriceFeed({
      verify,
      door: this.#door,
      connectionLimit: new ConnectionLimit({ connectionsMax }),
      fanOut: this.fanOut,
      account: this.#account,
      wake,
      wakes: new WakeLimiter(world),
      deadline,
      world,
      report,
    })
    this.#source = {
      matchId: MATCH,
      epoch: 1,
      currentPrices: () => Array.from({ length: players }, (_, i) => priceOf(i + 1, this.#seq)),
      takePrices: () => {
        const prices = [...this.#moves.values()]
        this.#moves.clear()
        return prices
      },
    }
    this.fanOut.open(this.#source)
    this.#server.on('upgrade', (request, _socket, head: Buffer) => void this.feed.upgrade(request, head))
  }

  static async open(options: FeedStandOptions = {}): Promise<FeedStand> {
    const stand = new FeedStand(options)
    await listen(stand.#server, 0)
    return stand
  }

  /** A move of the nth player, with the next sequence number. */
  move(n: number): void {
    this.#seq++
    this.#moves.delete(P(n)) // the newest move comes last
    this.#moves.set(P(n), priceOf(n, this.#seq))
    this.fanOut.moved(this.#source)
  }

  get port(): number {
    const address = this.#server.address()
    return typeof address === 'object' && address !== null ? address.port : 0
  }

  async client(token = '1'): Promise<FeedClient> {
    const client = new FeedClient(`ws://127.0.0.1:${this.port}/?token=${token}`)
    this.#clients.push(client)
    await client.opened
    return client
  }

  async close(): Promise<void> {
    for (const client of this.#clients) client.ws.terminate()
    this.#door.stop()
    this.fanOut.stop()
    this.#account.stop()
    await this.feed.stop()
    this.deadline.stop()
    this.#server.closeAllConnections()
    await new Promise((resolve) => this.#server.close(resolve))
  }
}

/** A server's end of a WebSocket, the socket under it, and the client at its other end. */
export interface SocketPair {
  readonly ws: WebSocket
  readonly socket: Socket
  readonly client: FeedClient
  close(): Promise<void>
}

export async function socketPair(options: ServerOptions = {}): Promise<SocketPair> {
  const server = createServer()
  const wss = new WebSocketServer({ ...options, server })
  const port = await listen(server, 0)
  const arrived = new Promise<{ readonly ws: WebSocket; readonly socket: Socket }>((resolve) => {
    wss.once('connection', (ws, request) => resolve({ ws, socket: request.socket }))
  })
  const client = new FeedClient(`ws://127.0.0.1:${port}`)
  await client.opened
  const close = async (): Promise<void> => {
    client.ws.terminate()
    wss.close()
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
  }
  return { ...(await arrived), client, close }
}

/** Stops reading at the client's end and fills the kernel's buffers, until bytes wait at the server's. */
export async function stall({ ws, socket, client }: SocketPair): Promise<void> {
  client.ws.pause()
  while (socket.writableLength === 0) {
    ws.send('x'.repeat(100_000))
    await new Promise(setImmediate) // what fits goes to the kernel
  }
}
