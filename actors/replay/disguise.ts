/**
 * A recording under other names. Players, clubs and competition are renamed by a seed, numbers that name them are
 * replaced, and line-ups are reordered; what happens on the pitch stays. The same seed gives the same names for ever.
 */
import { type Chance, chanceFrom } from './chance.ts'
import type { Recording } from './recording.ts'

/** The two clubs, home first. */
const CLUBS = 2
const HEX_A_PART = 8

type Row = Readonly<Record<string, unknown>>

/** Syllables of surnames; each pair of a beginning and an ending is one. */
const BEGINNINGS = 'Al Bar Cor Dan Es Fal Gar Hol Is Jor Kel Lam Mar Nor Or Pel Quin Ros Sal Tor Ul Var Wes Yor'.split(
  ' ',
)
const ENDINGS = 'bridge cott den field ford gate ham land ley mere more ridge stead ton vale wood'.split(' ')
const INITIALS = 'ABCDEFGHIJKLMNOPRSTVW'.split('')
const TOWNS =
  'Ashmere Brackley Coldwick Dunholt Eastmoor Fenbury Graywell Hartsea Inverlea Kingsmarsh Langrove Milstead'.split(' ')
const SUFFIXES = ['Athletic', 'City', 'Rovers', 'Town', 'United', 'Wanderers']

/** What a recording is played as. */
export interface Disguise {
  /** The names of the clubs, home first. */
  readonly clubs: readonly string[]
  /** The names that players get, by their id in the recording. */
  readonly players: ReadonlyMap<string, { readonly id: number; readonly name: string }>
  /** Anchors by new id. */
  readonly anchors: Recording['anchors']
  /** A frame under the other names. Rows that frames share stay shared. */
  readonly frame: (payload: unknown) => unknown
}

/**
 * The disguise that a seed of 32 hexadecimal digits gives a recording. `startsAt` is when the match says it begins, in
 * seconds since 1970.
 */
export function disguiseOf(recording: Recording, seed: string, startsAt: number): Disguise {
  const chances = Array.from({ length: seed.length / HEX_A_PART }, (_, n) =>
    chanceFrom(Number.parseInt(seed.slice(n * HEX_A_PART, (n + 1) * HEX_A_PART), 16)),
  )
  // Every part of the seed shuffles, so that the whole of it must be known to undo the order.
  const shuffled = <T>(items: readonly T[]): readonly T[] => chances.reduce(shuffle, items)
  const surnames = shuffled(BEGINNINGS.flatMap((beginning) => ENDINGS.map((ending) => beginning + ending)))
  const initials = shuffled(INITIALS)
  const players = new Map(
    shuffled(idsIn(recording, ['lineups', 'events'], ['player_id', 'related_player_id'])).map((player, n) => {
      const name = `${initials[n % initials.length]}. ${surnames[n % surnames.length]}`
      return [player, { id: n + 1, name }]
    }),
  )
  const towns = shuffled(TOWNS)
  const suffixes = shuffled(SUFFIXES)
  const clubs = Array.from({ length: CLUBS }, (_, n) => `${towns[n]} ${suffixes[n]}`)
  return {
    clubs,
    players,
    anchors: Object.fromEntries(
      Object.entries(recording.anchors).flatMap(([player, anchor]) => {
        const known = players.get(player)
        return known === undefined ? [] : [[known.id, anchor]]
      }),
    ),
    frame: frames({
      players,
      clubs,
      startsAt,
      events: numbered(idsIn(recording, ['events'], ['id'])),
      periods: numbered(idsIn(recording, ['periods', 'detailedperiods'], ['id'])),
    }),
  }
}

function shuffle<T>(items: readonly T[], chance: Chance): readonly T[] {
  const order = [...items]
  for (let n = order.length - 1; n > 0; n--) {
    const other = chance.below(n + 1)
    const [a, b] = [order[n], order[other]]
    if (a !== undefined && b !== undefined) [order[n], order[other]] = [b, a]
  }
  return order
}

/** The values of these fields in the rows of these lists, in an order that does not depend on the rows. */
function idsIn({ frames: all }: Recording, lists: readonly string[], fields: readonly string[]): readonly string[] {
  const found = new Set<string>()
  const seen = new WeakSet<object>()
  for (const row of all.flatMap((frame) => lists.flatMap((list) => rowsOf(frame, list)))) {
    if (seen.has(row)) continue
    seen.add(row)
    for (const field of fields) if (isId(row[field])) found.add(String(row[field]))
  }
  return [...found].toSorted((a, b) => Number(a) - Number(b))
}

const numbered = (ids: readonly string[]): ReadonlyMap<string, number> => new Map(ids.map((id, n) => [id, n + 1]))

interface Names extends Pick<Disguise, 'players' | 'clubs'> {
  readonly startsAt: number
  /** New ids by old ones. */
  readonly events: ReadonlyMap<string, number>
  readonly periods: ReadonlyMap<string, number>
}

function frames({ players, clubs, startsAt, events, periods }: Names): Disguise['frame'] {
  const playerOf = (id: unknown) => (isId(id) ? players.get(String(id)) : undefined)
  const [home, away] = clubs
  const renumbered = (numbers: ReadonlyMap<string, number>, one: Row, fields: readonly string[]): Row =>
    Object.fromEntries(
      fields.flatMap((field) => (isId(one[field]) ? [[field, numbers.get(String(one[field])) ?? null]] : [])),
    )
  const period = (one: Row): Row => ({ ...one, ...renumbered(periods, one, ['id']) })

  const row = (teams: ReadonlyMap<string, number>, { details, ...rest }: Row): Row => {
    const [player, related] = [playerOf(rest['player_id']), playerOf(rest['related_player_id'])]
    const team = (id: unknown) => (isId(id) ? (teams.get(String(id)) ?? null) : null)
    return {
      ...fieldsOf(rest, KEPT),
      ...renumbered(events, rest, ['id']),
      ...renumbered(periods, rest, ['period_id', 'detailed_period_id']),
      ...('participant_id' in rest ? { participant_id: team(rest['participant_id']) } : {}),
      ...('team_id' in rest ? { team_id: team(rest['team_id']) } : {}),
      ...('player_id' in rest ? { player_id: player?.id ?? null, player_name: player?.name ?? null } : {}),
      ...('related_player_id' in rest
        ? { related_player_id: related?.id ?? null, related_player_name: related?.name ?? null }
        : {}),
      ...('jersey_number' in rest ? { jersey_number: player?.id ?? null } : {}),
      ...(details === undefined ? {} : { details }),
    }
  }
  const known = new WeakMap<object, Row>()
  const kept = (teams: ReadonlyMap<string, number>, one: Row): Row => {
    const made = known.get(one) ?? row(teams, one)
    known.set(one, made)
    return made
  }

  return (payload) => {
    const participants = rowsOf(payload, 'participants')
    const sideOf = (side: 'home' | 'away') => participants.find(({ meta }) => isRow(meta) && meta['location'] === side)
    const club = (side: 'home' | 'away', id: number, name: string | undefined): Row[] =>
      sideOf(side) === undefined ? [] : [{ id, name, meta: { location: side } }]
    const teams = new Map(
      [sideOf('home'), sideOf('away')].flatMap((one, n) => (isId(one?.['id']) ? [[String(one['id']), n + 1]] : [])),
    )
    const renamed = (list: string): Record<string, readonly Row[]> =>
      isRow(payload) && list in payload ? { [list]: rowsOf(payload, list).map((one) => kept(teams, one)) } : {}
    return {
      ...(isRow(payload) ? fieldsOf(payload, ['state_id', 'state', 'odds']) : {}),
      id: 1,
      ...Object.fromEntries(
        ['periods', 'detailedperiods'].flatMap((list) =>
          isRow(payload) && list in payload ? [[list, rowsOf(payload, list).map(period)]] : [],
        ),
      ),
      name: `${home} vs ${away}`,
      league: { name: 'Tournament' },
      starting_at_timestamp: startsAt,
      participants: [...club('home', 1, home), ...club('away', 2, away)],
      ...renamed('scores'),
      ...renamed('events'),
      ...renamed('statistics'),
      // In the order of new ids: that of a line-up can be recognised.
      ...Object.fromEntries(Object.entries(renamed('lineups')).map(([list, all]) => [list, all.toSorted(byNewId)])),
    }
  }
}

/** Fields of rows without a name or an id. */
const KEPT = [
  'type_id',
  'type',
  'data',
  'description',
  'score',
  'position_id',
  'minute',
  'extra_minute',
  'result',
  'addition',
  'rescinded',
]

const byNewId = (a: Row, b: Row): number => Number(a['player_id']) - Number(b['player_id'])

const fieldsOf = (row: Row, fields: readonly string[]): Row =>
  Object.fromEntries(fields.flatMap((field) => (field in row ? [[field, row[field]]] : [])))

const isRow = (value: unknown): value is Row => typeof value === 'object' && value !== null
const isId = (value: unknown): value is string | number => typeof value === 'number' || typeof value === 'string'

function rowsOf(payload: unknown, list: string): readonly Row[] {
  const rows: unknown = isRow(payload) ? payload[list] : null
  return Array.isArray(rows) ? rows.filter(isRow) : []
}
