/** Reads the table of a match: its top, and the place of a user with the neighbours, of some hundred rows in all. */
import { type Kysely, type RawBuilder, sql } from 'kysely'
import { compareStandings, type Ranked, rankAll, type Standing } from '../../../actors/community/ranking.ts'
import { districtId, type DistrictId, type FixtureId, type UserId, userId } from '../../../actors/kernel/ids.ts'
import { money } from '../../../actors/kernel/micros.ts'
import { type Instant, instant } from '../../../actors/kernel/world.ts'
import type { BoardUser } from '../../../db/careers.ts'
import { uuids } from '../../../db/postgres/arrays.ts'
import type { Database } from '../../../db/postgres/schema.ts'
import { type BoardRules, isOffBoards, STEP } from './keeper.ts'

/** Whom a table ranks: everybody or a district, or these users. */
export type Group =
  | { readonly kind: 'everybody' }
  | { readonly kind: 'district'; readonly districtId: DistrictId }
  | { readonly kind: 'users'; readonly users: readonly UserId[] }

export interface TableRow extends Ranked {
  readonly user: BoardUser
}

export interface MatchTable {
  readonly total: number
  readonly top: readonly TableRow[]
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
}

/** Places that are counted from a step. */
const COUNTED_MAX = 4 * STEP
/** Members of leagues that a table ranks: looking up their places takes some ten milliseconds. */
export const MEMBERS_MAX = 2_000
/** Neighbours on each side. */
const NEIGHBOURS = 2
const NO_USER = '00000000-0000-0000-0000-000000000000'
/** After every place. */
const END: Key = { key: '{9223372036854775807}', user: NO_USER }

/** A place in the order of a table. */
interface Key {
  /** The text of a literal of bigints. */
  readonly key: string
  readonly user: string
}

interface PlaceRow {
  readonly user_id: string
  readonly district_id: number
  readonly closed: number
  readonly wins: number
  readonly pnl_micros: number
  readonly base_moves_micros: number
  readonly stake_micros: number
  readonly first_trade_at: Date
  readonly key: string
  readonly username: string
  readonly is_bot: boolean
  readonly is_off: boolean
}

export class MatchBoards {
  readonly #db: Kysely<Database>
  readonly #rules: () => BoardRules

  constructor(db: Kysely<Database>, rules: () => BoardRules) {
    this.#db = db
    this.#rules = rules
  }

  async table(query: TableQuery): Promise<MatchTable> {
    const { match, group } = query
    const [isFinal, table] = await Promise.all([
      this.#isFinal(match),
      group.kind === 'users' ? this.#among(query, group.users) : this.#inOrder(query, scopeOf(match, group)),
    ])
    return { ...table, isFinal }
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

  async #isFinal(match: FixtureId): Promise<boolean> {
    const { rows } = await sql<{ is_final: boolean }>`
      select is_final and is_stepped as is_final from match_boards where match_id = ${match}::bigint`.execute(this.#db)
    return rows[0]?.is_final ?? false
  }

  async #among({ match, user, limit }: TableQuery, users: readonly UserId[]): Promise<Omit<MatchTable, 'isFinal'>> {
    const found = await this.#places(sql`
      select p.* from match_board_places p
       where p.user_id = any(${uuids(users)}::uuid[]) and p.match_id = ${match}::bigint and p.shown`)
    const ranked = rowsOf(found.toSorted((a, b) => compareStandings('roi', a.standing, b.standing)))
    const place = ranked.findIndex(({ standing }) => standing.userId === user)
    return {
      total: ranked.length,
      top: ranked.slice(0, limit),
      me: ranked[place] ?? null,
      around: place < 0 ? [] : ranked.slice(Math.max(0, place - NEIGHBOURS), place + NEIGHBOURS + 1),
    }
  }

  async #inOrder({ match, user, limit }: TableQuery, scope: Scope): Promise<Omit<MatchTable, 'isFinal'>> {
    const [top, total, own] = await Promise.all([
      this.#places(sql`select p.* from match_board_places p where ${scope.where} order by p.key, p.user_id
                        limit ${limit}::integer`),
      this.#ahead(scope, END),
      this.#places(sql`select p.* from match_board_places p
                        where p.user_id = ${user}::uuid and p.match_id = ${match}::bigint and ${scope.where}`),
    ])
    const ranked = rowsOf(top)
    const [mine] = own
    if (mine === undefined) return { total, top: ranked, me: null, around: [] }
    const around = await this.#around(scope, mine.at)
    return { total, top: ranked, me: around.find(({ standing }) => standing.userId === user) ?? null, around }
  }

  async #around(scope: Scope, mine: Key): Promise<readonly TableRow[]> {
    const own = sql`(${mine.key}::bigint[], ${mine.user}::uuid)`
    const found = await this.#places(sql`
      (select p.* from match_board_places p where ${scope.where} and (p.key, p.user_id) < ${own}
        order by p.key desc, p.user_id desc limit ${NEIGHBOURS}::integer)
      union all
      (select p.* from match_board_places p where ${scope.where} and (p.key, p.user_id) >= ${own}
        order by p.key, p.user_id limit ${NEIGHBOURS + 1}::integer)`)
    const [first] = found
    if (first === undefined) return []
    // Equal users share the rank of the first of them.
    const [ahead, better] = await Promise.all([
      this.#ahead(scope, first.at),
      this.#ahead(scope, { key: first.at.key, user: NO_USER }),
    ])
    return rowsOf(found, { place: ahead + 1, rank: better + 1 })
  }

  async #ahead(scope: Scope, at: Key): Promise<number> {
    const { rows } = await aheadOf(scope, at).execute(this.#db)
    return rows[0]?.ahead ?? 0
  }

  /** In the order of the table. Those who have left the boards since keep their place, unseen, until it changes. */
  async #places(places: RawBuilder<unknown>): Promise<readonly Found[]> {
    const { rows } = await sql<PlaceRow>`
      select p.user_id, p.district_id, p.closed, p.wins, p.pnl_micros, p.base_moves_micros, p.stake_micros,
             p.first_trade_at, p.key::text as key, u.username, u.bot_since is not null as is_bot,
             ${isOffBoards(this.#rules())} as is_off
        from (${places}) p join users u on u.id = p.user_id order by p.key, p.user_id`.execute(this.#db)
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
      at: { key: row.key, user: row.user_id },
      isOff: row.is_off,
    }))
  }
}

interface Found {
  readonly standing: Standing
  readonly user: BoardUser
  readonly at: Key
  readonly isOff: boolean
}

function rowsOf(found: readonly Found[], start?: Parameters<typeof rankAll>[2]): readonly TableRow[] {
  const standings = found.map(({ standing }) => standing)
  return rankAll('roi', standings, start).flatMap((ranked, n) => {
    const one = found[n]
    return one === undefined || one.isOff ? [] : [{ ...ranked, user: one.user }]
  })
}

interface Scope {
  readonly match: FixtureId
  /** Of its steps. */
  readonly district: number
  readonly where: RawBuilder<unknown>
}

export function scopeOf(match: FixtureId, group: Exclude<Group, { kind: 'users' }>): Scope {
  const all = sql`p.match_id = ${match}::bigint and p.shown`
  if (group.kind === 'everybody') return { match, district: 0, where: all }
  const district = Number(group.districtId)
  return { match, district, where: sql`${all} and p.district_id = ${district}::integer` }
}

/**
 * How many places are ahead of one: those ahead of the last step before it, and those between the two. After a rush
 * there are more than are counted until the steps are made again, seconds later.
 */ // R28
export const aheadOf = ({ match, district, where }: Scope, { key, user }: Key) => sql<{ readonly ahead: number }>`
  select coalesce(s.ahead, 0) + (
           select count(*)::integer from (
             select from match_board_places p
              where ${where} and (p.key, p.user_id) < (${key}::bigint[], ${user}::uuid)
                and (p.key, p.user_id) >= (coalesce(s.key, '{}'), coalesce(s.user_id, ${NO_USER}::uuid))
              order by p.key, p.user_id limit ${COUNTED_MAX}::integer) n) as ahead
    from (select) one left join lateral (
           select key, user_id, ahead from match_board_steps
            where match_id = ${match}::bigint and district_id = ${district}::integer
              and (key, user_id) <= (${key}::bigint[], ${user}::uuid)
            order by key desc, user_id desc limit 1) s on true`
