/**
 * A match whose stored state cannot be read: it keeps its positions, takes neither orders nor updates, and waits for an
 * operator to end it. All it needs for that are its players and positions, none of the documents that cannot be read.
 */
import { assert } from '../kernel/assert.ts'
import type { FixtureId, InstrumentId } from '../kernel/ids.ts'
import { lots } from '../kernel/micros.ts'
import type { Instant } from '../kernel/world.ts'
import type { Instrument } from '../market/instrument.ts'
import type { Phase } from '../market/phase.ts'
import { EMPTY_PRICING } from '../market/pricing.ts'
import { exposureOf, type Position } from '../position/position.ts'
import { checkAll } from './invariants.ts'
import type { MatchInfo } from './messages.ts'
import { rescueMatchInfo } from './read-match-info.ts'
import { MatchState, UNPLAYED } from './state.ts'
import type { MatchRecord } from './store.ts'

/** What is known of a match without its documents. */
export interface KnownMatch {
  readonly matchId: FixtureId
  readonly replay: boolean
  readonly startsAt: Instant
  readonly settledAt: Instant | null
  readonly phase: Phase
}

/** The description of a match as far as it can be read. One that is not settled is shown as suspended. */
export function rescuedInfo(info: unknown, known: KnownMatch, reason: string): MatchInfo {
  const { phase, ...rest } = known
  const rescued = rescueMatchInfo(info, { ...BLANK, ...known, name: `Match ${known.matchId}` })
  return { ...rescued, ...rest, phase: known.settledAt === null ? 'frozen' : phase, quarantine: reason }
}

/**
 * The record of a quarantined match. Its prices stay at the last ones that were stored, also where the imbalances are
 * not those of its positions.
 */
export function quarantined(
  info: MatchInfo,
  instruments: readonly Instrument[],
  openPositions: readonly Position[],
): MatchRecord {
  const exposures = new Map<InstrumentId, number>()
  for (const one of openPositions) {
    exposures.set(one.instrumentId, (exposures.get(one.instrumentId) ?? 0) + exposureOf(one))
  }
  const sound = instruments.map((one) => {
    const imbalance = lots(exposures.get(one.id) ?? 0)
    if (imbalance === one.imbalance) return one
    return { ...one, imbalance, leavingFrom: null, endedImbalance: one.endedImbalance ?? one.imbalance }
  })
  return { info, pricing: EMPTY_PRICING, instruments: sound, openPositions }
}

/** Throws InvariantBroken when a record contradicts itself: it is no better than one that cannot be read. */
export function checkRecord(record: MatchRecord, matchId: FixtureId): void {
  assert(record.info.matchId === matchId, `match ${matchId} is stored as match ${record.info.matchId}`)
  checkAll(new MatchState(record))
}

const BLANK = {
  league: '',
  state: null,
  stateId: null,
  minute: null,
  home: { id: 0, name: 'Home', goals: null },
  away: { id: 0, name: 'Away', goals: null },
  purse: 'main',
  ...UNPLAYED,
} as const
