/** Simulated league matches: clubs of different strength, players worth what their skill is worth. */
import { fixtureId, playerId } from '../../../actors/kernel/ids.ts'
import { ANCHOR_BY_ROLE } from '../../../actors/kernel/limits.ts'
import { microsNearest, price } from '../../../actors/kernel/micros.ts'
import { instant } from '../../../actors/kernel/world.ts'
import type { Side } from '../../../actors/market/fixture.ts'
import type { Instrument } from '../../../actors/market/instrument.ts'
import { chanceFrom } from '../../../actors/replay/chance.ts'
import { instrumentIdFor } from '../../../src/provider/snapshot.ts'
import { anchorsOf, type MatchPlan, simulateMatch } from '../../replays/generator/match-sim.ts'
import { type Fixture, snapshotsOf } from './play.ts'

export interface LeagueMatch {
  readonly fixture: Fixture
  /** Goals that each side is expected to score. */
  readonly goalsOf: Readonly<Record<Side, number>>
  readonly supremacyOf: (instrument: Instrument) => number
  readonly worthOf: (instrument: Instrument) => number
}

/** What home and away sides of a league score on average, and how clubs differ around it. */
const GOALS = { home: 1.46, away: 1.16, spread: 0.35 } as const
const KICK_OFF = instant(1_840_000_000_000)

/** A match of a season that this seed draws: the same seed, the same match. */
export function leagueMatch(seed: number): LeagueMatch {
  const chance = chanceFrom(seed + 7_000_000)
  // Near enough to normal: the sum of three uniform numbers.
  const normal = (): number => 2 * (chance.uniform() + chance.uniform() + chance.uniform() - 1.5)
  const expected = (mean: number): number => mean * Math.exp(GOALS.spread * normal())
  const goals: Record<Side, number> = { home: expected(GOALS.home), away: expected(GOALS.away) }
  const plan: MatchPlan = {
    seed,
    fixtureId: 870_000 + (seed % 10_000),
    kickOff: KICK_OFF,
    league: 'Simulated League',
    home: { name: 'Home', shortCode: 'HOM', expectedGoals: goals.home },
    away: { name: 'Away', shortCode: 'AWA', expectedGoals: goals.away },
  }
  const idOf = (player: number) => instrumentIdFor(`market/${seed}`, playerId(player))
  const anchors = Object.entries(anchorsOf(plan)).map(([player, units]) => {
    return [idOf(Number(player)), price(microsNearest(units))] as const
  })
  const histories = new Map(anchors.map(([id, anchor]) => [id, { last: null, anchor, heldBy: null }]))
  return {
    fixture: {
      id: fixtureId(plan.fixtureId),
      snapshots: snapshotsOf(simulateMatch(plan), (player) => idOf(player), KICK_OFF),
      histories,
    },
    goalsOf: goals,
    supremacyOf: ({ side }) => (side === 'home' ? goals.home - goals.away : goals.away - goals.home),
    worthOf: ({ start, role }) => start / ANCHOR_BY_ROLE[role],
  }
}
