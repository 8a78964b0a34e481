/** Reads the table of a match: a page, and the place of a user with the neighbours, of some hundred rows in all. */
import { type Kysely, sql } from 'kysely'
import {
  compareStandings,
  type PageStart,
  type Ranked,
  rankAll,
  type Standing,
} from '../../../actors/community/ranking.ts'
import { districtId, type DistrictId, type FixtureId, type UserId, userId } from '../../../actors/kernel/ids.ts'
import { money } from '../../../actors/kernel/micros.ts'
import { type Instant, instant } from '../../../actors/kernel/world.ts'
import type { BoardUser } from '../../../db/careers.ts'
import { uuids } from '../../../db/postgres/arrays.ts'
import { DISTRICT_TABLE, MATCH_TABLE } from '../../../db/postgres/match-table.ts'
import type { Database } from '../../../db/postgres/schema.ts'
import { inSnapshot } from '../../../db/postgres/snapshot.ts'
import { type BoardRules, isSettled, STEP } from './keeper.ts'

/** Whom a table ranks: all users, a district, or these users. */
export type Group =
  | { readonly kind: 'everybody' }
  | { readonly kind: 'district'; readonly districtId: DistrictId }
  | { readonly kind: 'users'; readonly users: readonly UserId[] }

type OrderedGroup = Exclude<Group, { kind: 'users' }>

export interface TableRow extends Ranked {
  readonly user: BoardUser
}

export interface MatchTable {
  readonly total: number
  readonly page: readonly TableRow[]
  /** Where the page ended; null if it reached the end. */
  readonly end: PageStart | null
  readonly me: TableRow | null
  /** The user between their neighbours; none without a place. */
  readonly around: readonly TableRow[]
  /** Everything is closed and counted. */
  readonly isFinal: boolean
}

export interface TableQuery {
  readonly match: FixtureId
  readonly group: Group
  readonly user: UserId
  readonly limit: number
  /** Where the page before ended; null for the first. */
  readonly after: PageStart | null
}

/** Places that are counted from a step. */
const COUNTED_MAX = 16 * STEP
/** Members of leagues that a table ranks: looking up their places takes some ten milliseconds. */
export const MEMBERS_MAX = 2_000
/** Neighbours on each side. */
const NEIGHBOURS = 2

interface PlaceRow {
  readonly user_id: string
  readonly district_id: number
  readonly closed: number
  readonly wins: number
  readonly pnl_micros: number
  readonly base_moves_micros: number
  readonly stake_micros: number
  readonly first_trade_at: Date
  readonly username: string
  readonly is_bot: boolean
  readonly off_boards: boolean
}

/** A row of `match_table`; without a user if there are no places. */
type OrderedRow = {
  readonly total: number
  /** Places ahead of the first in `around`, and of the first that equals it. */
  readonly ahead: number
  readonly better: number
  readonly is_final: boolean
} & ((PlaceRow & { readonly is_page: boolean }) | { readonly user_id: null })

export class MatchBoards {
  readonly #db: Kysely<Database>
  readonly #rules: () => BoardRules

  constructor(db: Kysely<Database>, rules: () => BoardRules) {
    this.#db = db
    this.#rules = rules
  }

  table(query: TableQuery): Promise<MatchTable> {
    const { group } = query
    return group.kind === 'users' ? this.#among(query, group.users) : this.#inOrder(query, group)
  }

  /** The user, and at most `MEMBERS_MAX` members of their private leagues that have not ended. */
  async leagueMates(user: UserId, now: Instant): Promise<readonly UserId[]> {
    const { rows } = await sql<{ user_id: string }>`
      select distinct m.user_id
        from league_members own
        join leagues l on l.id = own.league_id and l.kind = 'private' and l.ends_at > ${new Date(now)}::timestamptz
        -- The bound for each league keeps the planner from reading the members of all leagues.
        cross join lateral (
          select user_id from league_members
           where league_id = own.league_id and left_at is null limit ${MEMBERS_MAX}::integer) m
       where own.user_id = ${user}::uuid and own.left_at is null
       order by m.user_id limit ${MEMBERS_MAX}::integer`.execute(this.#db)
    return [...new Set([user, ...rows.map((row) => userId(row.user_id))])]
  }

  async #among({ match, user, limit, after }: TableQuery, users: readonly UserId[]): Promise<MatchTable> {
    const { isFinal, rows } = await inSnapshot(this.#db, async (snapshot) => ({
      isFinal: await isFinalIn(snapshot, match),
      rows: await placesOf(snapshot, match, users),
    }))
    const found = this.#found(rows).toSorted((a, b) => compareStandings('roi', a.standing, b.standing))
    const seen = rowsOf(found)
    const place = seen.findIndex(({ standing }) => standing.userId === user)
    return {
      total: seen.length,
      ...pageOf(found.slice(passedBy(after)), after, limit),
      me: seen[place] ?? null,
      around: place < 0 ? [] : seen.slice(Math.max(0, place - NEIGHBOURS), place + NEIGHBOURS + 1),
      isFinal,
    }
  }

  async #inOrder({ match, user, limit, after }: TableQuery, group: OrderedGroup): Promise<MatchTable> {
    const [table, district] = group.kind === 'everybody' ? [MATCH_TABLE, 0] : [DISTRICT_TABLE, Number(group.districtId)]
    const { rows } = await sql<OrderedRow>`
      select * from ${sql.ref(table.installedAs)}(${match}::bigint, ${district}::integer, ${user}::uuid,
        ${passedBy(after)}::integer, ${limit + 2}::integer, ${NEIGHBOURS}::integer, ${COUNTED_MAX}::integer)`.execute(
      this.#db,
    )
    const { total = 0, ahead = 0, better = 0, is_final: isFinal = false } = rows[0] ?? {}
    const places = rows.flatMap((row) => (row.user_id === null ? [] : [row]))
    const around = rowsOf(this.#found(places.filter((row) => !row.is_page)), { place: ahead + 1, rank: better + 1 })
    return {
      total,
      ...pageOf(this.#found(places.filter((row) => row.is_page)), after, limit),
      me: around.find(({ standing }) => standing.userId === user) ?? null,
      around,
      isFinal,
    }
  }

  /** Those who have left the boards since keep their place, unseen, until it changes. */
  #found(rows: readonly PlaceRow[]): readonly Found[] {
    const { ranksBots } = this.#rules()
    return rows.map((row) => ({
      standing: {
        userId: userId(row.user_id),
        districtId: districtId(row.district_id),
        pnl: money(row.pnl_micros),
        baseMoves: money(row.base_moves_micros),
        stake: money(row.stake_micros),
        closed: row.closed,
        wins: row.wins,
        firstTradeAt: instant(row.first_trade_at.getTime()),
        version: 0,
      },
      user: { username: row.username, isBot: row.is_bot },
      isOff: row.off_boards || (row.is_bot && !ranksBots),
    }))
  }
}

async function isFinalIn(db: Kysely<Database>, match: FixtureId): Promise<boolean> {
  const { rows } = await sql<{ is_final: boolean }>`
    select is_final and is_stepped and ${isSettled} as is_final from match_boards where match_id = ${match}::bigint`.execute(
    db,
  )
  return rows[0]?.is_final ?? false
}

async function placesOf(db: Kysely<Database>, match: FixtureId, users: readonly UserId[]) {
  const { rows } = await sql<PlaceRow>`
    select p.user_id, p.district_id, p.closed, p.wins, p.pnl_micros, p.base_moves_micros, p.stake_micros,
           p.first_trade_at, u.username, u.bot_since is not null as is_bot, u.off_boards
      from match_board_places p join users u on u.id = p.user_id
     where p.user_id = any(${uuids(users)}::uuid[]) and p.match_id = ${match}::bigint and p.shown`.execute(db)
  return rows
}

interface Found {
  readonly standing: Standing
  readonly user: BoardUser
  readonly isOff: boolean
}

/** The places that a read leaves out. The last of the page before is read again, as its equals share its rank. */
const passedBy = (after: PageStart | null): number => (after === null ? 0 : after.place - 1)

/** `found` begins after those passed, and goes on behind the page if there are more. */
function pageOf(found: readonly Found[], after: PageStart | null, limit: number): Pick<MatchTable, 'page' | 'end'> {
  const again = after === null ? 0 : 1
  const read = ranked(found.slice(0, again + limit), after ?? undefined)
  const last = read.at(-1)
  const isEnd = last === undefined || read.length === found.length
  return {
    page: read.slice(again).filter(isSeen),
    end: isEnd ? null : { place: passedBy(after) + read.length, rank: last.rank },
  }
}

const rowsOf = (found: readonly Found[], start?: PageStart): readonly TableRow[] => ranked(found, start).filter(isSeen)

const isSeen = ({ isOff }: Found): boolean => !isOff

function ranked(found: readonly Found[], start?: PageStart): readonly (TableRow & Found)[] {
  const standings = found.map(({ standing }) => standing)
  return rankAll('roi', standings, start).flatMap((one, n) => {
    const row = found[n]
    return row === undefined ? [] : [{ ...row, ...one }]
  })
}
