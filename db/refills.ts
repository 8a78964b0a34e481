/** Refills of practice wallets: the only money that a user gets for the asking. */
import type { Kysely } from 'kysely'
import type { UserId } from '../actors/kernel/ids.ts'
import { STARTING_BALANCE } from '../actors/kernel/limits.ts'
import { type Money, money } from '../actors/kernel/micros.ts'
import type { World } from '../actors/kernel/world.ts'
import type { Database } from './postgres/schema.ts'
import { LOCKED } from './wallets.ts'

export type Refill =
  /** The wallet holds the starting balance, or more than that already: then the amount is 0. */
  | { readonly kind: 'refilled'; readonly amount: Money }
  /** Something is open. Nothing was changed. */
  | { readonly kind: 'positions_open'; readonly openPositions: number }
  /** Late news may still correct what was closed. Nothing was changed. */
  | { readonly kind: 'proceeds_locked'; readonly locked: Money }
  /** There is no such user. */
  | { readonly kind: 'unknown' }

export class Refills {
  readonly #db: Kysely<Database>
  readonly #world: Pick<World, 'now' | 'newId'>

  constructor(db: Kysely<Database>, world: Pick<World, 'now' | 'newId'>) {
    this.#db = db
    this.#world = world
  }

  /**
   * Brings a user's practice wallet up to the starting balance, paid by the house, while none of its positions is open
   * and none of its money is locked. A repetition changes nothing, and of several at once one pays: the wallet is
   * locked.
   */ // D11
  async practice(user: UserId): Promise<Refill> {
    return this.#db.transaction().execute(async (tx): Promise<Refill> => {
      const wallet = await tx
        .selectFrom('wallets')
        .select(['balance_micros', 'open_positions', 'version', LOCKED])
        .where('user_id', '=', user)
        .where('purse', '=', 'practice')
        .forNoKeyUpdate()
        .executeTakeFirst()
      if (wallet === undefined) return { kind: 'unknown' }
      if (wallet.open_positions > 0) return { kind: 'positions_open', openPositions: wallet.open_positions }
      if (wallet.locked > 0) return { kind: 'proceeds_locked', locked: money(wallet.locked) }
      const amount = money(Math.max(0, STARTING_BALANCE - wallet.balance_micros))
      if (amount === 0) return { kind: 'refilled', amount }
      await tx
        .updateTable('wallets')
        .set({ balance_micros: STARTING_BALANCE, version: wallet.version + 1 })
        .where('user_id', '=', user)
        .where('purse', '=', 'practice')
        .execute()
      const id = this.#world.newId()
      const entry = {
        tx: id,
        purse: 'practice',
        kind: 'refill',
        reference: id,
        at: new Date(this.#world.now()),
      } as const
      await tx
        .insertInto('ledger_entries')
        .values([
          { ...entry, account: 'user', user_id: user, amount_micros: amount },
          { ...entry, account: 'house', amount_micros: -amount },
        ])
        .execute()
      return { kind: 'refilled', amount }
    })
  }
}
