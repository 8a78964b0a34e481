/** Simulated league matches: clubs of different strength, players worth what their skill is worth. */
import { fixtureId, type InstrumentId, playerId, type PlayerId } from '../../../actors/kernel/ids.ts'
import { microsNearest, price } from '../../../actors/kernel/micros.ts'
import { instant } from '../../../actors/kernel/world.ts'
import type { Side } from '../../../actors/market/fixture.ts'
import { chanceFrom } from '../../../actors/replay/chance.ts'
import type { Recording } from '../../../actors/replay/recording.ts'
import { instrumentIdFor, parseFixture } from '../../../src/provider/snapshot.ts'
import { anchorsOf, type MatchPlan, simulateMatch, simulateResult } from '../../replays/generator/match-sim.ts'
import type { Fixture } from './play.ts'
import { plotOf } from './plot.ts'
import { UPDATE_MS } from './strategy.ts'

/** What home and away sides of a league score on average, and how clubs differ around it. */
const GOALS = { home: 1.46, away: 1.16, spread: 0.35 } as const
const KICK_OFF = instant(1_840_000_000_000)
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
    kickOff: KICK_OFF,
    league: 'Simulated League',
    home: { name: 'Home', shortCode: 'HOM', expectedGoals: goals.home },
    away: { name: 'Away', shortCode: 'AWA', expectedGoals: goals.away },
    moments: chance.happens(ANNULLED) ? [{ kind: 'goal_disallowed', minute: 15 + chance.below(60), side }] : [],
  }
}

function fixtureOf(
  payloads: readonly unknown[],
  anchorByPlayer: Readonly<Record<string, number>>,
  namespace: string,
): Fixture {
  const ids = new Map<PlayerId, InstrumentId>()
  const idOf = (player: PlayerId): InstrumentId => {
    const id = ids.get(player) ?? instrumentIdFor(namespace, player)
    ids.set(player, id)
    return id
  }
  // A payload that makes no sense is left out, as it is in a live match.
  const snapshots = payloads.flatMap((payload, index) => {
    const receivedAt = instant(KICK_OFF + index * UPDATE_MS)
    const parsed = parseFixture(payload, { instrumentIdOf: idOf, receivedAt })
    return parsed.ok ? [parsed.snapshot] : []
  })
  const histories = Object.entries(anchorByPlayer).map(([player, units]) => {
    const anchor = price(microsNearest(units))
    return [idOf(playerId(Number(player))), { last: null, anchor, past: null, heldBy: null }] as const
  })
  const id = snapshots[0]?.fixtureId ?? fixtureId(1)
  return { id, snapshots, plot: plotOf(snapshots), histories: new Map(histories) }
}
