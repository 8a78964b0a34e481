/** The players that a payload lists, and those that its rows give the name of. */
import { type InstrumentId, type PlayerId, playerId } from '../../actors/kernel/ids.ts'
import type { FixturePlayer, PlayerRole, SaidFixture, Side } from '../../actors/market/fixture.ts'
import type { EventRow, FixturePayload, LineupRow } from './payload.ts'

const ROLE_BY_ID: Readonly<Record<number, PlayerRole>> = { 24: 'GK', 25: 'DEF', 26: 'MID', 27: 'FWD' }
const [STARTER, BENCH] = [11, 12]
const SUBSTITUTION = 18

type SaidPlayer = SaidFixture['players'][number]

export function playersOf(
  fixture: FixturePayload,
  sideOf: (team: number | null) => Side | null,
  instrumentIdOf: (playerId: PlayerId) => InstrumentId,
): readonly SaidPlayer[] {
  const players = new Map<PlayerId, SaidPlayer>()
  const starters: Record<Side, Set<number>> = { home: new Set(), away: new Set() }
  for (const row of fixture.lineups ?? []) {
    const side = sideOf(row.team_id)
    if (side !== null && isStarter(row)) starters[side].add(row.player_id)
  }
  for (const row of fixture.lineups ?? []) {
    const side = (isStarter(row) ? missingIn(starters, row.player_id) : null) ?? sideOf(row.team_id)
    if (side === null) continue
    const id = idIn(fixture.lineups ?? [], row)
    const player = {
      playerId: id,
      instrumentId: instrumentIdOf(id),
      name: nameOf(row),
      side,
      role: roleOf(row),
      jersey: row.jersey_number,
      starter: isStarter(row),
      details: detailsOf(row),
    }
    players.set(id, bothOf(players.get(id), player))
  }
  const named = namedIn([...players.values()])
  for (const row of fixture.events ?? []) {
    const side = row.participant_id === null ? null : sideOf(row.participant_id)
    const unlisted = row.type_id === SUBSTITUTION ? unlistedOf(named(row, side), side, instrumentIdOf) : null
    if (unlisted !== null && !players.has(unlisted.playerId)) players.set(unlisted.playerId, unlisted)
  }
  return [...players.values()]
}

const nameOf = ({ player_name: name, player }: LineupRow): string | null => name ?? player?.name ?? null

/** The number of a player. Two of a team with one name and one shirt are one player, of the first number. */
function idIn(lineups: readonly LineupRow[], row: LineupRow): PlayerId {
  const isSame = (one: LineupRow): boolean =>
    one.jersey_number === row.jersey_number && one.team_id === row.team_id && nameOf(one) === nameOf(row)
  const isNamed = nameOf(row) !== null && row.jersey_number !== null
  const [first = row.player_id, ...others] = new Set(isNamed ? lineups.filter(isSame).map((one) => one.player_id) : [])
  return playerId(others.length === 1 ? first : row.player_id)
}

/** Only who starts has a place in the formation. */
export const isStarter = ({ type_id: type, formation_field: place }: LineupRow): boolean =>
  type === STARTER || (type !== BENCH && place !== null)

/** That of the match, else the usual one of the player, else that of their place in the formation. */
const roleOf = ({ position_id: id, player, formation_field: place }: LineupRow): PlayerRole | null =>
  ROLE_BY_ID[id ?? 0] ?? ROLE_BY_ID[player?.position_id ?? 0] ?? ROLE_BY_LINE[place?.split(':')[0] ?? ''] ?? null

/** The lines of a formation that are the same in all. */
const ROLE_BY_LINE: Readonly<Record<string, PlayerRole>> = { 1: 'GK', 2: 'DEF' }

const ELEVEN = 11

/** The side of a starter of both teams, or of none: the one that lacks them, where the other has eleven others. */
function missingIn(starters: Readonly<Record<Side, ReadonlySet<number>>>, id: number): Side | null {
  if (starters.home.has(id) !== starters.away.has(id)) return null
  const isOpen = (side: Side): boolean => starters[side].size - Number(starters[side].has(id)) < ELEVEN
  return isOpen('home') === isOpen('away') ? null : isOpen('home') ? 'home' : 'away'
}

/** A player who is listed twice: who starts in one row has started, and the row with most statistics has them. */
function bothOf(first: SaidPlayer | undefined, second: SaidPlayer): SaidPlayer {
  if (first === undefined) return second
  const size = ({ details }: SaidPlayer): number => Object.keys(details ?? {}).length
  const isSecond = second.starter === first.starter ? size(second) > size(first) : second.starter
  const [main, other] = isSecond ? [second, first] : [first, second]
  // A row of the other team may be about another player.
  const isMain = size(main) >= size(other) || (size(main) > 0 && main.side !== other.side)
  return {
    ...main,
    name: main.name ?? other.name,
    role: main.role ?? other.role,
    jersey: main.jersey ?? other.jersey,
    details: isMain ? main.details : other.details,
  }
}

/** By row: payloads share the rows that have not changed. */
const knownDetails = new WeakMap<LineupRow, FixturePlayer['details']>()

function detailsOf(row: LineupRow): FixturePlayer['details'] {
  const known = knownDetails.get(row)
  if (known !== undefined) return known
  const found = (row.details ?? []).flatMap(({ type, value }) => (value === null ? [] : [[type, value] as const]))
  // Of two rows of a statistic the one that is ahead counts.
  const details = found.length === 0 ? null : Object.fromEntries(found.toSorted(([, a], [, b]) => a - b))
  knownDetails.set(row, details)
  return details
}

/** A substitute who is missing from the line-ups: only the substitution describes them. */
function unlistedOf(
  row: EventRow,
  side: Side | null,
  instrumentIdOf: (playerId: PlayerId) => InstrumentId,
): SaidPlayer | null {
  if (row.player_id === null || side === null) return null
  const id = playerId(row.player_id)
  return {
    playerId: id,
    instrumentId: instrumentIdOf(id),
    name: row.player_name,
    side,
    role: null,
    jersey: null,
    starter: false,
    details: null,
  }
}

/**
 * Makes a row be about the listed player whose name it gives, where no other has that name, and its number is missing,
 * or of no listed player while the row is of the side of the one with the name.
 */
export function namedIn(players: readonly SaidPlayer[]): (row: EventRow, side: Side | null) => EventRow {
  const listed = new Set<number | null>(players.map(({ playerId: id }) => id))
  const named = Map.groupBy(players, ({ name }) => name)
  const oneOf = (id: number | null, name: string | null, side: Side | null): SaidPlayer | null => {
    const [one, ...others] = listed.has(id) || name === null ? [] : (named.get(name) ?? [])
    const isOne = one !== undefined && others.length === 0 && (id === null || side === null || side === one.side)
    return isOne ? one : null
  }
  return (row, side) => {
    const [player, related] = [
      oneOf(row.player_id, row.player_name, side),
      oneOf(row.related_player_id, row.related_player_name, side),
    ]
    // Who has started does not come on: another has the name.
    const isOther = row.type_id === SUBSTITUTION && row.player_id !== null && player?.starter === true
    return {
      ...row,
      player_id: isOther ? row.player_id : (player?.playerId ?? row.player_id),
      related_player_id: related?.playerId ?? row.related_player_id,
    }
  }
}
