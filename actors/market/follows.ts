/** What a price holds of a player: what the list tells, what the statistics tell, and what usually follows. */
import type { PlayerRole, Side } from './fixture.ts'
import { type Counts, type DiscreteAction, FOLLOWED, type Rated, type ScoringModel } from './scoring.ts'
import { type Pitch, secsAfter, secsOn, type Spell, unevenMinutes, wasOn } from './spells.ts'
import type { Differences } from './stated-counts.ts'
import type { Tally } from './tally.ts'
import type { Standing } from './target.ts'

/** What an update says of a player. */
export interface Told {
  readonly role: PlayerRole
  readonly side: Side
  /** Points of the running statistics. */
  readonly volume: number
  readonly rated: Rated | null
  readonly tally: Tally
  readonly takenBack: Counts
  readonly differences: Differences
}

/** What the rest of the match says about it. */
export interface Around {
  /** The statistics of this match say anything at all. */
  readonly isStated: boolean
  /** Seconds of play that the running statistics of a side tell of. */
  readonly toldUntil: Readonly<Record<Side, number>>
  /** How many goals of a side the score has beyond the list. */
  readonly unlisted: Readonly<Record<Side, number>>
  /** When a side was first known to have conceded goals that the score and its keeper's statistics alone tell of. */
  readonly concededAt: Readonly<Record<Side, readonly number[]>>
  /** The chance that a goal stands which only the statistics show. */
  readonly standsUnlisted: number
  /** What the keepers of a side are owed: they alone are stated to have conceded. */
  readonly conceded: Readonly<Record<Side, { readonly owed: number; readonly takenBack: number }>>
  /** Penalties that a side has missed: all, and those of them that the statistics of their takers do not tell yet. */
  readonly missed: Readonly<Record<Side, { readonly all: number; readonly owed: number }>>
  /** Assists that only the statistics show: none where they are more than the goals of a side without one. */
  readonly assists: Readonly<Record<Side, number>>
}

const other = (side: Side): Side => (side === 'home' ? 'away' : 'home')

/** Where a player stands who has been on the pitch for these spells. */
export function standingFor(
  told: Told,
  around: Around,
  spells: readonly Spell[],
  men: Pitch['men'],
  model: ScoringModel,
): Standing {
  const { rating, statistics } = followersOf(told, around, model)
  const { rated, volume, side } = told
  return {
    counts: countsFor(told, around, spells, model),
    volume: volume + statistics,
    rating: rated === null ? null : { ...rated, value: rated.value + rating },
    minutes: secsOn(spells) / 60,
    untold: secsAfter(spells, around.toldUntil[side]) / 60,
    uneven: unevenMinutes(spells, side, men),
  }
}

/** Discrete actions: those of the list, and those that the statistics show first and the score confirms. */
function countsFor(
  { role, side, tally, differences }: Told,
  around: Around,
  spells: readonly Spell[],
  model: ScoringModel,
): Counts {
  const { isStated, unlisted, standsUnlisted, missed, assists } = around
  const sum: Partial<Record<DiscreteAction, number>> = { ...tally.weighed }
  const add = (action: DiscreteAction, by: number): void => {
    if (by > 0) sum[action] = (sum[action] ?? 0) + by
  }
  const { goal, penalty_goal, own_goal, conceded, assist, penalty_saved, ...others } = differences.ahead
  for (const [action, by] of Object.entries(others) as [DiscreteAction, number][]) add(action, by)
  const [own, theirs] = [unlisted[side], unlisted[other(side)]]
  add('goal', standsUnlisted * Math.min(goal ?? 0, own))
  add('penalty_goal', Math.min(penalty_goal ?? 0, own))
  add('assist', standsUnlisted * Math.min(assist ?? 0, 1, assists[side]))
  add('own_goal', Math.min(own_goal ?? 0, theirs))
  if (role !== 'GK') {
    add('conceded', standsUnlisted * around.concededAt[side].filter((at) => wasOn(spells, at)).length)
    return sum
  }
  add('conceded', standsUnlisted * Math.min(conceded ?? 0, theirs))
  const { all, owed } = missed[other(side)]
  add('penalty_saved', Math.min(penalty_saved ?? 0, all))
  if (isStated) add('penalty_saved', model.follows.saved * owed)
  return sum
}

/**
 * The rating and the points of running statistics that are still to come for what the list shows, less those that were
 * stated for what may not stand, or was taken back.
 */
function followersOf(
  { role, side, tally, differences, takenBack }: Told,
  { isStated, conceded, missed }: Around,
  { follows }: ScoringModel,
): { readonly rating: number; readonly statistics: number } {
  let [rating, statistics] = [0, 0]
  if (!isStated) return { rating, statistics }
  const doubt = (action: DiscreteAction): number => (tally.weighed[action] ?? 0) - (tally.listed[action] ?? 0)
  for (const action of FOLLOWED) {
    const saved = action === 'penalty_saved' && role === 'GK' ? follows.saved * missed[other(side)].owed : 0
    const coming = doubt(action) + (differences.owed[action] ?? 0) - (takenBack[action] ?? 0) + saved
    rating += coming * follows.rating[action]
    statistics += coming * follows.statistics[action]
  }
  const { owed, takenBack: back } = conceded[side]
  rating += (doubt('conceded') + Math.min(tally.fresh.conceded ?? 0, owed) - back) * follows.conceded[role]
  return { rating, statistics: statistics + (takenBack.goal ?? 0) * follows.annulled }
}
