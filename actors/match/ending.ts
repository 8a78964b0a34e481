/** How an operator ends a match that does not end by itself: with the word that the provider would have said. */
import type { Instant } from '../kernel/world.ts'
import type { FixtureSnapshot } from '../market/fixture.ts'
import type { MatchView } from './state.ts'

/** Everybody is settled at the standing prices, or everybody gets his margin back. */
export type Ending = 'full_time' | 'void'

const STATE: Readonly<Record<Ending, string>> = { full_time: 'FINISHED', void: 'CANCELLED' }

/** The fixture as the match last knew it, over now. It says nothing about players, so no price moves. */
export function lastWord(
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
    periods: clockOf(info.minute, pricing.clock),
    events: null,
    players: [],
    teamStats: null,
    sourceAt: now,
  }
}

/** A clock that stands still where the match got to. */
function clockOf(minute: number | null, clock: MatchView['pricing']['clock']): FixtureSnapshot['periods'] {
  if (minute === null || clock === null) return []
  const { period, elapsedSecs } = clock
  const countsFrom = minute - Math.floor(elapsedSecs / 60)
  return [{ id: 0, kind: 'second_half', order: period, countsFrom, length: 45, elapsedSecs, ticking: false }]
}
