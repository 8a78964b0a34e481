/** Counts what a cluster asks of its database and its bus, a second at a time, and keeps the busiest second. */

/** A part of a run, by what happens in it. */
export type Phase = 'start' | 'calm' | 'faults' | 'half die' | 'bus away' | 'rolling restart'

export type Resource = 'statements' | 'messages'

export const PHASES: readonly Phase[] = ['start', 'calm', 'faults', 'half die', 'bus away', 'rolling restart']

/** How large a run is. */
export interface Size {
  readonly processes: number
  readonly matches: number
}

/**
 * The most that a process may ask for in a second. It asks something for each of its own matches and of the trades that
 * it carries out; every match that is placed asks something of every process, and is announced to every process.
 */
export const LIMITS: Readonly<Record<Resource, (phase: Phase, size: Size) => number>> = {
  statements: (phase, { processes, matches }) =>
    Math.round(20 + (4 * matches + 80) / processes + matches * STATEMENTS_PER_MATCH[phase]),
  messages: (_, { matches }) => 150 + 3 * matches,
}
const STATEMENTS_PER_MATCH: Readonly<Record<Phase, number>> = {
  start: 0.5,
  calm: 0.1,
  faults: 0.3,
  'half die': 0.05,
  'bus away': 0.1,
  'rolling restart': 0.1,
}

/** The busiest second of a phase. */
export interface Peak {
  /** Of one process. */
  process: number
  /** Of all together, by the number of processes. */
  mean: number
}

export class Load {
  readonly #peaks = new Map<string, Peak>()
  phase: Phase = 'start'
  readonly #now: () => number
  readonly #processes: () => number
  #second = 0
  #counts = new Map<object, Record<Resource, number>>()

  constructor(now: () => number, processes: () => number) {
    this.#now = now
    this.#processes = processes
  }

  count(resource: Resource, by: object): void {
    const second = Math.floor(this.#now() / 1_000)
    if (second !== this.#second) this.#close(second)
    let counts = this.#counts.get(by)
    if (counts === undefined) this.#counts.set(by, (counts = { statements: 0, messages: 0 }))
    counts[resource]++
  }

  /** From now on what is counted belongs to another phase. */
  enter(phase: Phase): void {
    this.#close(Math.floor(this.#now() / 1_000))
    this.phase = phase
  }

  peakOf(phase: Phase, resource: Resource): Peak {
    return this.#peaks.get(`${phase}: ${resource}`) ?? { process: 0, mean: 0 }
  }

  #close(next: number): void {
    for (const resource of ['statements', 'messages'] as const) {
      const counts = [...this.#counts.values()].map((each) => each[resource])
      const total = counts.reduce((sum, n) => sum + n, 0)
      const name = `${this.phase}: ${resource}`
      const peak = this.#peaks.get(name) ?? { process: 0, mean: 0 }
      peak.process = Math.max(peak.process, ...counts)
      peak.mean = Math.max(peak.mean, total / Math.max(1, this.#processes()))
      this.#peaks.set(name, peak)
    }
    this.#counts = new Map()
    this.#second = next
  }
}
