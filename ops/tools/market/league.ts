/** Simulated league matches: clubs of different strength, players worth what their skill is worth. */
import type { Side } from '../../../actors/market/fixture.ts'
import { chanceFrom } from '../../../actors/replay/chance.ts'
import type { Recording } from '../../../actors/replay/recording.ts'
import { RUN_STARTS_AT, recordedMatch as asRecorded } from '../../../src/match-run/recorded-match.ts'
import { anchorsOf, type MatchPlan, simulateMatch, simulateResult } from '../../replays/generator/match-sim.ts'
import type { Fixture } from './play.ts'
import { plotOf } from './plot.ts'

/** What home and away sides of a league score on average, and how clubs differ around it. */
const GOALS = { home: 1.46, away: 1.16, spread: 0.35 } as const
/** In this share of matches a goal is taken back. */
const ANNULLED = 0.3

/** A match of a season that this seed draws: the same seed, the same match. */
export function leagueMatch(seed: number): Fixture {
  const plan = leaguePlan(seed)
  return fixtureOf(simulateMatch(plan), anchorsOf(plan), `market/${seed}`)
}

/** Its last payload alone: all that the price at full time depends on. */
export function leagueResult(seed: number): Fixture {
  const plan = leaguePlan(seed)
  return fixtureOf([simulateResult(plan)], anchorsOf(plan), `market/${seed}`)
}

/** A recorded match, with the prices that it was recorded with. */
export const recordedMatch = ({ frames, anchors, name }: Recording): Fixture =>
  fixtureOf(frames, anchors, `market/${name}`)

/** The match that a seed draws, before it is played. */
export function leaguePlan(seed: number): MatchPlan {
  const chance = chanceFrom(seed + 7_000_000)
  // Near enough to normal: the sum of three uniform numbers.
  const normal = (): number => 2 * (chance.uniform() + chance.uniform() + chance.uniform() - 1.5)
  const expected = (mean: number): number => mean * Math.exp(GOALS.spread * normal())
  const goals: Record<Side, number> = { home: expected(GOALS.home), away: expected(GOALS.away) }
  const side: Side = chance.happens(0.5) ? 'home' : 'away'
  return {
    seed,
    fixtureId: 870_000 + (seed % 10_000),
    kickOff: RUN_STARTS_AT,
    league: 'Simulated League',
    home: { name: 'Home', shortCode: 'HOM', expectedGoals: goals.home },
    away: { name: 'Away', shortCode: 'AWA', expectedGoals: goals.away },
    moments: chance.happens(ANNULLED) ? [{ kind: 'goal_disallowed', minute: 15 + chance.below(60), side }] : [],
  }
}

function fixtureOf(frames: readonly unknown[], anchors: Recording['anchors'], namespace: string): Fixture {
  const match = asRecorded({ frames, anchors }, namespace)
  return { ...match, plot: plotOf(match.snapshots) }
}
