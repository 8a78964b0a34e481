/** Refills of wallets: the only money that a user gets for the asking. No board counts it. */
import { type Kysely, sql, type Transaction } from 'kysely'
import type { UserId } from '../actors/kernel/ids.ts'
import { REFILL_BELOW, STARTING_BALANCE } from '../actors/kernel/limits.ts'
import { type Money, money } from '../actors/kernel/micros.ts'
import type { CommonPurse } from '../actors/kernel/purse.ts'
import { HOUR_MS, type Instant, instant, type World } from '../actors/kernel/world.ts'
import { adopted } from './adoption.ts'
import type { Database } from './postgres/schema.ts'
import type { WalletCache } from './wallet-cache.ts'

const WEEK_MS = 7 * 24 * HOUR_MS

export type Refill =
  /** The wallet holds the starting balance, or more than that already: then the amount is 0. */
  | { readonly kind: 'refilled'; readonly amount: Money }
  /** Something is open. Nothing was changed. */
  | { readonly kind: 'positions_open'; readonly openPositions: number }
  /** The main wallet has enough to go on. Nothing was changed. */
  | { readonly kind: 'not_ruined'; readonly balance: Money }
  /** The main wallet was refilled within a week. Nothing was changed. */
  | { readonly kind: 'too_soon'; readonly nextAt: Instant }
  /** There is no such user. */
  | { readonly kind: 'unknown' }

interface Ready {
  readonly kind: 'ready'
  readonly balance: number
  readonly version: number
}

export class Refills {
  readonly #db: Kysely<Database>
  readonly #cache: WalletCache
  readonly #world: Pick<World, 'now' | 'newId'>

  constructor(db: Kysely<Database>, cache: WalletCache, world: Pick<World, 'now' | 'newId'>) {
    this.#db = db
    this.#cache = cache
    this.#world = world
  }

  /**
   * Brings a user's practice wallet up to the starting balance, paid by the house, while none of its positions is
   * open. A repetition changes nothing, and of several at once one pays: the wallet is locked.
   */ // D11
  async practice(user: UserId): Promise<Refill> {
    return this.#db.transaction().execute(async (tx): Promise<Refill> => {
      const wallet = await this.#lock(tx, user, 'practice')
      if (wallet.kind !== 'ready') return wallet
      const amount = money(Math.max(0, STARTING_BALANCE - wallet.balance))
      if (amount > 0) await this.#pay(tx, { user, purse: 'practice', wallet, booked: wallet.balance, amount })
      return { kind: 'refilled', amount }
    })
  }

  /**
   * The same for the main wallet, once a week, and only below 100 units: a floor under ruin. A balance that was changed
   * from outside counts, and is adopted as in a commit.
   */ // D14
  async main(user: UserId): Promise<Refill> {
    const done = await this.#db.transaction().execute(async (tx) => {
      const wallet = await this.#lock(tx, user, 'main')
      if (wallet.kind !== 'ready') return { refill: wallet, after: null }
      const stored = { balance_micros: wallet.balance, version: wallet.version }
      const outside = await adopted(tx, { cache: this.#cache, world: this.#world, userId: user }, stored)
      const balance = wallet.balance + outside.micros
      if (balance >= REFILL_BELOW)
        return { refill: { kind: 'not_ruined', balance: money(balance) } as const, after: null }
      const last = await this.#last(tx, user)
      const nextAt = instant(last + WEEK_MS)
      if (nextAt > this.#world.now()) return { refill: { kind: 'too_soon', nextAt } as const, after: null }
      const amount = money(STARTING_BALANCE - balance)
      await outside.audit()
      await this.#pay(tx, { user, purse: 'main', wallet, booked: balance, amount, outside: outside.micros })
      const after = { userId: user, balance: STARTING_BALANCE, version: wallet.version + 1 }
      return { refill: { kind: 'refilled', amount } as const, after }
    })
    if (done.after !== null) this.#cache.write([done.after])
    return done.refill
  }

  /** Locks a wallet of which nothing is open. */
  async #lock(
    tx: Transaction<Database>,
    user: UserId,
    purse: CommonPurse,
  ): Promise<Ready | Exclude<Refill, { kind: 'refilled' }>> {
    const wallet = await tx
      .selectFrom('wallets')
      .select(['balance_micros', 'open_positions', 'version'])
      .where('user_id', '=', user)
      .where('purse', '=', purse)
      .forNoKeyUpdate()
      .executeTakeFirst()
    if (wallet === undefined) return { kind: 'unknown' }
    if (wallet.open_positions > 0) return { kind: 'positions_open', openPositions: wallet.open_positions }
    return { kind: 'ready', balance: wallet.balance_micros, version: wallet.version }
  }

  /** When the main wallet was last refilled, in milliseconds; long ago if never. */
  async #last(tx: Transaction<Database>, user: UserId): Promise<number> {
    const { rows } = await sql<{ at: Date | null }>`
      select max(at) as at from ledger_entries
       where user_id = ${user}::uuid and purse = 'main' and kind = 'refill' and marker is null`.execute(tx)
    return rows[0]?.at?.getTime() ?? 0
  }

  async #pay(
    tx: Transaction<Database>,
    paid: {
      readonly user: UserId
      readonly purse: CommonPurse
      readonly wallet: Ready
      readonly booked: number
      readonly amount: Money
      readonly outside?: number
    },
  ): Promise<void> {
    const { user, purse, wallet, booked, amount, outside = 0 } = paid
    await tx
      .updateTable('wallets')
      .set({ balance_micros: booked + amount, version: wallet.version + 1 })
      .where('user_id', '=', user)
      .where('purse', '=', purse)
      .execute()
    const book = (kind: 'refill' | 'external_adjustment', by: number) => {
      const id = this.#world.newId()
      const entry = { tx: id, purse, kind, reference: id, at: new Date(this.#world.now()) }
      return [
        { ...entry, account: 'user' as const, user_id: user, amount_micros: by },
        { ...entry, account: 'house' as const, amount_micros: -by },
      ]
    }
    await tx
      .insertInto('ledger_entries')
      .values([...(outside === 0 ? [] : book('external_adjustment', outside)), ...book('refill', amount)])
      .execute()
  }
}
