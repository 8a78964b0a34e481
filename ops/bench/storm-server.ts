/**
 * The server of the storm benchmark, in a process of its own: the product's door and price feed, plain sockets of `ws`,
 * or a Colyseus room with its own reconnection. All publish the same ticks of one match.
 */
import { generateKeyPairSync } from 'node:crypto'
import { createServer } from 'node:http'
import { type WebSocket, WebSocketServer } from 'ws'
import { present } from '../../actors/kernel/assert.ts'
import { fixtureId, sessionId, userId } from '../../actors/kernel/ids.ts'
import { MINUTE_MS } from '../../actors/kernel/world.ts'
import { Rates } from '../../db/rates.ts'
import { AccountStream } from '../../rooms/feed/account-stream.ts'
import { FanOut, type PriceSource } from '../../rooms/feed/fan-out.ts'
import { FLAG, flagged, type PublishedPrice, type Since } from '../../rooms/feed/price-frame.ts'
import { PriceFeed } from '../../rooms/feed/price-feed.ts'
import { WakeLimiter } from '../../rooms/feed/wake-limiter.ts'
import { ConnectionLimit } from '../../rooms/sockets/connection-limit.ts'
import { Door } from '../../rooms/sockets/door.ts'
import { WriteDeadline } from '../../rooms/sockets/write-deadline.ts'
import { createTokens } from '../../src/auth/tokens.ts'
import { systemWorld } from '../../src/system-world.ts'
import { frameOf, idOf, listen } from './fanout-market.ts'
import { startRoom } from './storm-colyseus.ts'
import type { Seats, StormCommand, StormOrder, StormVariant } from './storm-messages.ts'

/** One way to serve the match. */
export interface StormServer {
  readonly port: number
  /** Where clients connect, in their order. */
  readonly seats: Seats
  readonly publish: (prices: readonly PublishedPrice[]) => void
  /** Cuts the connections of all but the first `staying` clients. */
  readonly cut: (staying: number) => void
  /** Where the others come back, once all have been cut. */
  readonly returning: () => Seats
}

const NO_EVENTS = { marker: 0, more: false, isEmpty: true, body: { marker: '0', snapshot: false, events: [] } }

/** The product: its door, tokens, feed and fan-out. */
async function startFeed({ clients, instruments }: StormOrder): Promise<StormServer> {
  const world = systemWorld()
  const report = (event: string, error: unknown): void => void process.stderr.write(`${event}: ${String(error)}\n`)
  const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
  const keys = { privateKey, publicKey, keyId: 'bench', verifying: new Map([['bench', publicKey]]) }
  const tokens = createTokens({ keys, lifetimes: { accessSecs: 1, refreshSecs: 1, wsSecs: 3_600 }, world })
  const rates = new Rates((_shared, alone) => alone(), world)
  const isWithin = async (name: string, caller: string): Promise<boolean> =>
    (await rates.hit(name, caller, MINUTE_MS)).count <= Infinity
  const limits = {
    admitsAddress: () => isWithin('handshakes', '127.0.0.1'), // all come from one, which no limit would let through
    admitsUser: (user: string) => isWithin('handshakes-user', user),
  }
  const fanOut = new FanOut({ clock: world.steady, report })
  const door = new Door({ limits, clock: world.steady, report })
  const feed = new PriceFeed({
    verify: async (token) => {
      const claims = await tokens.verifyWs(token)
      return claims === null ? null : { userId: claims.userId, sessionId: claims.sid }
    },
    door,
    connectionLimit: new ConnectionLimit({ connectionsMax: 30_000 }),
    fanOut,
    account: new AccountStream({ read: async (asked) => asked.map(() => NO_EVENTS), report }),
    wake: async () => 'unknown',
    wakes: new WakeLimiter(world),
    deadline: new WriteDeadline(),
    world,
    report,
  })
  const moves: PublishedPrice[] = []
  const source: PriceSource = {
    matchId: fixtureId(1),
    epoch: 1,
    currentPrices: () => Array.from({ length: instruments }, (_, n) => priceOf(n)),
    takePrices: () => moves.splice(0),
  }
  fanOut.open(source)
  const server = createServer()
  const connections: { readonly destroy: () => void }[] = []
  server.on('connection', (socket) => connections.push(socket))
  server.on('upgrade', (request, _socket, head: Buffer) => {
    void door.admits(request).then((isIn) => (isIn ? feed.upgrade(request, head) : undefined))
  })
  const issue = (n: number): Promise<string> =>
    tokens.issueWs({ userId: userId(`user ${n}`), sid: sessionId(`session ${n}`) })
  const paths = (await Promise.all(Array.from({ length: clients }, (_, n) => issue(n)))).map((t) => `/?token=${t}`)
  return {
    port: await listen(server, 0),
    seats: { paths },
    publish: (prices) => {
      moves.push(...prices)
      fanOut.moved(source)
    },
    cut: (staying) => {
      for (const connection of connections.splice(0).slice(staying)) connection.destroy()
    },
    returning: () => ({ paths }),
  }
}

/** What one writes with `ws` in an afternoon: a message a price, and a history that each client is sent the rest of. */
async function startPlain({ clients, instruments }: StormOrder): Promise<StormServer> {
  const server = createServer()
  const sockets = new WebSocketServer({ server, perMessageDeflate: false })
  const history: PublishedPrice[] = []
  const newest = new Map(Array.from({ length: instruments }, (_, n) => [idOf(0, n) as string, priceOf(n)]))
  const arrived: WebSocket[] = []
  const followed = new Map<WebSocket, ReadonlySet<string>>()
  sockets.on('connection', (ws) => {
    arrived.push(ws)
    ws.on('close', () => followed.delete(ws))
    ws.on('error', () => undefined)
    ws.on('message', (data: Buffer) => {
      const message: { type: string; id?: number; instrumentIds: string[]; since?: Since } = JSON.parse(data.toString())
      if (message.type !== 'subscribe') return ws.send(JSON.stringify(NO_EVENTS.body))
      const { instrumentIds, since } = message
      followed.set(ws, new Set(instrumentIds))
      ws.send(JSON.stringify({ type: 'subscribed', id: message.id, instrumentIds, rejected: [] }))
      const ids = new Set(instrumentIds)
      const missed = history.filter((price) => since !== undefined && price.seq > since.seq)
      for (const { frame, instrumentId } of since === undefined ? newest.values() : missed) {
        if (ids.has(instrumentId)) ws.send(flagged(frame, since === undefined ? FLAG.snapshot : FLAG.replay))
      }
    })
  })
  const paths = Array.from({ length: clients }, () => '/')
  return {
    port: await listen(server, 0),
    seats: { paths },
    publish: (prices) => {
      history.push(...prices)
      for (const price of prices) {
        newest.set(price.instrumentId, price)
        for (const [ws, ids] of followed) if (ids.has(price.instrumentId)) ws.send(price.frame)
      }
    },
    cut: (staying) => {
      for (const ws of arrived.splice(0).slice(staying)) ws.terminate()
    },
    returning: () => ({ paths }),
  }
}

function priceOf(n: number): PublishedPrice {
  return { matchId: fixtureId(1), instrumentId: idOf(0, n), epoch: 1, ...frameOf(0, n) }
}

const START: Readonly<Record<StormVariant, (order: StormOrder) => Promise<StormServer>>> = {
  feed: startFeed,
  plain: startPlain,
  colyseus: startRoom,
}

let running: { readonly server: StormServer; readonly order: StormOrder } | null = null
let ticking: NodeJS.Timeout | undefined

async function obey(command: StormCommand): Promise<unknown> {
  if (command.kind === 'listen') {
    const server = await START[command.order.variant](command.order)
    running = { server, order: command.order }
    return { port: server.port, seats: server.seats }
  }
  const { server, order } = present(running, 'a server that listens')
  switch (command.kind) {
    case 'tick': {
      let tick = 0
      ticking = setInterval(() => {
        const first = tick++ * order.changing
        const moved = Array.from({ length: order.changing }, (_, n) => (first + n) % order.instruments)
        server.publish(moved.map(priceOf))
      }, 1_000 / order.hz)
      return null
    }
    case 'cut':
      server.cut(command.staying)
      return null
    case 'returning':
      return server.returning()
    case 'rest':
      clearInterval(ticking)
      return null
  }
}

process.once('disconnect', () => process.exit())
process.on('message', (command) => {
  obey(command as StormCommand).then(
    (answer) => process.send?.({ answer }),
    (error: unknown) => {
      process.stderr.write(`server: ${error instanceof Error ? error.stack : String(error)}\n`)
      process.exit(1)
    },
  )
})
