/** Users' own limits: reading and changing them. Commits obey the copies in the wallets. */
import { type Kysely, sql, type Transaction } from 'kysely'
import type { UserId } from '../actors/kernel/ids.ts'
import {
  changeLimits,
  NO_LIMITS,
  type OwnBounds,
  type OwnLimits,
  readBounds,
  readLimits,
  type WantedLimits,
} from '../actors/kernel/own-limits.ts'
import type { Purse } from '../actors/kernel/purse.ts'
import type { World } from '../actors/kernel/world.ts'
import type { AuditLog } from './audit-log.ts'
import { rule } from './postgres/rules.ts'
import type { Database } from './postgres/schema.ts'

/** A user's limits, and what counts against them today in the main purse. */
export interface LimitsNow {
  readonly limits: OwnLimits
  readonly bounds: OwnBounds
}

export class OwnLimitsStore {
  readonly #db: Kysely<Database>
  readonly #world: Pick<World, 'now'>
  readonly #audit: AuditLog

  constructor(db: Kysely<Database>, world: Pick<World, 'now'>, audit: AuditLog) {
    this.#db = db
    this.#world = world
    this.#audit = audit
  }

  /** Null for an unknown user. */
  async find(user: UserId, db: Kysely<Database> = this.#db): Promise<LimitsNow | null> {
    const now = this.#world.now()
    const row = await db
      .selectFrom('users')
      .innerJoin('wallets', 'wallets.user_id', 'users.id')
      .select('users.limits')
      .select(
        sql`${rule('own_bounds')}(coalesce(users.limits, '{}'), day, day_result_micros,
          margin_micros, ${now}::bigint)`.as('bounds'),
      )
      .where('users.id', '=', user)
      .where('purse', '=', 'main')
      .executeTakeFirst()
    if (row === undefined) return null
    return { limits: readLimits(row.limits, 'limits'), bounds: readBounds(row.bounds, 'bounds') }
  }

  /**
   * Changes the limits that are named; the others stay. It binds every opening that is not committed yet, in every
   * match and process: a commit locks the wallets that this changes. Null for an unknown user.
   */ // L1, L3
  async change(user: UserId, wanted: WantedLimits): Promise<LimitsNow | null> {
    return this.#db.transaction().execute(async (tx) => {
      const row = await tx
        .selectFrom('users')
        .select('limits')
        .where('id', '=', user)
        .where('erased_at', 'is', null)
        .forNoKeyUpdate()
        .executeTakeFirst()
      if (row === undefined) return null
      const before = readLimits(row.limits, 'limits')
      const after = changeLimits(before, wanted, this.#world.now())
      await writeLimits(tx, user, after)
      await this.#audit.record({ actor: user, action: 'limits.set', subject: user, before, after }, tx)
      return this.find(user, tx)
    })
  }
}

/** Writes a user's limits to the user and the wallets. The limit of losses is for the main purse alone. */
async function writeLimits(tx: Transaction<Database>, user: UserId, limits: OwnLimits): Promise<void> {
  await tx
    .updateTable('users')
    .set({ limits: JSON.stringify(limits) })
    .where('id', '=', user)
    .execute()
  await tx.selectFrom('wallets').select('purse').where('user_id', '=', user).orderBy('purse').forNoKeyUpdate().execute()
  const own = tx.updateTable('wallets').where('user_id', '=', user)
  await own
    .set({ limits: limitsOf('main', limits) })
    .where('purse', '=', 'main')
    .execute()
  // All others have the same.
  await own
    .set({ limits: limitsOf('practice', limits) })
    .where('purse', '<>', 'main')
    .execute()
}

/** A wallet's copy of its owner's limits. */
export const limitsOf = (purse: Purse, limits: OwnLimits): string =>
  JSON.stringify(purse === 'main' ? limits : { ...limits, dailyLoss: NO_LIMITS.dailyLoss })
