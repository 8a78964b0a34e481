/** What users see of a match apart from prices: its events, retracted ones included, and the squads. */
import type { FixtureEvent, FixturePlayer, FixtureSnapshot } from './fixture.ts'
import type { Incident } from './incidents.ts'

/** An in-game event as last reported. */
export interface ReportedEvent extends FixtureEvent {
  /** Reported, but no longer valid: a goal that VAR took back, a rescinded card. */
  readonly retracted: boolean
}

/**
 * The events of this snapshot, followed by cancelled ones that the provider no longer lists: a goal that was shown does
 * not silently vanish.
 */
export function reportEvents(
  { events }: Pick<FixtureSnapshot, 'events'>,
  before: readonly ReportedEvent[],
  incidents: readonly Incident[],
): readonly ReportedEvent[] {
  const cancelled = new Set(incidents.filter((i) => i.standing === 'cancelled').map((i) => i.id))
  const current = events?.map((event) => ({ ...event, retracted: event.rescinded || cancelled.has(event.id) }))
  if (current === undefined) return before
  const ids = new Set(current.map((event) => event.id))
  const gone = before.filter((event) => !ids.has(event.id) && cancelled.has(event.id))
  return [...current, ...gone.map((event) => ({ ...event, retracted: true }))]
}

/** The squads: the players of this snapshot, and those only known from earlier ones. */
export function reportSquad(
  { players }: Pick<FixtureSnapshot, 'players'>,
  before: readonly FixturePlayer[],
): readonly FixturePlayer[] {
  const known = new Map(before.map((player) => [player.playerId, player]))
  for (const player of players) {
    known.set(player.playerId, { ...player, details: player.details ?? known.get(player.playerId)?.details ?? null })
  }
  return [...known.values()]
}
