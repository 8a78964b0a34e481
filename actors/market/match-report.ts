/** What people are shown of a match besides prices: its events, those taken back included, and who plays. */
import type { FixtureEvent, FixturePlayer, FixtureSnapshot } from './fixture.ts'
import type { Incident } from './incidents.ts'

/** An in-game event as last reported. */
export interface ReportedEvent extends FixtureEvent {
  /** It was reported, and does not count any more: a goal that VAR took back, a card that was rescinded. */
  readonly retracted: boolean
}

/**
 * The events of this snapshot, and below them those that the provider has dropped since, as long as they are remembered
 * as taken back: a goal that was celebrated does not silently vanish.
 */
export function reportEvents(
  { events }: Pick<FixtureSnapshot, 'events'>,
  before: readonly ReportedEvent[],
  incidents: readonly Incident[],
): readonly ReportedEvent[] {
  const cancelled = new Set(incidents.filter((i) => i.standing === 'cancelled').map((i) => i.id))
  const told = events?.map((event) => ({ ...event, retracted: event.rescinded || cancelled.has(event.id) }))
  if (told === undefined) return before
  const here = new Set(told.map((event) => event.id))
  const gone = before.filter((event) => !here.has(event.id) && cancelled.has(event.id))
  return [...told, ...gone.map((event) => ({ ...event, retracted: true }))]
}

/** The players of this snapshot, with what was known of those it says nothing about. */
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
