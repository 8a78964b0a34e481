/** Where the model puts a price, from what a player has done and for how long. */
import { exp, tanh } from '../kernel/exact-math.ts'
import { type Price, price } from '../kernel/micros.ts'
import type { PlayerRole } from './fixture.ts'
import { type Counts, discretePoints, type Rated, ratingPoints, type ScoringModel } from './scoring.ts'

/** What the price of a player follows. */
export interface Standing {
  /** Discrete actions. */
  readonly counts: Counts
  /** Points of the running statistics. */
  readonly volume: number
  readonly rating: Rated | null
  /** On the pitch. */
  readonly minutes: number
  /** Those of them that the statistics do not tell of, because their provider has stopped. */
  readonly untold?: number
  /** Minutes on the pitch, each weighted with ln(men of the own side ÷ men of the other). */
  readonly uneven: number
}

/** A player, and the discrete points that are expected of them in 90 minutes. */
export interface Expectation {
  readonly role: PlayerRole
  readonly points: number
}

/** Prices are published with four decimals. */
const STEP_MICROS = 100

/** How far a player is ahead of what was expected, as a fraction of the start price. */
export function aheadBy(now: Standing, { role, points }: Expectation, model: ScoringModel): number {
  const par = (points * now.minutes + model.parBy.men[role] * now.uneven) / 90
  return (model.scale * (discretePoints(model, role, now.counts) - par + runningPoints(now, role, model))) / 100
}

/** Points of the running statistics and the rating beyond what is usual by now. */
function runningPoints(standing: Standing, role: PlayerRole, model: ScoringModel): number {
  const { volume, rating } = standing
  const minutes = toldMinutes(standing)
  const ahead = volume - (model.par[role] * minutes) / 90
  return model.volumeGain * ahead + ratingPoints(model, role, rating, minutes)
}

/** Minutes on the pitch that the statistics tell of. */
export const toldMinutes = ({ minutes, untold = 0 }: Standing): number => minutes - untold

/** What the base goes to: positive, and within e^±bound of the start. */
export const targetOf = (start: Price, x: number, { bound }: ScoringModel): number =>
  start * exp(bound * tanh(x / bound))

/** The base, one tick nearer to its target, at most `tickCap` away. */
export function nextBase(
  { start, base }: { readonly start: Price; readonly base: Price },
  x: number,
  model: ScoringModel,
): Price {
  const cap = start * model.tickCap
  const next = base + Math.max(-cap, Math.min(cap, targetOf(start, x, model) - base))
  return price(Math.round(next / STEP_MICROS) * STEP_MICROS)
}
