/** What matches of a league are like: clubs of different strength, goals that are reviewed or taken back. */
import { exp } from '../../kernel/exact-math.ts'
import type { Side } from '../../market/fixture.ts'
import type { Chance } from '../chance.ts'
import type { MatchPlan } from './match-sim.ts'

/** What home and away sides of a league score on average, and how clubs differ around it. */
const GOALS = { home: 1.46, away: 1.16, spread: 0.35 } as const
/** In this share of matches a goal is taken back; of the others this share is reviewed and stands. */
export const ANNULLED = 0.3
const REVIEWED = 0.13
/** A review begins within this many seconds. */
export const REVIEW_WITHIN_SECS = 60

interface LeagueDraw extends Pick<MatchPlan, 'moments' | 'reviews'> {
  readonly expectedGoals: Readonly<Record<Side, number>>
}

/**
 * Draws what sets one match of a league apart from another, before it is played; also whether a goal is taken back,
 * unless that is said.
 */
export function leagueDraw(chance: Chance, reviewAfterSecs: number, isAnnulled?: boolean): LeagueDraw {
  const expected = (mean: number): number => mean * exp(GOALS.spread * normal(chance))
  const expectedGoals = { home: expected(GOALS.home), away: expected(GOALS.away) }
  const side: Side = chance.happens(0.5) ? 'home' : 'away'
  const isDrawn = chance.happens(ANNULLED)
  return {
    expectedGoals,
    moments:
      (isAnnulled ?? isDrawn)
        ? [{ kind: 'goal_disallowed', minute: 15 + chance.below(60), side, reviewAfterSecs }]
        : [],
    reviews: { share: REVIEWED, withinSecs: REVIEW_WITHIN_SECS },
  }
}

/** Near enough to normal: the sum of three uniform numbers. */
export const normal = (chance: Chance): number => 2 * (chance.uniform() + chance.uniform() + chance.uniform() - 1.5)
