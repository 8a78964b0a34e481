/**
 * The server of the fan-out benchmark, in a process of its own: the product's price feed, or its baseline, plain
 * sockets; or a match room, or one of its baselines.
 */
import { createServer } from 'node:http'
import { createServer as createPlainServer, type Socket } from 'node:net'
import { performance } from 'node:perf_hooks'
import { present } from '../../actors/kernel/assert.ts'
import { fixtureId, sessionId, userId } from '../../actors/kernel/ids.ts'
import { AccountStream } from '../../rooms/feed/account-stream.ts'
import { FanOut, type PriceSource } from '../../rooms/feed/fan-out.ts'
import { PriceFeed } from '../../rooms/feed/price-feed.ts'
import { asMessage, type PublishedPrice } from '../../rooms/feed/price-frame.ts'
import { WakeLimiter } from '../../rooms/feed/wake-limiter.ts'
import { ConnectionLimit } from '../../rooms/sockets/connection-limit.ts'
import { Door } from '../../rooms/sockets/door.ts'
import { WriteDeadline } from '../../rooms/sockets/write-deadline.ts'
import { systemWorld } from '../../src/system-world.ts'
import {
  type Beat,
  frameOf,
  idOf,
  listen,
  type Publisher,
  type ServerCommand,
  type ServerOrder,
  type ServerReport,
  type Variant,
} from './fanout-market.ts'
import { startMatchRoom, startStateView, startStateViewAndMessages } from './fanout-rooms.ts'

/** The product's bytes, written to plain sockets one frame at a time: Node's best without joining frames. */
async function startFloor({ matches, instruments, follow, port }: ServerOrder): Promise<Publisher> {
  const followers = Array.from({ length: matches * instruments }, () => new Set<Socket>())
  let arrived = 0
  const server = createPlainServer({ noDelay: true }, (socket) => {
    const match = arrived % matches
    const first = Math.floor(arrived++ / matches)
    socket.on('error', () => undefined)
    for (let n = 0; n < follow; n++) followers[match * instruments + ((first + n) % instruments)]?.add(socket)
  })
  return {
    port: await listen(server, port),
    publish: (match, moved) => {
      // All of a tick is decided before any of it is written, as in a match.
      const messages = moved.map((n) => ({ n, message: asMessage(frameOf(match, n).frame) }))
      for (const { n, message } of messages) {
        for (const socket of followers[match * instruments + n] ?? []) socket.write(message)
      }
    },
  }
}

async function startFeed({ matches, instruments, port }: ServerOrder): Promise<Publisher> {
  const world = systemWorld()
  const report = (event: string, error: unknown): void => void process.stderr.write(`${event}: ${String(error)}\n`)
  const fanOut = new FanOut({ clock: world.steady, report })
  const feed = new PriceFeed({
    verify: async (token) => ({ userId: userId(token), sessionId: sessionId(token) }),
    door: new Door({
      limits: { admitsAddress: async () => true, admitsUser: async () => true },
      clock: world.steady,
      report,
    }),
    connectionLimit: new ConnectionLimit({ connectionsMax: 30_000, perUserMax: 30_000 }),
    fanOut,
    account: new AccountStream({ read: async (asked) => asked.map(() => null), report }),
    wake: async () => 'unknown',
    wakes: new WakeLimiter(world),
    deadline: new WriteDeadline(),
    world,
    report,
  })
  const moves = Array.from({ length: matches }, () => new Map<number, PublishedPrice>())
  const priceOf = (match: number, n: number): PublishedPrice => {
    return { matchId: fixtureId(match + 1), instrumentId: idOf(match, n), epoch: 1, ...frameOf(match, n) }
  }
  const sources = moves.map((moved, match): PriceSource => ({
    matchId: fixtureId(match + 1),
    epoch: 1,
    currentPrices: () => Array.from({ length: instruments }, (_, n) => priceOf(match, n)),
    takePrices: () => {
      const prices = [...moved.values()]
      moved.clear()
      return prices
    },
  }))
  for (const source of sources) fanOut.open(source)
  const server = createServer()
  server.on('upgrade', (request, _socket, head: Buffer) => void feed.upgrade(request, head))
  return {
    port: await listen(server, port),
    publish: (match, moved) => {
      for (const n of moved) moves[match]?.set(n, priceOf(match, n))
      fanOut.moved(present(sources[match], 'source'))
    },
  }
}

const START: Readonly<Record<Variant, (order: ServerOrder) => Promise<Publisher>>> = {
  floor: startFloor,
  feed: startFeed,
  room: startMatchRoom,
  view: startStateView,
  messages: startStateViewAndMessages,
}

async function play(publisher: Publisher, order: ServerOrder, beat: Beat): Promise<ServerReport> {
  const turns: number[] = []
  const watch = (forMs: number): void => {
    // Processor time, not wall time, between two turns: on a busy machine the clock also counts other processes.
    let last = process.threadCpuUsage()
    const until = performance.now() + forMs
    const look = (): void => {
      const { user, system } = process.threadCpuUsage(last)
      last = process.threadCpuUsage()
      const tookMs = (user + system) / 1_000
      if (tookMs > IDLE_MS) turns.push(tookMs)
      if (performance.now() < until) setImmediate(look)
    }
    setImmediate(look)
  }
  const before = process.cpuUsage()
  const beganAt = performance.now()
  let ticks = 0
  await new Promise<void>((resolve) => {
    const timer = setInterval(() => {
      const tick = ticks++
      const moved = Array.from({ length: beat.changing }, (_, n) => (tick * beat.changing + n) % order.instruments)
      publisher.publish(tick % order.matches, moved)
      if (isWatching) watch(Math.min(80, 800 / beat.hz))
      if (performance.now() - beganAt < beat.seconds * 1_000) return
      clearInterval(timer)
      resolve()
    }, 1_000 / beat.hz)
  })
  await new Promise((resolve) => setTimeout(resolve, 400)) // pending writes belong to the measurement
  const { user, system } = process.cpuUsage(before)
  turns.sort((a, b) => a - b)
  return {
    cpuMs: (user + system) / 1_000,
    ticks,
    turnP99: turns[Math.floor(turns.length * 0.99)] ?? 0,
  }
}

/** A turn without work. */
const IDLE_MS = 0.1
/** Watching turns takes time itself, so it is off when processor time is compared. */
const isWatching = process.argv.includes('--watch')

let running: { readonly publisher: Publisher; readonly order: ServerOrder } | null = null

async function obey(command: ServerCommand): Promise<unknown> {
  if (command.kind === 'listen') {
    running = { publisher: await START[command.order.variant](command.order), order: command.order }
    return running.publisher.port
  }
  if (command.kind === 'play') {
    const { publisher, order } = present(running, 'a server that listens')
    return play(publisher, order, command.beat)
  }
  // An idle process collects in time. Without this the random size of the nursery would count.
  for (let n = 0; n < 4; n++) globalThis.gc?.({ type: 'major', execution: 'sync', flavor: 'last-resort' })
  return process.memoryUsage.rss()
}

process.once('disconnect', () => process.exit())
process.on('message', (command) => {
  obey(command as ServerCommand).then(
    (answer) => process.send?.({ answer }),
    (error: unknown) => {
      process.stderr.write(`server: ${error instanceof Error ? error.stack : String(error)}\n`)
      process.exit(1)
    },
  )
})
