/**
 * The counts of a load run: counters, durations and a line a second, in a form that workers send and the run adds up.
 */
import { Histogram } from './histogram.ts'

export const DURATIONS = ['trade', 'tick', 'connect', 'return'] as const
export type Duration = (typeof DURATIONS)[number]

const COUNTS = [
  'opened',
  'changed',
  'closed',
  'prices',
  'states',
  'messages',
  'accountEvents',
  'connections',
  'returns',
  'gaps',
  'accountGaps',
  'damaged',
  'compared',
  'contradictions',
] as const
export type Count = (typeof COUNTS)[number]

export interface LoadTallyJson {
  readonly counts: Readonly<Record<Count, number>>
  readonly durations: Readonly<Record<Duration, ReturnType<Histogram['toJSON']>>>
  readonly errors: Readonly<Record<string, number>>
  readonly refusals: Readonly<Record<string, number>>
  readonly misses: readonly string[]
  readonly connected: number
}

/** Keep only this many missed items word for word. */
const MISSES_MAX = 5

export class LoadTally {
  readonly counts = noCounts()
  readonly durations = noDurations()
  /** Failures, by code. */
  readonly errors = new Map<string, number>()
  /** Refusals by the rules, by code. */
  readonly refusals = new Map<string, number>()
  /** The first gaps, to help find their cause. */
  readonly misses: string[] = []
  /** Sockets that are open now. */
  connected = 0

  fail(code: string): void {
    this.errors.set(code, (this.errors.get(code) ?? 0) + 1)
  }

  miss(count: 'gaps' | 'accountGaps' | 'contradictions', what: string): void {
    this.counts[count]++
    if (this.misses.length < MISSES_MAX) this.misses.push(what)
  }

  refuse(code: string): void {
    this.refusals.set(code, (this.refusals.get(code) ?? 0) + 1)
  }

  get trades(): number {
    return this.counts.opened + this.counts.changed + this.counts.closed
  }

  get failures(): number {
    return [...this.errors.values()].reduce((sum, n) => sum + n, 0)
  }

  /** Failures, and what was sent wrong. */
  get faults(): number {
    const { gaps, accountGaps, damaged, contradictions } = this.counts
    return this.failures + gaps + accountGaps + damaged + contradictions
  }

  /** Adds these counts, except the number of open sockets. */
  add(other: LoadTallyJson): void {
    for (const count of COUNTS) this.counts[count] += other.counts[count]
    for (const duration of DURATIONS) this.durations[duration].merge(other.durations[duration])
    for (const [code, n] of Object.entries(other.errors)) this.errors.set(code, (this.errors.get(code) ?? 0) + n)
    this.misses.push(...other.misses.slice(0, MISSES_MAX - this.misses.length))
    for (const [code, n] of Object.entries(other.refusals)) this.refusals.set(code, (this.refusals.get(code) ?? 0) + n)
  }

  /** Starts counting from zero; the number of open sockets stays. */
  empty(): void {
    Object.assign(this.counts, noCounts())
    Object.assign(this.durations, noDurations())
    this.errors.clear()
    this.refusals.clear()
    this.misses.length = 0
  }

  toJSON(): LoadTallyJson {
    const { trade, tick, connect, return: back } = this.durations
    return {
      counts: this.counts,
      durations: {
        trade: trade.toJSON(),
        tick: tick.toJSON(),
        connect: connect.toJSON(),
        return: back.toJSON(),
      },
      errors: Object.fromEntries(this.errors),
      refusals: Object.fromEntries(this.refusals),
      misses: this.misses,
      connected: this.connected,
    }
  }
}

const noCounts = (): Record<Count, number> => ({
  opened: 0,
  changed: 0,
  closed: 0,
  prices: 0,
  states: 0,
  messages: 0,
  accountEvents: 0,
  connections: 0,
  returns: 0,
  gaps: 0,
  accountGaps: 0,
  damaged: 0,
  compared: 0,
  contradictions: 0,
})

const noDurations = (): Record<Duration, Histogram> => ({
  trade: new Histogram(),
  tick: new Histogram(),
  connect: new Histogram(),
  return: new Histogram(),
})
