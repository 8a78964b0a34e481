/** Loads the record of a match. */
import { InvariantBroken } from '../../actors/kernel/assert.ts'
import type { FixtureId } from '../../actors/kernel/ids.ts'
import { Unreadable } from '../../actors/kernel/read.ts'
import { checkRecord } from '../../actors/match/quarantine.ts'
import type { MatchRecord } from '../../actors/match/store.ts'
import type { MatchContext } from './match-host.ts'

/**
 * The match as last committed, or null when it is unknown. One whose stored state cannot be read is quarantined: an
 * operator can still end it. Rejects with a fault of the database.
 */
export async function loadOrQuarantine(
  { store, quarantine, report }: Pick<MatchContext, 'store' | 'quarantine' | 'report'>,
  matchId: FixtureId,
): Promise<MatchRecord | null> {
  try {
    const record = await store.load(matchId)
    if (record !== null) checkRecord(record, matchId)
    return record
  } catch (error) {
    if (!(error instanceof Unreadable || error instanceof InvariantBroken)) throw error
    report('match_quarantined', error, { matchId })
    return quarantine(matchId, error.message)
  }
}
