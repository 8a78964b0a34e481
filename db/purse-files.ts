/** A user's purses as an operator sees them. */
import type { Kysely } from 'kysely'
import type { UserId } from '../actors/kernel/ids.ts'
import type { Purse } from '../actors/kernel/purse.ts'
import type { ListedPosition, Positions } from './positions.ts'
import { inSnapshot } from './postgres/snapshot.ts'
import type { Database } from './postgres/schema.ts'
import type { LedgerEntry, WalletNow, Wallets } from './wallets.ts'

export interface PurseFile {
  readonly wallet: WalletNow
  /** Open and closed, the newest. */
  readonly positions: readonly ListedPosition[]
  /** The newest entries. */
  readonly ledger: readonly LedgerEntry[]
}

interface Readers {
  readonly wallets: Pick<Wallets, 'find' | 'ledger'>
  readonly positions: Pick<Positions, 'list'>
}

export class PurseFiles {
  readonly #db: Kysely<Database>
  readonly #readersOf: (db: Kysely<Database>) => Readers

  constructor(db: Kysely<Database>, readersOf: (db: Kysely<Database>) => Readers) {
    this.#db = db
    this.#readersOf = readersOf
  }

  /** All of one moment, at most `limit` rows of each list; null without a wallet in the purse. */ // C7
  find(user: UserId, purse: Purse, limit: number): Promise<PurseFile | null> {
    return inSnapshot(this.#db, async (snapshot) => {
      const { wallets, positions } = this.#readersOf(snapshot)
      const newest = { purse, limit, offset: 0 }
      const wallet = await wallets.find(user, purse)
      if (wallet === null) return null
      const held = await positions.list(user, { ...newest, status: 'all' })
      return { wallet, positions: held, ledger: await wallets.ledger(user, newest) }
    })
  }
}
