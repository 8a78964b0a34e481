/** Imports trades of the former share model from a dump. */
import { type Kysely, sql } from 'kysely'
import { legacyHeadline, type LegacyTrade } from '../actors/community/legacy.ts'
import { present } from '../actors/kernel/assert.ts'
import { type DistrictId, districtId, type UserId, userId } from '../actors/kernel/ids.ts'
import { insertHeadlines } from './announcements.ts'
import { texts, uuids } from './postgres/arrays.ts'
import type { Database } from './postgres/schema.ts'

/** Activity may be late or lost; the trades themselves must not wait for it (specification 6). */
const ACTIVITY_TIMEOUT_MS = 2_000
const PAGE = 1_000

export class LegacyImport {
  readonly #db: Kysely<Database>

  constructor(db: Kysely<Database>) {
    this.#db = db
  }

  /** The users of these names. */
  async usersNamed(usernames: readonly string[]): Promise<ReadonlyMap<string, UserId>> {
    if (usernames.length === 0) return new Map()
    const { rows } = await sql<{ id: string; username: string }>`
      select id, username from users where username = any(${texts([...new Set(usernames)])}::text[])`.execute(this.#db)
    return new Map(rows.map((row) => [row.username, userId(row.id)]))
  }

  /** Imports trades, all or none. Known ids are left unchanged. Returns the new trades. */
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

  /** Writes headlines about notable trades. Throws and writes nothing when that takes longer than two seconds. */
  async announce(trades: readonly LegacyTrade[]): Promise<number> {
    const headlines = trades.flatMap((trade) => legacyHeadline(trade) ?? [])
    if (headlines.length === 0) return 0
    return this.#db.transaction().execute(async (tx) => {
      await sql.raw(`set local statement_timeout = ${ACTIVITY_TIMEOUT_MS}`).execute(tx)
      const users = uuids([...new Set(headlines.map((headline) => headline.userId))])
      const { rows } = await sql<{ id: string; district_id: number }>`
        select id, district_id from users where id = any(${users}::uuid[])`.execute(tx)
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
