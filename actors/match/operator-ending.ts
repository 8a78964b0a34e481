/** How an operator ends a match the provider leaves open: with the update that the provider should have sent. */
import type { Instant } from '../kernel/world.ts'
import type { FixtureSnapshot } from '../market/fixture.ts'
import type { MatchView } from './state.ts'

/** `full_time` settles all positions at current prices; `void` gives every margin back. */
export type Ending = 'full_time' | 'void'

const STATE: Readonly<Record<Ending, string>> = { full_time: 'FINISHED', void: 'CANCELLED' }

/** The fixture as last known, ended now. It lists no players, so no price moves. */
export function finalSnapshot(
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
