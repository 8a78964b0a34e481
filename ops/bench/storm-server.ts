/**
 * The server of the storm benchmark, in a process of its own: the product's door and price feed. It
 * publishes the ticks of one match.
 */
import { generateKeyPairSync } from 'node:crypto'
import { createServer } from 'node:http'
import { present } from '../../actors/kernel/assert.ts'
import { fixtureId, sessionId, userId } from '../../actors/kernel/ids.ts'
import { MINUTE_MS } from '../../actors/kernel/world.ts'
import { Rates } from '../../db/rates.ts'
import { AccountStream } from '../../rooms/feed/account-stream.ts'
import { FanOut, type PriceSource } from '../../rooms/feed/fan-out.ts'
import { type PublishedPrice } from '../../rooms/feed/price-frame.ts'
import { PriceFeed } from '../../rooms/feed/price-feed.ts'
import { WakeLimiter } from '../../rooms/feed/wake-limiter.ts'
import { ConnectionLimit } from '../../rooms/sockets/connection-limit.ts'
import { Door } from '../../rooms/sockets/door.ts'
import { WriteDeadline } from '../../rooms/sockets/write-deadline.ts'
import { createTokens } from '../../src/auth/tokens.ts'
import { systemWorld } from '../../src/system-world.ts'
import { frameOf, idOf, listen } from './fanout-market.ts'
import type { StormCommand, StormOrder } from './storm-messages.ts'

interface StormServer {
  readonly port: number
  /** Where clients connect, in their order. */
  readonly paths: readonly string[]
  readonly publish: (prices: readonly PublishedPrice[]) => void
  /** Cuts the connections of all but the first `staying` clients. */
  readonly cut: (staying: number) => void
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
    paths,
    publish: (prices) => {
      moves.push(...prices)
      fanOut.moved(source)
    },
    cut: (staying) => {
      for (const connection of connections.splice(0).slice(staying)) connection.destroy()
    },
  }
}

function priceOf(n: number): PublishedPrice {
  return { matchId: fixtureId(1), instrumentId: idOf(0, n), epoch: 1, ...frameOf(0, n) }
}

let running: { readonly server: StormServer; readonly order: StormOrder } | null = null
let ticking: NodeJS.Timeout | undefined

async function obey(command: StormCommand): Promise<unknown> {
  if (command.kind === 'listen') {
    const server = await startFeed(command.order)
    running = { server, order: command.order }
    return { port: server.port, paths: server.paths }
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
