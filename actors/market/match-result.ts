/** The chances of a match's results from the expected goals of both sides: independent Poisson counts. */
import { exp } from '../kernel/exact-math.ts'

interface Result {
  readonly wins: number
  readonly draws: number
  readonly losses: number
}

/** Goals of one side are counted from 0 to 13; the chance of more is neglected. */
const COUNTS = 14

/** How often a side that scores `own` on average wins, draws and loses against one that scores `other`. */
export function resultOf(own: number, other: number): Result {
  const [mine, theirs] = [poisson(own), poisson(other)]
  let [wins, draws, below] = [0, 0, 0]
  for (const [n, p] of mine.entries()) {
    const level = theirs[n] ?? 0
    wins += p * below
    draws += p * level
    below += level
  }
  return { wins, draws, losses: Math.max(0, 1 - wins - draws) }
}

function poisson(mean: number): readonly number[] {
  let p = exp(-mean)
  return Array.from({ length: COUNTS }, (_, n) => {
    if (n > 0) p *= mean / n
    return p
  })
}
