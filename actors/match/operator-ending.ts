/** How an operator ends a match the provider leaves open: with the update that the provider should have sent. */
import type { Instant } from '../kernel/world.ts'
import type { FixtureSnapshot } from '../market/fixture.ts'
import { VOIDED } from '../market/phase.ts'
import { beginSettlement, type FeedTerms, take } from './feed-updates.ts'
import type { Ending, EndMatch } from './messages.ts'
import type { Draft, MatchView } from './state.ts'

const STATE: Readonly<Record<Ending, string>> = { full_time: 'FINISHED', void: VOIDED }

/**
 * Begins the settlement, whatever the feed says next. The update has the next number of the feed at the moment of the
 * decision, so none can overtake it.
 * @returns false when the match is settling already, or settled.
 */
export function endMatch(draft: Draft, { ending }: EndMatch, terms: FeedTerms): boolean {
  if (draft.info.settling !== null) return false
  const snapshot = finalSnapshot(draft, ending, terms.at)
  take(draft, { seq: draft.info.feedSeq + 1, snapshot, beliefs: draft.pricing.beliefs }, terms)
  // What a provider says must be said twice, or comes to nothing before the kick-off. An operator means it.
  if (draft.info.settling === null && ending === 'void') beginSettlement(draft, ending, terms)
  return draft.info.settling !== null
}

/** The fixture as last known, ended now. It lists no players, so no price moves. */
function finalSnapshot(
  { info, pricing }: Pick<MatchView, 'info' | 'pricing'>,
  ending: Ending,
  now: Instant,
): FixtureSnapshot {
  return {
    fixtureId: info.matchId,
    name: info.name,
    league: info.league,
    startsAt: info.startsAt,
    state: STATE[ending],
    stateId: null,
    home: info.home,
    away: info.away,
    periods: stoppedClock(info.minute, pricing.clock),
    events: null,
    players: [],
    teamStats: null,
    expectedGoals: null,
    sourceAt: now,
  }
}

/** A stopped clock at the last known minute. */
function stoppedClock(minute: number | null, clock: MatchView['pricing']['clock']): FixtureSnapshot['periods'] {
  if (minute === null || clock === null) return []
  const { period, elapsedSecs } = clock
  const countsFrom = minute - Math.floor(elapsedSecs / 60)
  return [{ id: 0, kind: 'second_half', order: period, countsFrom, length: 45, elapsedSecs, ticking: false }]
}
