/**
 * The plain WebSocket feed: one socket per visitor, prices only of what it subscribed to. Matches are asked for their moves
 * at most every PUBLISH_INTERVAL_MS; each move is one shared frame; each socket gets one write for all it is due.
 */
import type { IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import { type WebSocket, WebSocketServer } from 'ws'
import { unreachable } from '../actors/kernel/assert.ts'
import { type FixtureId, type InstrumentId, instrumentId, type UserId } from '../actors/kernel/ids.ts'
import { PUBLISH_INTERVAL_MS } from '../actors/kernel/limits.ts'
import type { World } from '../actors/kernel/world.ts'
import { addressOf, admit, refuseUpgrade, type VerifyToken, type Visitor } from './admission.ts'
import {
  type FeedRequest,
  INSTRUMENTS_PER_SOCKET_MAX,
  parseRequest,
  type Rejection,
  type RejectionCode,
  SUBPROTOCOL,
} from './feed-protocol.ts'
import { FeedSocket } from './feed-socket.ts'
import { PriceBoard, type PublishedPrice, type Since, type Topic } from './price-board.ts'
import { asMessage, asSnapshot, FLAG, flagged } from './price-frame.ts'
import type { Report } from './report.ts'
import { Rounds } from './rounds.ts'
import { deadlineSocket, type WriteDeadline } from './write-deadline.ts'

const CONNECTIONS_MAX = 20_000
const MESSAGE_BYTES_MAX = 16 * 1024
/** Sockets written to in one turn of the event loop. */
const SLICE = 256
/** A socket is looked at this often; two looks without a write to it bring a heartbeat, four a ping. */
const ROUND_MS = 5_000
/** Matches that one subscription may wake; naming unknown instruments must not become a stream of queries. */
const LOOKUPS_PER_REQUEST_MAX = 8
/** What is no id is not looked up: a database would call that a fault. */
const UUID = /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/
/** Over which time clients are asked to come back after a restart. */
const RECONNECT_SPREAD_MS = 5_000

const CLOSE = { unauthorised: 4001, tooManyMessages: 4029, restart: 1012, full: 1013 } as const

/** A match that publishes through the feed. */
export interface PriceSource {
  readonly matchId: FixtureId
  readonly epoch: number
  /** How all its prices stand. */
  standingPrices(): readonly PublishedPrice[]
  /** What moved since the last call. */
  takePrices(): readonly PublishedPrice[]
}

export interface PriceFeedOptions {
  readonly verify: VerifyToken
  /** Sees to it that the match of an instrument is awake; false when there is none to wake. */
  readonly wake: (id: InstrumentId) => Promise<boolean>
  readonly deadline: WriteDeadline
  readonly world: World
  readonly report: Report
  /** Only tests have fewer. */
  readonly connectionsMax?: number
}

export class PriceFeed {
  readonly #options: PriceFeedOptions
  readonly #server: WebSocketServer
  readonly #board = new PriceBoard<FeedSocket>()
  readonly #sockets = new Set<FeedSocket>()
  readonly #rounds: Rounds<FeedSocket>
  /** Matches with moves to collect. */
  readonly #moved = new Set<PriceSource>()
  /** Sockets with something to be served. */
  readonly #due = new Set<FeedSocket>()
  #beat: 'idle' | 'beating' | 'resting' | 'stopped' = 'idle'
  #rest: NodeJS.Timeout | undefined
  #emptied: (() => void) | undefined

  constructor(options: PriceFeedOptions) {
    this.#options = options
    this.#server = new WebSocketServer({
      noServer: true,
      clientTracking: false,
      maxPayload: MESSAGE_BYTES_MAX,
      perMessageDeflate: false, // `asMessage` writes past it
      handleProtocols: (offered) => (offered.has(SUBPROTOCOL) ? SUBPROTOCOL : false),
      WebSocket: deadlineSocket(options.deadline),
    })
    this.#rounds = new Rounds(this.#sockets, ROUND_MS, (socket) => this.#lookAfter(socket))
  }

  get connections(): number {
    return this.#sockets.size
  }

  /** Answers an upgrade request: 401 without a valid token, 503 when that cannot be told or the feed is stopping. */
  async upgrade(request: IncomingMessage, head: Buffer): Promise<void> {
    const { socket } = request
    const abandon = (): void => void socket.destroy()
    socket.on('error', abandon) // nobody else listens until `ws` does
    try {
      const address = addressOf(request)
      if (address === null) return refuseUpgrade(socket, 400)
      const visitor = await admit(address, request.headers.authorization, this.#options.verify)
      if (visitor === null) return refuseUpgrade(socket, 401)
      if (this.#beat === 'stopped') return refuseUpgrade(socket, 503)
      socket.off('error', abandon)
      this.#server.handleUpgrade(request, socket, head, (ws) => this.#welcome(ws, socket, visitor))
    } catch (error) {
      this.#options.report('price feed: upgrade', error)
      refuseUpgrade(socket, 503)
    }
  }

  /** A match begins to publish. Who was subscribed to its players is told how they stand. */
  open(source: PriceSource): void {
    const prices = source.standingPrices()
    for (const topic of this.#board.open(source.matchId, source.epoch, prices)) this.#markDue(topic)
    this.#schedule()
  }

  /** A match has moved: its prices will be taken soon, together with those of others. */
  moved(source: PriceSource): void {
    this.#moved.add(source)
    this.#schedule()
  }

  /** A match stops publishing; its last moves are still delivered. */
  close(source: PriceSource): void {
    if (this.#moved.delete(source)) this.#collect(source)
    for (const socket of this.#due) socket.serve(this.#board.stamp)
    this.#board.close(source.matchId)
  }

  /** Closes every socket of a user: signed out, his token is void. */
  disconnectUser(userId: UserId): void {
    for (const socket of this.#sockets) {
      if (socket.userId === userId) socket.ws.close(CLOSE.unauthorised, 'signed out')
    }
  }

  /** Takes no more visitors and tells those it has when to come back, each at another time. */
  announceStop(): void {
    this.#beat = 'stopped'
    for (const socket of this.#sockets) {
      socket.say({ type: 'shutdown', reconnectInMs: this.#options.world.randomInt(RECONNECT_SPREAD_MS) })
    }
  }

  /** Closes every socket and leaves no timer; resolves when the last socket has answered. */
  async stop(): Promise<void> {
    this.#beat = 'stopped'
    clearTimeout(this.#rest)
    this.#rounds.stop()
    for (const socket of this.#sockets) socket.ws.close(CLOSE.restart, 'restart')
    if (this.#sockets.size > 0) await new Promise<void>((resolve) => (this.#emptied = resolve))
  }

  /** Cuts whoever has not answered. */
  terminate(): void {
    for (const socket of this.#sockets) socket.ws.terminate()
  }

  #welcome(ws: WebSocket, netSocket: Socket, { userId }: Visitor): void {
    const { deadline, connectionsMax = CONNECTIONS_MAX } = this.#options
    ws.on('error', () => undefined) // a 'close' follows, and nobody here is to blame
    if (this.#sockets.size >= connectionsMax) return ws.close(CLOSE.full, 'full')
    deadline.guard(ws, netSocket)
    const socket = new FeedSocket({ ws, socket: netSocket, userId, deadline, stamp: this.#board.stamp })
    this.#sockets.add(socket)
    ws.on('message', (data, isBinary) => this.#hear(socket, parseRequest(data, isBinary)))
    ws.on('pong', () => (socket.alive = true))
    ws.on('close', () => this.#forget(socket))
  }

  #forget(socket: FeedSocket): void {
    this.#sockets.delete(socket)
    this.#due.delete(socket)
    if (this.#sockets.size === 0) this.#emptied?.()
    for (const topic of socket.topics) this.#leave(socket, topic)
  }

  #leave(socket: FeedSocket, topic: Topic<FeedSocket>): void {
    socket.topics.delete(topic)
    topic.subscribers.delete(socket)
    this.#board.forget(topic)
  }

  #hear(socket: FeedSocket, request: FeedRequest | { readonly wrong: string }): void {
    socket.alive = true
    if (!socket.mayAsk(this.#options.world.now())) return socket.ws.close(CLOSE.tooManyMessages, 'too many messages')
    if ('wrong' in request) {
      return socket.say({ type: 'error', id: undefined, code: 'bad_message', message: request.wrong })
    }
    socket.queue = socket.queue
      .then(() => this.#answer(socket, request))
      .catch((error: unknown) => {
        this.#options.report('price feed: request', error)
        socket.say({ type: 'error', id: request.id, code: 'unavailable', message: 'please retry' })
      })
  }

  #answer(socket: FeedSocket, request: FeedRequest): Promise<void> | void {
    switch (request.type) {
      case 'subscribe':
        return this.#subscribe(socket, request)
      case 'unsubscribe': {
        const named = new Set(request.instrumentIds)
        for (const topic of socket.topics) if (named.has(topic.instrumentId)) this.#leave(socket, topic)
        return socket.say({ type: 'unsubscribed', id: request.id, instrumentIds: [...named] })
      }
      case 'ping':
        return socket.say({ type: 'pong', id: request.id, serverTime: this.#serverTime() })
      default:
        return unreachable(request)
    }
  }

  async #subscribe(socket: FeedSocket, request: Extract<FeedRequest, { type: 'subscribe' }>): Promise<void> {
    const wanted = new Set(request.instrumentIds.map((id) => instrumentId(id.toLowerCase())))
    await this.#wakeMatchesOf(wanted)
    if (!socket.isOpen) return
    const accepted: Topic<FeedSocket>[] = []
    const rejected: Rejection[] = []
    const reject = (id: InstrumentId, code: RejectionCode) => rejected.push({ instrumentId: id, code })
    // What he followed before is served up to now, so that nothing below is sent to him twice.
    socket.serve(this.#board.stamp)
    for (const id of wanted) {
      const topic = this.#board.topic(id)
      if (topic === undefined) reject(id, 'not_found')
      else if (!socket.topics.has(topic) && socket.topics.size >= INSTRUMENTS_PER_SOCKET_MAX) reject(id, 'limit')
      else {
        socket.topics.add(topic)
        topic.subscribers.add(socket)
        accepted.push(topic)
      }
    }
    const instrumentIds = accepted.map((topic) => topic.instrumentId)
    socket.say({ type: 'subscribed', id: request.id, instrumentIds, rejected })
    socket.write(accepted.flatMap((topic) => this.#catchUp(topic, request.since)))
  }

  async #wakeMatchesOf(wanted: ReadonlySet<InstrumentId>): Promise<void> {
    // A player who was listed a moment ago still waits for the next beat.
    if ([...wanted].some((id) => this.#board.topic(id) === undefined)) this.#collectAll()
    let lookups = 0
    for (const id of wanted) {
      // One lookup wakes the match, and thereby all its players; after a few that led nowhere the rest is not found.
      if (this.#board.topic(id) !== undefined || !UUID.test(id)) continue
      if (++lookups > LOOKUPS_PER_REQUEST_MAX) return
      await this.#options.wake(id)
    }
  }

  /** What a new subscriber of a topic must get: the moves he missed, or how it stands. */
  #catchUp(topic: Topic<FeedSocket>, since: Since | undefined): readonly Buffer[] {
    const { price } = topic
    if (price === null) return []
    const missed = since === undefined ? null : this.#board.missed(price, since)
    if (missed === null) return [asMessage(asSnapshot(price.frame))]
    return missed.map((move) => asMessage(flagged(move.frame, FLAG.replay)))
  }

  #lookAfter(socket: FeedSocket): void {
    if (++socket.quietRounds >= 2) socket.say({ type: 'heartbeat', serverTime: this.#serverTime() })
    if (++socket.rounds % 4 !== 0) return
    if (!socket.alive) return socket.ws.terminate()
    socket.alive = false
    socket.ws.ping()
  }

  // Publication: idle → beating (collect, then write in slices) → resting, and again while there is something to do.

  #schedule(): void {
    if (this.#beat !== 'idle') return
    this.#beat = 'beating'
    setImmediate(() => this.#beatOnce())
  }

  #beatOnce(): void {
    this.#collectAll()
    this.#writeSlice([...this.#due], 0)
  }

  #collectAll(): void {
    for (const source of this.#moved) this.#collect(source)
    this.#moved.clear()
  }

  #collect(source: PriceSource): void {
    try {
      for (const price of source.takePrices()) this.#markDue(this.#board.publish(price))
    } catch (error) {
      this.#options.report(`match ${source.matchId}: prices`, error)
    }
  }

  #markDue(topic: Topic<FeedSocket>): void {
    for (const socket of topic.subscribers) this.#due.add(socket)
  }

  #writeSlice(sockets: readonly FeedSocket[], from: number): void {
    if (this.#beat === 'stopped') return
    for (const socket of sockets.slice(from, from + SLICE)) {
      if (socket.serve(this.#board.stamp)) this.#due.delete(socket)
    }
    if (from + SLICE < sockets.length) setImmediate(() => this.#writeSlice(sockets, from + SLICE))
    else this.#takeRest()
  }

  #takeRest(): void {
    this.#beat = 'resting'
    // From the end of the last write, so that a slow beat makes the next one later, not the queue longer.
    this.#rest = setTimeout(() => {
      if (this.#beat !== 'resting') return
      this.#beat = 'idle'
      if (this.#moved.size > 0 || this.#due.size > 0) this.#schedule()
    }, PUBLISH_INTERVAL_MS)
  }

  #serverTime(): string {
    return new Date(this.#options.world.now()).toISOString()
  }
}
