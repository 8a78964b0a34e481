/** Finds the known players in an answer that lists them under other ids or sides, or lists those of another match. */
import type { PlayerId } from '../../kernel/ids.ts'
import { type FixturePlayer, type SaidFixture, type Side, SIDES } from '../fixture.ts'
import { hasActed } from './plausible.ts'

type Listed = SaidFixture['players'][number]

/** The answer about the players that are known, and about those who are new beside them. */
export function withKnownPlayers(payload: SaidFixture, squad: readonly FixturePlayer[]): SaidFixture {
  const said = withKnownIds(onKnownSides(payload, squad), squad)
  const known = new Set(squad.map(({ playerId }) => playerId))
  const starters = said.players.filter(({ starter }) => starter)
  const isKnown = ({ playerId }: Listed): boolean => known.has(playerId)
  // A line-up may come in parts: then these and those who are known are eleven.
  const startersOf = (side: Side): number =>
    [...said.players, ...squad].filter((player) => player.starter && player.side === side).length
  const isRest = SIDES.every((side) => startersOf(side) === STARTERS_MAX)
  // Before anybody has done something, the first line-up may be the wrong one.
  const isOfAnother =
    squad.some(({ details }) => hasActed(details)) && starters.length > 0 && !starters.some(isKnown) && !isRest
  return isOfAnother ? { ...said, players: said.players.filter(isKnown) } : said
}

/** Of a side. */
export const STARTERS_MAX = 11

/** Of fewer players, most may be listed wrongly. */
const LISTED_MIN = 7

export const toTheOther = (player: Listed): Listed => ({ ...player, side: otherSide(player.side) })

export const otherSide = (side: Side): Side => (side === 'home' ? 'away' : 'home')

/** A line-up that has most of its players on the other side has exchanged all of them. */
function onKnownSides(said: SaidFixture, squad: readonly FixturePlayer[]): SaidFixture {
  const sides = new Map(squad.map(({ playerId, side }) => [playerId, side]))
  const listed = said.players.filter(({ playerId }) => sides.has(playerId))
  const moved = listed.filter(({ playerId, side }) => sides.get(playerId) !== side)
  return listed.length >= LISTED_MIN && moved.length * 2 > listed.length
    ? { ...said, players: said.players.map(toTheOther) }
    : said
}

/** More new players than these are of another line-up: then a name must be the same. */
const RENAMED_MAX = 2

/** A substitution alone lists its players without all of this. */
const isOfLineup = ({ jersey, role, starter, details }: Listed): boolean =>
  jersey !== null || role !== null || starter || details !== null

/** The last word of a name, without accents. */
const familyNameOf = (name: string | null): string =>
  (name ?? '').normalize('NFD').replace(/\p{M}/gu, '').toLowerCase().split(' ').at(-1) ?? ''

/** A new player with side, number and name of one who is no longer listed is that one. */
function withKnownIds(said: SaidFixture, squad: readonly FixturePlayer[]): SaidFixture {
  const known = new Set(squad.map(({ playerId }) => playerId))
  const fresh = said.players.filter((player) => isOfLineup(player) && !known.has(player.playerId))
  if (fresh.length === 0) return said
  const listed = new Set(said.players.flatMap((player) => (isOfLineup(player) ? [player.playerId] : [])))
  const gone = squad.filter(({ playerId }) => !listed.has(playerId))
  const renamed = new Map<PlayerId | null, FixturePlayer>()
  for (const { playerId, name, side, jersey } of fresh) {
    const isNamed = (other: FixturePlayer): boolean =>
      other.name === name ||
      (jersey !== null && fresh.length <= RENAMED_MAX && familyNameOf(other.name) === familyNameOf(name))
    // Without a number a name must be the whole one, and of one player.
    const isNumbered = (other: FixturePlayer): boolean => jersey === null || other.jersey === jersey
    const [before, ...others] = gone.filter((one) => one.side === side && isNumbered(one) && isNamed(one))
    if (before !== undefined && others.length === 0) renamed.set(playerId, before)
  }
  if (renamed.size === 0) return said
  const idOf = (id: PlayerId | null): PlayerId | null => renamed.get(id)?.playerId ?? id
  return {
    ...said,
    players: said.players.map((player) => {
      const before = renamed.get(player.playerId)
      return before === undefined ? player : { ...player, playerId: before.playerId, instrumentId: before.instrumentId }
    }),
    events:
      said.events?.map((row) => ({
        ...row,
        playerId: idOf(row.playerId),
        relatedPlayerId: idOf(row.relatedPlayerId),
      })) ?? null,
  }
}
