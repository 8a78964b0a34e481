/** Reads careers: standings for the boards, progress and badges for the user. */
import { type Kysely, sql } from 'kysely'
import { districtId, type UserId, userId } from '../actors/kernel/ids.ts'
import { money, type Money } from '../actors/kernel/micros.ts'
import { type Instant, instant } from '../actors/kernel/world.ts'
import { type Career, NEW_CAREER } from '../actors/community/career.ts'
import { type Standing, stakeOf } from '../actors/community/ranking.ts'
import { bigints, uuids } from './postgres/arrays.ts'
import { careerFrom } from './career-rows.ts'
import type { Database } from './postgres/schema.ts'

/** Whether standings count replays. */
export type Scope = 'all' | 'live'

/** A user whose place on the boards may be out of date. */
export interface BoardChange {
  readonly userId: UserId
  readonly version: number
}

const PAGE = 5_000

export class Careers {
  readonly #db: Kysely<Database>
  readonly #roiFloor: () => Money

  /** @param roiFloor The least stake of a return. Standings are read with the floor of the moment. */
  constructor(db: Kysely<Database>, roiFloor: () => Money) {
    this.#db = db
    this.#roiFloor = roiFloor
  }

  /** A user's career; zeros for a user without one. */
  async find(user: UserId): Promise<Career> {
    const row = await this.#db.selectFrom('careers').selectAll().where('user_id', '=', user).executeTakeFirst()
    return row === undefined ? NEW_CAREER : careerFrom(row)
  }

  /** The user's badges, with the time at which each was earned. */
  async badges(user: UserId): Promise<ReadonlyMap<string, Instant>> {
    const rows = await this.#db.selectFrom('user_badges').selectAll().where('user_id', '=', user).execute()
    return new Map(rows.map((row) => [row.badge, instant(row.earned_at.getTime())]))
  }

  /** Users whose standings have changed since they were put on the boards. */
  async changed(limit: number): Promise<readonly BoardChange[]> {
    const rows = await this.#db.selectFrom('board_changes').selectAll().limit(limit).execute()
    return rows.map((row) => ({ userId: userId(row.user_id), version: row.version }))
  }

  /** Notes that these are on the boards now. One that has changed again meanwhile stays listed. */
  async shown(changes: readonly BoardChange[]): Promise<void> {
    await sql`
      delete from board_changes b
       using (select unnest(${uuids(changes.map((c) => c.userId))}::uuid[]) as user_id,
                     unnest(${bigints(changes.map((c) => c.version))}::bigint[]) as version) s
       where b.user_id = s.user_id and b.version <= s.version`.execute(this.#db)
  }

  /** The standings of the given users who have closed a position. */
  async standings(users: readonly UserId[], scope: Scope): Promise<readonly Standing[]> {
    if (users.length === 0) return []
    const floor = this.#roiFloor()
    const rows = await standingsIn(this.#db, scope)
      .where('user_id', 'in', [...users])
      .execute()
    return rows.map((row) => standingFrom(row, floor))
  }

  /** All standings, one page at a time, measured against one floor. */
  async *allStandings(scope: Scope): AsyncGenerator<readonly Standing[]> {
    const floor = this.#roiFloor()
    let after: string | null = null
    for (;;) {
      const rows: StandingRow[] = await standingsIn(this.#db, scope)
        .$if(after !== null, (query) => query.where('user_id', '>', after ?? ''))
        .orderBy('user_id')
        .limit(PAGE)
        .execute()
      if (rows.length === 0) return
      yield rows.map((row) => standingFrom(row, floor))
      after = rows.at(-1)?.user_id ?? null
    }
  }

  /** The names shown beside entries of boards. */
  async usernames(users: readonly UserId[]): Promise<ReadonlyMap<UserId, string>> {
    if (users.length === 0) return new Map()
    const rows = await this.#db
      .selectFrom('users')
      .select(['id', 'username'])
      .where('id', 'in', [...users])
      .execute()
    return new Map(rows.map((row) => [userId(row.id), row.username]))
  }
}

interface StandingRow {
  user_id: string
  district_id: number
  version: number
  closed: number
  wins: number
  pnl_micros: number
  base_moves_micros: number
  margin_micros: number
  first_trade_at: Date | null
}

function standingsIn(db: Kysely<Database>, scope: Scope) {
  const joined = db.selectFrom('careers').innerJoin('users', 'users.id', 'careers.user_id')
  return scope === 'all'
    ? joined
        .select(['user_id', 'district_id', 'version', 'closed', 'wins'])
        .select(['pnl_micros', 'base_moves_micros', 'margin_micros', 'first_trade_at'])
        .where('closed', '>', 0)
    : joined
        .select(['user_id', 'district_id', 'version', 'live_closed as closed', 'live_wins as wins'])
        .select(['live_pnl_micros as pnl_micros', 'live_base_moves_micros as base_moves_micros'])
        .select(['live_margin_micros as margin_micros', 'live_first_trade_at as first_trade_at'])
        .where('live_closed', '>', 0)
}

function standingFrom(row: StandingRow, floor: Money): Standing {
  return {
    userId: userId(row.user_id),
    districtId: districtId(row.district_id),
    version: row.version,
    closed: row.closed,
    wins: row.wins,
    pnl: money(row.pnl_micros),
    baseMoves: money(row.base_moves_micros),
    stake: stakeOf(money(row.margin_micros), floor),
    firstTradeAt: instant(row.first_trade_at?.getTime() ?? 0),
  }
}
