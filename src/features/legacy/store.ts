/** Reads a user's trades of the former share model. */
import { type Kysely, type Selectable, sql } from 'kysely'
import { type UserId, userId } from '../../../actors/kernel/ids.ts'
import { lots, price } from '../../../actors/kernel/micros.ts'
import { instant } from '../../../actors/kernel/world.ts'
import type { LegacyTrade } from '../../../actors/community/legacy.ts'
import type { Database } from '../../../db/postgres/schema.ts'
import type { LegacyTradesTable } from '../../../db/postgres/schema/community.ts'

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
        .$if(after !== undefined, (trades) => {
          const [at = 0, id = ''] = after ?? []
          return trades.where(sql<boolean>`(at, length(id), id) < (${new Date(at)}, length(${id}::text), ${id})`)
        })
        .orderBy('at', 'desc')
        .orderBy(LENGTH, 'desc')
        .orderBy('id', 'desc')
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
      .orderBy(LENGTH)
      .orderBy('id')
      .execute()
    return rows.map(tradeFrom)
  }
}

/** Of one time the shorter number is the earlier: ids are texts. */
const LENGTH = sql`length(id)`

const tradeFrom = (row: Selectable<LegacyTradesTable>): LegacyTrade => ({
  id: row.id,
  userId: userId(row.user_id),
  player: row.player,
  side: row.side,
  quantity: lots(row.quantity_micros),
  price: price(row.price_micros),
  at: instant(row.at.getTime()),
})
