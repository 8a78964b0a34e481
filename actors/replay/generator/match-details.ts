/** A simulated player's statistics as the provider lists them, with the rating it would give. */
import type { PlayerRole } from '../../market/fixture.ts'
import { type Game, playedSecs, STAT } from './match-state.ts'
import type { SimPlayer } from './squads.ts'

const RATING_AFTER_SECS = 600

/** The rows of a player who has been on the pitch: no zeros, and no rating in the first ten minutes. */
export function detailsOf(game: Game, p: SimPlayer): readonly unknown[] {
  const secs = (p.offAt ?? playedSecs(game)) - (p.onAt ?? 0)
  const rows = [...p.stats, [119, Math.min(120, Math.ceil(secs / 60))] as const].filter(([, value]) => value !== 0)
  const rated = secs >= RATING_AFTER_SECS ? [...rows, [118, ratingOf(p, secs / 60)] as const] : rows
  return rated
    .toSorted(([a], [b]) => a - b)
    .map(([type, value]) => ({ id: p.id * 100_000 + type, type_id: type, data: { value } }))
}

/** What an action adds to a rating, by type of statistic. */
export const RATING_WEIGHTS: readonly (readonly [number, number])[] = [
  [STAT.goals, 0.7],
  [STAT.assists, 0.5],
  [STAT.onTarget, 0.15],
  [STAT.offTarget, -0.03],
  [STAT.keyPasses, 0.12],
  [STAT.accuratePasses, 0.005],
  [STAT.dribbles, 0.06],
  [STAT.dispossessed, -0.05],
  [STAT.tackles, 0.06],
  [STAT.interceptions, 0.06],
  [STAT.clearances, 0.03],
  [STAT.blocks, 0.06],
  [STAT.saves, 0.16],
  [STAT.fouls, -0.06],
  [STAT.dribbledPast, -0.05],
  [STAT.conceded, -0.25],
  [STAT.yellow, -0.25],
  [STAT.secondYellow, -1],
  [STAT.red, -1.3],
  [STAT.ownGoals, -0.8],
  [STAT.penaltiesMissed, -0.6],
]

/** What an average player of the role earns in 90 minutes. It is subtracted to keep ratings near the provider's. */
const RATING_USUAL: Readonly<Record<PlayerRole, number>> = { GK: 0.05, DEF: 0.12, MID: 0.04, FWD: 0.12 }

function ratingOf(p: SimPlayer, minutes: number): number {
  const earned = RATING_WEIGHTS.reduce((sum, [type, weight]) => sum + weight * (p.stats.get(type) ?? 0), 6.3)
  const rating = Math.max(3, Math.min(10, earned - (RATING_USUAL[p.role] * minutes) / 90))
  return Math.round(rating * 100) / 100
}
