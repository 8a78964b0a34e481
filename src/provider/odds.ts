/** Pre-match odds → the goals each side is expected to score, by the usual model: independent Poisson counts. */
import type { Side } from '../../actors/market/fixture.ts'

/** Decimal odds of a full-time result: what a stake of 1 pays. */
export interface ResultOdds {
  readonly home: number
  readonly draw: number
  readonly away: number
}

const GOALS_MIN = 0.1
const GOALS_MAX = 6
const STEPS = 40
const COUNTS = 16

/**
 * The two means whose Poisson counts win, draw and lose as often as the odds say, the bookmaker's margin taken out. Null for
 * odds that cannot be: not above 1, or with a margin below zero or above a half.
 *
 * For each total the supremacy that gives the right balance of wins is found by bisection; among the totals the one with the
 * right part of draws, which fall as the total grows.
 */
export function expectedGoals({ home, draw, away }: ResultOdds): Readonly<Record<Side, number>> | null {
  const inverse = [home, draw, away].map((odds) => 1 / odds)
  const book = inverse.reduce((sum, p) => sum + p, 0)
  if (![home, draw, away].every((odds) => odds > 1) || book < 1 || book > 1.5) return null
  const [wins = 0, draws = 0, losses = 0] = inverse.map((p) => p / book)
  const bySupremacy = (total: number): Readonly<Record<Side, number>> => {
    const share = bisect(0.02, 0.98, (part) => {
      const result = resultOf(total * part, total * (1 - part))
      return result.wins - result.losses < wins - losses
    })
    return { home: total * share, away: total * (1 - share) }
  }
  const total = bisect(2 * GOALS_MIN, GOALS_MAX, (goals) => {
    const means = bySupremacy(goals)
    return resultOf(means.home, means.away).draws > draws
  })
  const { home: own, away: other } = bySupremacy(total)
  return { home: Math.max(GOALS_MIN, rounded(own)), away: Math.max(GOALS_MIN, rounded(other)) }
}

/** The point in [from, to] where `isBelow` turns false. */
function bisect(from: number, to: number, isBelow: (value: number) => boolean): number {
  let [low, high] = [from, to]
  for (let n = 0; n < STEPS; n += 1) {
    const middle = (low + high) / 2
    if (isBelow(middle)) low = middle
    else high = middle
  }
  return (low + high) / 2
}

/** How often a side that scores `own` on average wins, draws and loses against one that scores `other`. */
export function resultOf(own: number, other: number): { wins: number; draws: number; losses: number } {
  const [mine, theirs] = [poisson(own), poisson(other)]
  let [wins, draws, losses] = [0, 0, 0]
  for (const [i, p] of mine.entries()) {
    for (const [j, q] of theirs.entries()) {
      if (i > j) wins += p * q
      else if (i === j) draws += p * q
      else losses += p * q
    }
  }
  return { wins, draws, losses }
}

function poisson(mean: number): readonly number[] {
  let p = Math.exp(-mean)
  return Array.from({ length: COUNTS }, (_, n) => {
    if (n > 0) p *= mean / n
    return p
  })
}

const rounded = (goals: number): number => Math.round(goals * 1_000) / 1_000
