/** Reads careers: standings for the boards, progress and badges for the user. */
import { type Kysely, sql } from 'kysely'
import { districtId, type UserId, userId } from '../actors/kernel/ids.ts'
import { money, type Money } from '../actors/kernel/micros.ts'
import type { CommonPurse } from '../actors/kernel/purse.ts'
import { type Instant, instant } from '../actors/kernel/world.ts'
import { type Career, NEW_CAREER } from '../actors/community/career.ts'
import { type Standing, stakeOf } from '../actors/community/ranking.ts'
import { bigints, uuids } from './postgres/arrays.ts'
import { careerFrom } from './career-rows.ts'
import type { Database } from './postgres/schema.ts'
import { inSnapshot } from './postgres/snapshot.ts'

/** A user whose place on the boards may be out of date. */
export interface BoardChange {
  readonly userId: UserId
  readonly version: number
}

export interface BoardUser {
  readonly username: string
  /** The account has traded by a key. */
  readonly isBot: boolean
}

const PAGE = 5_000

export class Careers {
  readonly #db: Kysely<Database>
  readonly #roiFloor: () => Money
  readonly #ranksBots: () => boolean

  /**
   * @param roiFloor The least stake of a return. Standings are read with the floor of the moment.
   * @param ranksBots Whether accounts that trade by a key have a place on the boards.
   */
  constructor(db: Kysely<Database>, roiFloor: () => Money, ranksBots: () => boolean = () => false) {
    this.#db = db
    this.#roiFloor = roiFloor
    this.#ranksBots = ranksBots
  }

  /** A user's career; zeros for a user without one. */
  find(user: UserId): Promise<Career> {
    return careerOf(this.#db, user)
  }

  /** A user's career, and their badges with the time at which each was earned. */
  achievements(user: UserId): Promise<{ career: Career; badges: ReadonlyMap<string, Instant> }> {
    return inSnapshot(this.#db, async (snapshot) => {
      const career = await careerOf(snapshot, user)
      const rows = await snapshot.selectFrom('user_badges').selectAll().where('user_id', '=', user).execute()
      return { career, badges: new Map(rows.map((row) => [row.badge, instant(row.earned_at.getTime())])) }
    })
  }

  /** Users whose standings have changed since they were put on the boards. */
  async changed(limit: number): Promise<readonly BoardChange[]> {
    const rows = await this.#db.selectFrom('board_changes').selectAll().limit(limit).execute()
    return rows.map((row) => ({ userId: userId(row.user_id), version: row.version }))
  }

  /** Notes that these are on the boards now. One that has changed again meanwhile stays listed. */
  async shown(changes: readonly BoardChange[]): Promise<void> {
    // Locked in the order of users, as reactions lock them: neither waits for the other in a circle.
    await sql`
      with due as materialized (
        select b.user_id from board_changes b
          join unnest(${uuids(changes.map((c) => c.userId))}::uuid[], ${bigints(changes.map((c) => c.version))}::bigint[])
               s (user_id, version) on s.user_id = b.user_id and b.version <= s.version
         order by b.user_id for update of b
      )
      delete from board_changes b using due where b.user_id = due.user_id`.execute(this.#db)
  }

  /** The standings of the given users in a purse. Users who belong on no board have one without closes. */
  async standings(users: readonly UserId[], purse: CommonPurse): Promise<readonly Standing[]> {
    if (users.length === 0) return []
    const floor = this.#roiFloor()
    const rows = await standingsIn(this.#db, purse)
      .select(this.#isOff().as('is_off'))
      .where(sql<boolean>`user_id = any(${uuids(users)}::uuid[])`)
      .execute()
    return rows.map((row) => standingFrom(row.is_off ? { ...row, closed: 0, wins: 0 } : row, floor))
  }

  /** All standings of a purse, one page at a time, measured against one floor. */
  async *allStandings(purse: CommonPurse): AsyncGenerator<readonly Standing[]> {
    const floor = this.#roiFloor()
    let after: string | null = null
    for (;;) {
      const rows: StandingRow[] = await standingsIn(this.#db, purse)
        .where(purse === 'main' ? 'closed' : 'practice_closed', '>', 0)
        .where(this.#isOff(), '=', false)
        .$if(after !== null, (query) => query.where('user_id', '>', after ?? ''))
        .orderBy('user_id')
        .limit(PAGE)
        .execute()
      if (rows.length === 0) return
      yield rows.map((row) => standingFrom(row, floor))
      after = rows.at(-1)?.user_id ?? null
    }
  }

  /** What is shown of users beside entries of boards. */
  async names(users: readonly UserId[]): Promise<ReadonlyMap<UserId, BoardUser>> {
    if (users.length === 0) return new Map()
    const { rows } = await sql<{ id: string; username: string; is_bot: boolean }>`
      select id, username, bot_since is not null as is_bot from users
       where id = any(${uuids(users)}::uuid[])`.execute(this.#db)
    return new Map(rows.map((row) => [userId(row.id), { username: row.username, isBot: row.is_bot }]))
  }

  /** Whether a user belongs on no board. */
  #isOff() {
    return this.#ranksBots() ? sql<boolean>`off_boards` : sql<boolean>`(off_boards or bot_since is not null)`
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

function standingsIn(db: Kysely<Database>, purse: CommonPurse) {
  const joined = db.selectFrom('careers').innerJoin('users', 'users.id', 'careers.user_id')
  return purse === 'main'
    ? joined
        .select(['user_id', 'district_id', 'version', 'closed', 'wins'])
        .select(['pnl_micros', 'base_moves_micros', 'margin_micros', 'first_trade_at'])
    : joined
        .select(['user_id', 'district_id', 'version', 'practice_closed as closed', 'practice_wins as wins'])
        .select(['practice_pnl_micros as pnl_micros', 'practice_base_moves_micros as base_moves_micros'])
        .select(['practice_margin_micros as margin_micros', 'practice_first_trade_at as first_trade_at'])
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

async function careerOf(db: Kysely<Database>, user: UserId): Promise<Career> {
  const row = await db.selectFrom('careers').selectAll().where('user_id', '=', user).executeTakeFirst()
  return row === undefined ? NEW_CAREER : careerFrom(row)
}
