/** Who came on and who left where no row says so: the minutes that statistics state tell, once they stand still. */
import type { PlayerId } from '../kernel/ids.ts'
import type { FixturePlayer, Side } from './fixture.ts'
import { STATISTIC } from './scoring.ts'

/** Minutes are told in whole ones, and late: who has these fewer than others of their side has left. */
const BEHIND_MIN = 5
/**
 * The minutes of one who left and of one who came on for them are those of the match, to as many fewer, or more:
 * who has played on may have none of added time.
 */
const TOGETHER = { fewer: 3, more: 15 } as const

/** Of one side. */
interface Team {
  readonly players: readonly FixturePlayer[]
  readonly playing: ReadonlySet<PlayerId>
  /** Whether rows name a player. */
  readonly isNamed: (id: PlayerId) => boolean
}

/** A side as it plays. */
export const teamOf = (
  side: Side | null,
  { players, ...pitch }: Pick<Team, 'players' | 'playing'>,
  named: ReadonlySet<PlayerId | null>,
): Team => ({ ...pitch, players: players.filter((one) => one.side === side), isNamed: (id) => named.has(id) })

const minutesOf = ({ details }: FixturePlayer): number => details?.[STATISTIC.minutes] ?? 0

/** Starters who play, are in no row, and whose minutes stand still: first those whose have for longest. */
function leftIn({ players, playing, isNamed }: Team): readonly FixturePlayer[] {
  const most = Math.max(...players.map(minutesOf))
  const isBehind = (one: FixturePlayer): boolean => minutesOf(one) > 0 && most - minutesOf(one) >= BEHIND_MIN
  return players
    .filter((one) => one.starter && playing.has(one.playerId) && !isNamed(one.playerId) && isBehind(one))
    .toSorted((a, b) => minutesOf(a) - minutesOf(b))
}

/** Those who are rated, are in no row and have not played, first those with the most minutes. */
const cameOnIn = ({ players, isNamed }: Team, hasPlayed: (id: PlayerId) => boolean): readonly FixturePlayer[] =>
  players
    .filter((one) => one.details?.[STATISTIC.rating] !== undefined)
    .filter(({ playerId }) => !isNamed(playerId) && !hasPlayed(playerId))
    .toSorted((a, b) => minutesOf(b) - minutesOf(a))

/** Who left with a row that names only who came on. */
export const offIn = (team: Team): PlayerId | null => leftIn(team)[0]?.playerId ?? null

/** Who came on with a row that names only who left: of several without minutes it may be any. */
export function onIn(team: Team, hasPlayed: (id: PlayerId) => boolean): PlayerId | null {
  const [first, ...others] = cameOnIn(team, hasPlayed)
  return first === undefined || (others.length > 0 && minutesOf(first) === 0) ? null : first.playerId
}

/** The changes that no row tells, with the minutes since. */
export function untoldIn(team: Team, hasPlayed: (id: PlayerId) => boolean) {
  const most = Math.max(...team.players.map(minutesOf))
  const left = [...leftIn(team)]
  return cameOnIn(team, hasPlayed).flatMap((on) => {
    const minutes = minutesOf(on)
    const isFor = (off: FixturePlayer): boolean => {
      const more = minutesOf(off) + minutes - most
      return more >= -TOGETHER.fewer && more <= TOGETHER.more
    }
    const n = left.findIndex(isFor)
    if (minutes < BEHIND_MIN || n < 0) return []
    return left.splice(n, 1).map((off) => ({ on: on.playerId, off: off.playerId, minutes }))
  })
}
