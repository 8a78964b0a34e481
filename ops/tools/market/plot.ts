/** The events of a match and the update that first shows each: what a courtside trader may know ahead. */
import type { FixtureEvent, FixtureEventKind, FixtureSnapshot, Side } from '../../../actors/market/fixture.ts'

export interface Happening {
  /** The first update that shows it. */
  readonly index: number
  readonly event: FixtureEvent
}

const GOALS: readonly FixtureEventKind[] = ['goal', 'penalty_goal']

const keyOf = (event: FixtureEvent): string => `${event.kind} ${event.playerId} ${event.minute}`

/** Rows of the list of events that were not there before, with the player they name. */
export function happenings(snapshots: readonly FixtureSnapshot[]): readonly Happening[] {
  const seen = new Set<string>()
  return snapshots.flatMap((snapshot, index) =>
    (snapshot.events ?? []).flatMap((event) => {
      if (event.playerId === null || seen.has(keyOf(event))) return []
      seen.add(keyOf(event))
      return [{ index, event }]
    }),
  )
}

/** Goals whose row goes away again. The index is that of the first update without the row. */
export function annulments(snapshots: readonly FixtureSnapshot[]): readonly Happening[] {
  return happenings(snapshots)
    .filter(({ event }) => isGoal(event))
    .flatMap(({ index, event }) => {
      const gone = snapshots.findIndex((s, n) => n > index && !(s.events ?? []).some((e) => keyOf(e) === keyOf(event)))
      return gone === -1 ? [] : [{ index: gone, event }]
    })
}

export const isGoal = ({ kind }: FixtureEvent): boolean => GOALS.includes(kind)
export const isBooking = ({ kind }: FixtureEvent): boolean => kind === 'yellow'
export const isSendingOff = ({ kind }: FixtureEvent): boolean => kind === 'red' || kind === 'second_yellow'
export const other = (side: Side): Side => (side === 'home' ? 'away' : 'home')

/** The match with its players' statistics some updates behind its list of events. */
export function withLateStatistics(snapshots: readonly FixtureSnapshot[], updates: number): readonly FixtureSnapshot[] {
  return snapshots.map((snapshot, index) => {
    const earlier = new Map(snapshots[Math.max(0, index - updates)]?.players.map((p) => [p.playerId, p.details]))
    const players = snapshot.players.map((p) => ({ ...p, details: earlier.get(p.playerId) ?? null }))
    return { ...snapshot, players }
  })
}
