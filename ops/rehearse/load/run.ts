/** One measurement: crews play a plan against a server, and what they see is added up second by second. */
import { type ChildProcess, fork } from 'node:child_process'
import { join } from 'node:path'
import type { CrewMessage, Share } from './crew.ts'
import type { Instrument } from './player.ts'
import { Tally } from './tally.ts'

const CREW = join(import.meta.dirname, './crew.ts')
/** A process may have 20,000 descriptors. */
const SOCKETS_PER_CREW = 9_000

export interface Plan {
  readonly url: string
  readonly tokens: readonly string[]
  readonly instruments: readonly Instrument[]
  readonly sockets: number
  readonly seconds: number
  readonly tradesPerSecond: number
  readonly follow: number
  readonly dropEverySecs: number
}

/** What was seen in one second. */
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
  /** Everything from the first connection on. */
  readonly tally: Tally
  /** From the moment when all sockets were open. */
  readonly seconds: readonly Second[]
  readonly connectingSecs: number
}

/** Plays the plan; calls `onSecond` while it runs. Rejects when a crew dies. */
export async function measure(plan: Plan, onSecond: (second: Second, isReady: boolean) => void): Promise<Measured> {
  const shares = sharesOf(plan)
  const tally = new Tally()
  const seconds: Second[] = []
  const connected = shares.map(() => 0)
  let latest = new Tally()
  let ready = 0
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
    latest = new Tally()
    const isReady = ready === shares.length
    if (isReady) seconds.push(second)
    onSecond(second, isReady)
  }, 1_000)

  const crews = shares.map((share, n) => {
    const crew = fork(CREW, { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] })
    return playing(crew, share, (message) => {
      if (message.kind === 'ready' && ++ready === shares.length) readyAt = performance.now()
      if (message.kind !== 'seen') return
      connected[n] = message.tally.connected
      tally.add(message.tally)
      latest.add(message.tally)
    })
  })
  try {
    await Promise.all(crews)
  } finally {
    clearInterval(ticking)
  }
  return { tally, seconds, connectingSecs: (readyAt - beganAt) / 1_000 }
}

function playing(crew: ChildProcess, share: Share, onMessage: (message: CrewMessage) => void): Promise<void> {
  return new Promise((resolve, reject) => {
    crew.on('message', (message: CrewMessage) => {
      if (message.kind === 'here') crew.send(share)
      else if (message.kind === 'done') resolve()
      else onMessage(message)
    })
    crew.once('error', reject)
    crew.once('exit', (code) => reject(new Error(`a crew ended with ${code}`)))
  })
}

/** Players and their sockets, dealt out evenly. */
function sharesOf(plan: Plan): Share[] {
  const crews = Math.max(1, Math.ceil(plan.sockets / SOCKETS_PER_CREW))
  const sockets = plan.tokens.map((_, n) =>
    Math.floor((plan.sockets + plan.tokens.length - 1 - n) / plan.tokens.length),
  )
  return Array.from({ length: crews }, (_, crew) => {
    const mine = <T>(of: readonly T[]): T[] => of.filter((_one, n) => n % crews === crew)
    return {
      ...plan,
      tokens: mine(plan.tokens),
      sockets: mine(sockets),
      tradesPerSecond: plan.tradesPerSecond / crews,
    }
  })
}
