/** A price as the steps that a chart draws: one a second, each with the tick that made most of it. */

type Cause = 'listing' | 'match' | 'event' | 'trade' | 'settlement' | 'rules'

interface Tick {
  readonly at: string
  readonly price: number
  readonly cause: Cause
  readonly eventId: number | null
}

export interface Step<T extends Tick> {
  /** Seconds since 1970. */
  readonly time: number
  /** Why: of several ticks, the one of an event or of a new match, else the largest. */
  readonly tick: T
  /** Null where the price before is not known, and where another match begins. */
  readonly changePct: number | null
  readonly isNewMatch: boolean
}

export const secondOf = (at: number): number => Math.floor(at / 1_000)

/** The steps of a history, oldest first. */
export function stepsOf<T extends Tick>(ticks: readonly T[]): readonly Step<T>[] {
  const steps: Step<T>[] = []
  let before: number | null = null
  /** The step before ended a match. */
  let isOver = false
  for (const [time, within] of Map.groupBy(ticks, ({ at }) => secondOf(Date.parse(at)))) {
    let from: number = before ?? within[0]?.price ?? 0
    let [chosen, most] = [within[0], -1]
    for (const tick of within) {
      const weight = tick.cause === 'listing' ? Infinity : tick.eventId === null ? 0 : 1e9
      const size = Math.abs(tick.price - from) + weight
      if (size > most) [chosen, most] = [tick, size]
      from = tick.price
    }
    if (chosen === undefined) continue
    const isNewMatch = chosen.cause === 'listing' || isOver
    isOver = within.at(-1)?.cause === 'settlement'
    const changePct = before === null || isNewMatch ? null : (from / before - 1) * 100
    steps.push({ time, tick: chosen, changePct, isNewMatch })
    before = from
  }
  return steps
}

/** The step that stands at a time: the last that is not later. */
export const stepAt = <T extends Tick>(steps: readonly Step<T>[], time: number): Step<T> | null =>
  steps.findLast((step) => step.time <= time) ?? null
