/** The events of a match and the update that first shows each: what a courtside trader may know ahead. */
import type { PlayerId } from '../../../actors/kernel/ids.ts'
import type {
  FixtureEvent,
  FixtureEventKind,
  FixtureSnapshot,
  PlayerRole,
  Side,
} from '../../../actors/market/fixture.ts'

export interface Happening {
  /** The first update that shows it. */
  readonly index: number
  readonly event: FixtureEvent
}

export interface Plot {
  /** Rows of the list of events with the player they name, when they are first shown. */
  readonly shown: readonly Happening[]
  /** Goals whose row goes away again. The index is that of the first update without the row. */
  readonly annulled: readonly Happening[]
}

const GOALS: readonly FixtureEventKind[] = ['goal', 'penalty_goal']

/** Tells an event from all others of its match. */
export const keyOf = (event: FixtureEvent): string => `${event.kind} ${event.playerId} ${event.minute}`

export function plotOf(snapshots: readonly FixtureSnapshot[]): Plot {
  const first = new Map<string, Happening>()
  const last = new Map<string, number>()
  for (const [index, { events }] of snapshots.entries()) {
    for (const event of events ?? []) {
      if (event.playerId === null) continue
      const key = keyOf(event)
      if (!first.has(key)) first.set(key, { index, event })
      last.set(key, index)
    }
  }
  const shown = [...first.values()]
  const annulled = shown.flatMap(({ event }) => {
    const gone = (last.get(keyOf(event)) ?? 0) + 1
    return isGoal(event) && gone < snapshots.length ? [{ index: gone, event }] : []
  })
  return { shown, annulled }
}

export const isGoal = ({ kind }: FixtureEvent): boolean => GOALS.includes(kind)
export const isBooking = ({ kind }: FixtureEvent): boolean => kind === 'yellow'
export const isSendingOff = ({ kind }: FixtureEvent): boolean => kind === 'red' || kind === 'second_yellow'
const other = (side: Side): Side => (side === 'home' ? 'away' : 'home')

/** The keeper and the defenders who concede a goal, or the starters of other roles. */
export function concedingOf(
  event: FixtureEvent,
  snapshot: FixtureSnapshot,
  roles: readonly PlayerRole[] = ['GK', 'DEF'],
): readonly PlayerId[] {
  const side = snapshot.players.find((p) => p.playerId === event.playerId)?.side
  if (side === undefined || !isGoal(event)) return []
  const back = snapshot.players.filter((p) => p.starter && p.role !== null && roles.includes(p.role))
  return back.filter((p) => p.side === other(side)).map((p) => p.playerId)
}
