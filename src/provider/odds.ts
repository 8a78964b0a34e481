/** Pre-match odds → the goals each side is expected to score, by the usual model: independent Poisson counts. */
import { exp, log } from '../../actors/kernel/exact-math.ts'
import type { FixtureSnapshot, Side } from '../../actors/market/fixture.ts'
import { resultOf } from '../../actors/market/match-result.ts'
import type { FixturePayload } from './payload.ts'

/** Decimal odds of a full-time result: what a stake of 1 pays. */
export interface ResultOdds {
  readonly home: number
  readonly draw: number
  readonly away: number
}

const ROUNDS = 12
/** Natural logarithms of the fewest and the most goals that a side is expected to score. */
const LEAST = log(0.1)
const MOST = log(6)
const START = log(1.35)
/** The step of the derivative, in the logarithm of a mean, and the error at which the search ends. */
const NUDGE = 1e-4
const EXACT = 1e-7

/** The provider's market of the result after 90 minutes. */
const FULL_TIME_RESULT = 1

/** The goals that the odds of the full-time result expect: the median of the bookmakers for each outcome. */
export function goalsByOdds({ odds }: Pick<FixturePayload, 'odds'>): FixtureSnapshot['expectedGoals'] {
  const median = (labels: readonly string[]): number | null => {
    const values = (odds ?? [])
      .filter((row) => row.market_id === FULL_TIME_RESULT && labels.includes(row.label?.toLowerCase() ?? ''))
      .flatMap(({ value }) => (value === null || value <= 1 ? [] : [value]))
      .toSorted((a, b) => a - b)
    return values[values.length >>> 1] ?? null
  }
  const [home, draw, away] = [median(['home', '1']), median(['draw', 'x']), median(['away', '2'])]
  return home === null || draw === null || away === null ? null : expectedGoals({ home, draw, away })
}

/**
 * The two means whose Poisson counts win and draw as often as the odds say, the bookmaker's margin taken out; found by
 * Newton's method on their logarithms. Null for odds that cannot be: not above 1, or with a margin below zero or above
 * a half.
 */
export function expectedGoals({ home, draw, away }: ResultOdds): Readonly<Record<Side, number>> | null {
  const inverse = [1 / home, 1 / draw, 1 / away] as const
  const book = inverse[0] + inverse[1] + inverse[2]
  if (![home, draw, away].every((odds) => odds > 1) || book < 1 || book > 1.5) return null
  const [wins, draws] = [inverse[0] / book, inverse[1] / book]
  const miss = (x: number, y: number): readonly [number, number] => {
    const result = resultOf(exp(x), exp(y))
    return [result.wins - wins, result.draws - draws]
  }
  let [x, y] = [START, START]
  for (let round = 0; round < ROUNDS; round += 1) {
    const [f, g] = miss(x, y)
    if (Math.abs(f) + Math.abs(g) < EXACT) break
    const slope = ([value, other]: readonly [number, number]) => [(value - f) / NUDGE, (other - g) / NUDGE] as const
    const [fx, gx] = slope(miss(x + NUDGE, y))
    const [fy, gy] = slope(miss(x, y + NUDGE))
    const determinant = fx * gy - fy * gx
    if (Math.abs(determinant) < 1e-9) break
    x = clamped(x - (f * gy - g * fy) / determinant)
    y = clamped(y - (g * fx - f * gx) / determinant)
  }
  return { home: rounded(exp(x)), away: rounded(exp(y)) }
}

const clamped = (value: number): number => Math.max(LEAST, Math.min(MOST, value))
const rounded = (goals: number): number => Math.round(goals * 1_000) / 1_000
