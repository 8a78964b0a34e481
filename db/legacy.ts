/** Legacy trades: reads a user's, and imports those of a dump. */
import { type Kysely, type Selectable, sql } from 'kysely'
import { present } from '../actors/kernel/assert.ts'
import { type DistrictId, districtId, type UserId, userId } from '../actors/kernel/ids.ts'
import { lots, price } from '../actors/kernel/micros.ts'
import { instant } from '../actors/kernel/world.ts'
import { legacyHeadline, type LegacyTrade } from '../actors/community/legacy.ts'
import { insertHeadlines } from './announcements.ts'
import { texts, uuids } from './postgres/arrays.ts'
import type { Database } from './postgres/schema.ts'
import type { LegacyTradesTable } from './postgres/schema/community.ts'

/** Activity may be late or lost; the trades themselves must not wait for it (specification 6). */
const ACTIVITY_TIMEOUT_MS = 2_000
const PAGE = 1_000

export interface LegacyQuery {
  /** The trades after the one with this time in ms and this id. */
  readonly after?: readonly [at: number, id: string] | undefined
  readonly limit: number
  readonly offset: number
}

export class Legacy {
  readonly #db: Kysely<Database>
  readonly #reads: Kysely<Database>

  /** `reads` may be seconds old. */
  constructor(db: Kysely<Database>, reads = db) {
    this.#db = db
    this.#reads = reads
  }

  /** A page of a user's trades, newest first, and their total number. */
  async trades(
    user: UserId,
    { after, limit, offset }: LegacyQuery,
  ): Promise<{ trades: readonly LegacyTrade[]; total: number }> {
    const of = this.#reads.selectFrom('legacy_trades').where('user_id', '=', user)
    const [rows, { total }] = await Promise.all([
      of
        .selectAll()
        .$if(after !== undefined, (trades) =>
          trades.where((trade) => {
            const at = new Date(after?.[0] ?? 0)
            return trade.or([
              trade('at', '<', at),
              trade.and([trade('at', '=', at), trade('id', '>', after?.[1] ?? '')]),
            ])
          }),
        )
        .orderBy('at', 'desc')
        .orderBy('id')
        .limit(limit)
        .offset(offset)
        .execute(),
      of.select((row) => row.fn.countAll<number>().as('total')).executeTakeFirstOrThrow(),
    ])
    return { trades: rows.map(tradeFrom), total }
  }

  /** All of a user's trades, oldest first. */
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

const tradeFrom = (row: Selectable<LegacyTradesTable>): LegacyTrade => ({
  id: row.id,
  userId: userId(row.user_id),
  player: row.player,
  side: row.side,
  quantity: lots(row.quantity_micros),
  price: price(row.price_micros),
  at: instant(row.at.getTime()),
})
