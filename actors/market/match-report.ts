/** What users see of a match apart from prices: its events, retracted ones included. */
import type { PlayerId } from '../kernel/ids.ts'
import { family, isSame } from './belief/rows.ts'
import type { FixtureEvent, FixtureSnapshot } from './fixture.ts'
import { counts, type Incident, isGoal, near } from './incidents.ts'
import type { Pitch } from './spells.ts'

/** An in-game event as last reported. */
export interface ReportedEvent extends FixtureEvent {
  /** Reported, but no longer valid: a goal that VAR took back, a rescinded card. */
  readonly retracted: boolean
}

/**
 * The events of this snapshot, one row for each fact, followed by those that the provider no longer lists: what still
 * counts, and what was taken back. A goal that was shown does not silently vanish, and a substitution names first who
 * came on, however the provider tells it.
 */
export function reportEvents(
  { events, players }: Pick<FixtureSnapshot, 'events' | 'players'>,
  before: readonly ReportedEvent[],
  incidents: readonly Incident[],
  changes: Pitch['changes'],
): readonly ReportedEvent[] {
  const shown = new Set<Incident>()
  const reported = (event: FixtureEvent, incident: Incident): ReportedEvent => {
    shown.add(incident)
    const { minute, extraMinute, period, standing } = incident
    const { on: playerId, off: relatedPlayerId } = changes.get(incident) ?? {
      on: incident.playerId,
      off: incident.relatedPlayerId,
    }
    const last = before.find(({ id }) => id === event.id)
    const nameOf = (id: PlayerId | null): string | null =>
      namesIn(event).get(id) ??
      (last && id !== null ? namesIn(last).get(id) : null) ??
      players.find(({ playerId: listed }) => listed === id)?.name ??
      null
    return {
      ...event,
      minute,
      extraMinute,
      period,
      playerId,
      playerName: nameOf(playerId),
      relatedPlayerId,
      relatedPlayerName: nameOf(relatedPlayerId),
      retracted: event.rescinded || standing === 'cancelled',
    }
  }
  const current = (events ?? []).flatMap((event): ReportedEvent[] => {
    const incident = incidents.find((one) => isAbout(one, event))
    if (incident === undefined) return isTold(event, incidents) ? [] : [{ ...event, retracted: event.rescinded }]
    return isRepeated(incident, incidents, before) ? [] : [reported(event, incident)]
  })
  const listed = new Set(events?.map(({ id }) => id))
  const gone = incidents.flatMap((incident): ReportedEvent[] => {
    const event = shown.has(incident) || listed.has(incident.id) ? undefined : before.find((e) => isAbout(incident, e))
    return event === undefined ? [] : [reported(event, incident)]
  })
  const others =
    events === null ? before.filter((event) => !incidents.some((incident) => isAbout(incident, event))) : []
  return [...current, ...others, ...gone]
}

const namesIn = (event: FixtureEvent): ReadonlyMap<PlayerId | null, string | null> =>
  new Map([
    [event.relatedPlayerId, event.relatedPlayerName],
    [event.playerId, event.playerName],
  ])

/** Whether a row is the one that a fact is remembered by. */
const isAbout = (incident: Incident, event: FixtureEvent): boolean =>
  incident.id === event.id &&
  family(incident.kind) === family(event.kind) &&
  (event.playerId === null ||
    incident.playerId === null ||
    incident.playerId === event.playerId ||
    (incident.kind === 'substitution' && incident.playerId === event.relatedPlayerId))

/** Another row tells of it. */
const isTold = (event: FixtureEvent, incidents: readonly Incident[]): boolean =>
  !event.rescinded && incidents.some((incident) => counts(incident) && isSame(incident, event))

/** A goal that is listed again beside the one that counts, and was never shown. */
const isRepeated = (incident: Incident, incidents: readonly Incident[], before: readonly ReportedEvent[]): boolean =>
  !counts(incident) &&
  isGoal(incident.kind) &&
  incident.playerId !== null &&
  (incident.standing === 'seen' || !before.some(({ id }) => id === incident.id)) &&
  incidents.some((one) => counts(one) && isGoal(one.kind) && one.playerId === incident.playerId && near(one, incident))
