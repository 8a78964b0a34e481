/** Who of a squad is on the pitch, who has left it, and who waits on the bench. */
import type { MatchEvent } from './client/wire.ts'

export type Side = 'home' | 'away'

/** A player of a squad. */
interface SquadPlayer {
  readonly playerId: number
  readonly name: string
  readonly position: 'GK' | 'DEF' | 'MID' | 'FWD' | null
  readonly jerseyNumber: number | null
  readonly starter: boolean
}

export type Listed<Player extends SquadPlayer = SquadPlayer> = Player & {
  readonly side: Side
  /** Minute of coming on or going off; null for neither. */
  readonly minute: number | null
}

interface LineUp<Player extends SquadPlayer> {
  readonly playing: readonly Listed<Player>[]
  readonly off: readonly (Listed<Player> & { readonly why: 'takenOff' | 'sentOff' })[]
  readonly bench: readonly Listed<Player>[]
}

const DISMISSALS: ReadonlySet<MatchEvent['type']> = new Set(['red', 'second_yellow'])

/** What a shirt carries: goals and cards. */
const CARRIED: ReadonlySet<MatchEvent['type']> = new Set([
  'goal',
  'penalty_goal',
  'own_goal',
  'yellow',
  'second_yellow',
  'red',
])

/** The goals and cards of a player that stand. */
export const carriedBy = (playerId: number, events: readonly MatchEvent[]): readonly MatchEvent[] =>
  events.filter((event) => event.playerId === playerId && !event.retracted && CARRIED.has(event.type))

/** Sorts the players of a team by what the events say of each. */
export function lineUp<Player extends SquadPlayer>(
  side: Side,
  players: readonly Player[],
  events: readonly MatchEvent[],
  isClosed: (player: Player) => boolean = () => false,
): LineUp<Player> {
  const own = events.filter((event) => event.team === side && !event.retracted)
  const all = players.map((player) => {
    const came = own.find(({ type, playerId }) => type === 'substitution' && playerId === player.playerId)
    const left = own.find(({ type, relatedPlayerName }) => type === 'substitution' && relatedPlayerName === player.name)
    const dismissed = own.find(({ type, playerId }) => DISMISSALS.has(type) && playerId === player.playerId)
    const hasPlayed = player.starter || came !== undefined
    // The provider may write the name of the one who leaves in another way: then the closed price tells it.
    const isGone = dismissed !== undefined || left !== undefined || (hasPlayed && isClosed(player))
    return {
      ...player,
      side,
      minute: (dismissed ?? left ?? came)?.minute ?? null,
      isOn: hasPlayed && !isGone,
      why: !hasPlayed || !isGone ? null : dismissed === undefined ? ('takenOff' as const) : ('sentOff' as const),
    }
  })
  return {
    playing: all.filter(({ isOn }) => isOn),
    off: all.flatMap((player) => (player.why === null ? [] : [{ ...player, why: player.why }])),
    bench: all.filter(({ isOn, why }) => !isOn && why === null),
  }
}
