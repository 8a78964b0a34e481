/** Simulated league matches: clubs of different strength, players worth what their skill is worth. */
import { price } from '../../../actors/kernel/micros.ts'
import { firstBelief } from '../../../actors/market/belief/believe.ts'
import type { PlayerRole } from '../../../actors/market/fixture.ts'
import { type Chance, chanceFrom } from '../../../actors/replay/chance.ts'
import { ANNULLED, leagueDraw, normal, REVIEW_WITHIN_SECS } from '../../../actors/replay/generator/league.ts'
import {
  anchorsOf,
  chancesFrom,
  type MatchPlan,
  simulateMatch,
  simulateResult,
} from '../../../actors/replay/generator/match-sim.ts'
import type { Recording } from '../../../actors/replay/recording.ts'
import { RUN_STARTS_AT, recordedMatch as asRecorded } from '../../../src/match-run/recorded-match.ts'
import type { Fixture } from './play.ts'
import { plotOf } from './plot.ts'

/** How far matches leave players from where they started, as a fraction, by role. */
const LAST_SPREAD: Readonly<Record<PlayerRole, number>> = { GK: 0.068, DEF: 0.045, MID: 0.043, FWD: 0.06 }

/** A match of a season that this seed draws: the same seed, the same match. */
export function leagueMatch(seed: number): Fixture {
  // Evenly, and not by chance: the few goals that are taken back decide what the others earn.
  const plan = leaguePlan(seed, Math.floor((seed + 1) * ANNULLED) > Math.floor(seed * ANNULLED))
  const fixture = fixtureOf(simulateMatch(plan), anchorsOf(plan), `market/${seed}`)
  return { ...fixture, histories: withLast(fixture, chanceFrom(seed + 8_000_000)) }
}

/** As if every player had played before: the last match has left them above or below what they are worth. */
function withLast({ snapshots, histories }: Fixture, chance: Chance): Fixture['histories'] {
  const roles = new Map(snapshots[0]?.players.map((p) => [p.instrumentId, p.role ?? 'MID'] as const))
  const rows = [...histories].map(([id, { anchor, ...rest }]) => {
    const gone = Math.exp(LAST_SPREAD[roles.get(id) ?? 'MID'] * normal(chance))
    return [id, { ...rest, anchor, last: anchor === null ? null : price(Math.round(anchor * gone)) }] as const
  })
  return new Map(rows)
}

/** Its last payload alone: all that the price at full time depends on. */
export function leagueResult(seed: number): Fixture {
  const plan = leaguePlan(seed)
  return fixtureOf([simulateResult(plan)], anchorsOf(plan), `market/${seed}`)
}

/** A recorded match, with the prices that it was recorded with. */
export const recordedMatch = ({ frames, anchors, name }: Recording): Fixture =>
  fixtureOf(frames, anchors, `market/${name}`)

/** The match that a seed draws, before it is played. Whether a goal is taken back is drawn too, unless it is said. */
export function leaguePlan(seed: number, isAnnulled?: boolean): MatchPlan {
  const reviewAfterSecs = 10 * (1 + (seed % (REVIEW_WITHIN_SECS / 10)))
  const { expectedGoals, ...drawn } = leagueDraw(chanceFrom(seed + 7_000_000), reviewAfterSecs, isAnnulled)
  return {
    ...drawn,
    chances: chancesFrom(seed),
    fixtureId: 870_000 + (seed % 10_000),
    kickOff: RUN_STARTS_AT,
    league: 'Simulated League',
    home: { name: 'Home', shortCode: 'HOM', expectedGoals: expectedGoals.home },
    away: { name: 'Away', shortCode: 'AWA', expectedGoals: expectedGoals.away },
  }
}

function fixtureOf(frames: readonly unknown[], anchors: Recording['anchors'], namespace: string): Fixture {
  const match = asRecorded({ frames, anchors }, namespace)
  const snapshots = match.snapshots.map(firstBelief)
  const plot = plotOf(snapshots)
  return { ...match, snapshots, plot, truth: plot }
}
