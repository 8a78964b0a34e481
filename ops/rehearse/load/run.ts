/** One measurement: workers run a plan against a server, and their counts are added up second by second. */
import { type ChildProcess, fork } from 'node:child_process'
import { join } from 'node:path'
import type { Share, WorkerMessage } from './worker.ts'
import type { Instrument } from './simulated-user.ts'
import { sharesOf } from './shares.ts'
import { LoadTally } from './tally.ts'

const WORKER = join(import.meta.dirname, './worker.ts')
export interface Plan {
  readonly url: string
  /** Access tokens, one per user. */
  readonly tokens: readonly string[]
  readonly instruments: readonly Instrument[]
  readonly sockets: number
  readonly seconds: number
  readonly tradesPerSecond: number
  /** Instruments per socket. */
  readonly follow: number
  /** Average seconds between disconnects of a socket; 0: never. */
  readonly dropEverySecs: number
  /** Whether the users come through a proxy, each from an address of their own. */
  readonly isProxied?: boolean
  /** The share of users who follow prices in the room of a match, by the SDK of Colyseus; none by default. */
  readonly rooms?: number
}

/** The counts of one second. */
export interface Second {
  readonly connected: number
  readonly prices: number
  readonly trades: number
  readonly errors: number
  /** Of what arrived in this second, in milliseconds. */
  readonly tickP99: number
  readonly tradeP99: number
}

export interface Measured {
  /** From the first connection on, without what was received in match rooms. */
  readonly tally: LoadTally
  /** What was received in match rooms. */
  readonly rooms: LoadTally
  /** From the moment when all sockets were open. */
  readonly seconds: readonly Second[]
  readonly connectingSecs: number
}

/** Runs the plan; calls `onSecond` while it runs. Rejects when a worker dies. */
export async function measure(plan: Plan, onSecond: (second: Second, isReady: boolean) => void): Promise<Measured> {
  const shares = sharesOf(plan)
  const [tally, rooms] = [new LoadTally(), new LoadTally()]
  const seconds: Second[] = []
  const connected = shares.map(() => 0)
  let latest = new LoadTally()
  let ready = 0
  let hasEnded = false
  const beganAt = performance.now()
  let readyAt = beganAt

  const ticking = setInterval(() => {
    const second = {
      connected: connected.reduce((sum, n) => sum + n, 0),
      prices: latest.counts.prices,
      trades: latest.trades,
      errors: latest.failures,
      tickP99: latest.durations.tick.percentile(99),
      tradeP99: latest.durations.trade.percentile(99),
    }
    latest = new LoadTally()
    const isReady = ready === shares.length
    if (isReady && !hasEnded) seconds.push(second)
    onSecond(second, isReady)
  }, 1_000)

  const workers = shares.map((share, n) => {
    const worker = fork(WORKER, { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] })
    return playing(worker, share, (message) => {
      if (message.kind === 'ready' && ++ready === shares.length) readyAt = performance.now()
      hasEnded ||= message.kind === 'played'
      if (message.kind !== 'seen') return
      connected[n] = message.tally.connected + message.rooms.connected
      tally.add(message.tally)
      rooms.add(message.rooms)
      latest.add(message.tally)
      latest.add(message.rooms)
    })
  })
  try {
    await Promise.all(workers)
  } finally {
    clearInterval(ticking)
  }
  return { tally, rooms, seconds, connectingSecs: (readyAt - beganAt) / 1_000 }
}

function playing(worker: ChildProcess, share: Share, onMessage: (message: WorkerMessage) => void): Promise<void> {
  return new Promise((resolve, reject) => {
    worker.on('message', (message: WorkerMessage) => {
      if (message.kind === 'here') worker.send(share)
      else if (message.kind === 'done') resolve()
      else onMessage(message)
    })
    worker.once('error', reject)
    worker.once('exit', (code) => reject(new Error(`a worker ended with ${code}`)))
  })
}
