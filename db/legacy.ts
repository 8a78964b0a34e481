/** Legacy trades: reading a user's, and taking in those of a dump. */
import { type Kysely, type Selectable, sql } from 'kysely'
import { present } from '../actors/kernel/assert.ts'
import { type DistrictId, districtId, type UserId, userId } from '../actors/kernel/ids.ts'
import { lots, price } from '../actors/kernel/micros.ts'
import { instant } from '../actors/kernel/world.ts'
import { legacyHeadline, type LegacyTrade } from '../actors/community/legacy.ts'
import { insertHeadlines } from './reaction-tx.ts'
import type { Database } from './postgres/schema.ts'
import type { LegacyTradesTable } from './postgres/schema/community.ts'

/** Activity may lag, and may be lost; the trades it is about may not wait for it (specification 6). */
const ACTIVITY_TIMEOUT_MS = 2_000
const PAGE = 1_000

export class Legacy {
  readonly #db: Kysely<Database>

  constructor(db: Kysely<Database>) {
    this.#db = db
  }

  /** A page of a user's trades, the latest first, and how many there are. */
  async trades(
    user: UserId,
    page: { limit: number; offset: number },
  ): Promise<{ trades: readonly LegacyTrade[]; total: number }> {
    const of = this.#db.selectFrom('legacy_trades').where('user_id', '=', user)
    const [rows, { total }] = await Promise.all([
      of.selectAll().orderBy('at', 'desc').orderBy('id').limit(page.limit).offset(page.offset).execute(),
      of.select((row) => row.fn.countAll<number>().as('total')).executeTakeFirstOrThrow(),
    ])
    return { trades: rows.map(tradeFrom), total }
  }

  /** All of a user's trades, the earliest first. */
  async history(user: UserId): Promise<readonly LegacyTrade[]> {
    const rows = await this.#db
      .selectFrom('legacy_trades')
      .selectAll()
      .where('user_id', '=', user)
      .orderBy('at')
      .orderBy('id')
      .execute()
    return rows.map(tradeFrom)
  }

  /** The users of these names. */
  async usersNamed(usernames: readonly string[]): Promise<ReadonlyMap<string, UserId>> {
    if (usernames.length === 0) return new Map()
    const rows = await this.#db
      .selectFrom('users')
      .select(['id', 'username'])
      .where('username', 'in', [...new Set(usernames)])
      .execute()
    return new Map(rows.map((row) => [row.username, userId(row.id)]))
  }

  /** Takes trades in, all or none; those whose ids are there already stay as they are. Returns the new ones. */
  async take(trades: readonly LegacyTrade[]): Promise<readonly LegacyTrade[]> {
    return this.#db.transaction().execute(async (tx) => {
      const taken = new Set<string>()
      for (let from = 0; from < trades.length; from += PAGE) {
        const rows = await tx
          .insertInto('legacy_trades')
          .values(trades.slice(from, from + PAGE).map(rowOf))
          .onConflict((conflict) => conflict.doNothing())
          .returning('id')
          .execute()
        for (const { id } of rows) taken.add(id)
      }
      return trades.filter(({ id }) => taken.has(id))
    })
  }

  /** Tells everybody of those trades that are of note. Throws when that takes longer than two seconds, and tells nothing. */
  async announce(trades: readonly LegacyTrade[]): Promise<number> {
    const headlines = trades.flatMap((trade) => legacyHeadline(trade) ?? [])
    if (headlines.length === 0) return 0
    return this.#db.transaction().execute(async (tx) => {
      await sql.raw(`set local statement_timeout = ${ACTIVITY_TIMEOUT_MS}`).execute(tx)
      const users = [...new Set(headlines.map((headline) => headline.userId))]
      const rows = await tx.selectFrom('users').select(['id', 'district_id']).where('id', 'in', users).execute()
      const districts = new Map<UserId, DistrictId>(rows.map((row) => [userId(row.id), districtId(row.district_id)]))
      await insertHeadlines(
        tx,
        headlines.map((headline) => ({ ...headline, districtId: present(districts.get(headline.userId), 'district') })),
      )
      return headlines.length
    })
  }
}

const rowOf = (trade: LegacyTrade) => ({
  id: trade.id,
  user_id: trade.userId,
  player: trade.player,
  side: trade.side,
  quantity_micros: trade.quantity,
  price_micros: trade.price,
  at: new Date(trade.at),
})

const tradeFrom = (row: Selectable<LegacyTradesTable>): LegacyTrade => ({
  id: row.id,
  userId: userId(row.user_id),
  player: row.player,
  side: row.side,
  quantity: lots(row.quantity_micros),
  price: price(row.price_micros),
  at: instant(row.at.getTime()),
})
