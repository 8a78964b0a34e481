/** Reads wallets and audits the ledger. Nothing here changes a balance. */
import { type Kysely, sql } from 'kysely'
import { assert, present } from '../actors/kernel/assert.ts'
import { type PositionId, positionId, type UserId } from '../actors/kernel/ids.ts'
import { lots, type Money, money, price } from '../actors/kernel/micros.ts'
import { type Instant, instant } from '../actors/kernel/world.ts'
import type { WalletAfter } from '../actors/match/messages.ts'
import { realisedPnl } from '../actors/position/position.ts'
import { exitPriceFrom, type PositionRow, PRICE_COLUMNS, type PriceRow } from './positions.ts'
import type { Database } from './postgres/schema.ts'
import type { CachedBalance, WalletCache } from './wallet-cache.ts'

export interface LedgerAudit {
  readonly wallets: number
  /** Σ of all entries of all accounts, in micros. Anything but 0 means that money has appeared or vanished. */
  readonly imbalanceMicros: number
  /** Transactions whose own entries do not sum to zero. */
  readonly unbalancedTransactions: number
  /** Wallets whose balance is not the sum of their entries. */
  readonly mismatchedWallets: number
}

/** One change of a user's balance. */
export interface LedgerEntry {
  readonly kind: 'grant' | 'margin' | 'release' | 'external_adjustment' | 'referral'
  /** Signed: negative when it left the wallet. */
  readonly amount: Money
  /** The position whose margin left, or came back with its PnL; null for other entries. */
  readonly positionId: PositionId | null
  readonly at: Instant
}

export interface LedgerQuery {
  readonly limit: number
  /** How many of the newest to skip. */
  readonly offset: number
}

/** The current state of a wallet. */
export interface WalletNow extends WalletAfter {
  /** The owner's open positions, in all matches. */
  readonly openPositions: number
}

export class Wallets {
  readonly #db: Kysely<Database>
  readonly #cache: WalletCache

  constructor(db: Kysely<Database>, cache: WalletCache) {
    this.#db = db
    this.#cache = cache
  }

  /**
   * A user's wallet as of one snapshot, or null. Unrealised PnL is what closing everything now would pay: each position
   * rounded down and never below its margin. A balance changed from outside in the fast store at the current version
   * takes precedence (specification 2.3).
   */
  async find(user: UserId): Promise<WalletNow | null> {
    // The cache first: the database is then as new or newer, never older.
    const [cached] = await this.#cache.read([user])
    const rows = await this.#db
      .selectFrom('wallets')
      .leftJoin('positions', (on) =>
        on.onRef('positions.user_id', '=', 'wallets.user_id').on('positions.closed_at', 'is', null),
      )
      .leftJoin('instruments', 'instruments.id', 'positions.instrument_id')
      .select(['balance_micros', 'wallets.margin_micros as margin_used', 'open_positions', 'version'])
      .select(['sign', 'lots_micros', 'open_micros', 'positions.margin_micros'])
      .select(PRICE_COLUMNS)
      .where('wallets.user_id', '=', user)
      .execute()
    const [wallet] = rows
    if (wallet === undefined) return null
    // A position whose instrument has no row cannot be priced. Its owner must still see the wallet.
    const priced = rows.filter(isPriced)
    return {
      balance: counts(cached, wallet.version) ? cached.balance : money(wallet.balance_micros),
      marginUsed: money(wallet.margin_used),
      unrealizedPnl: money(priced.reduce((sum, row) => sum + unrealizedPnl(row), 0)),
      openPositions: wallet.open_positions,
    }
  }

  /** The entries of a user's account, newest first. */
  async ledger(user: UserId, { limit, offset }: LedgerQuery): Promise<readonly LedgerEntry[]> {
    const rows = await this.#db
      .selectFrom('ledger_entries')
      .select(['kind', 'amount_micros', 'reference', 'at'])
      .where('user_id', '=', user)
      .orderBy('at', 'desc')
      // Entries without a marker were booked before the trades of their transaction.
      .orderBy('marker', (order) => order.desc().nullsLast())
      .orderBy('reference', 'desc')
      .limit(limit)
      .offset(offset)
      .execute()
    return rows.map(({ kind, amount_micros, reference, at }) => {
      assert(kind !== 'batch', `${user} has an entry that only the house can have`)
      return {
        kind,
        amount: money(amount_micros),
        positionId: kind === 'margin' || kind === 'release' ? positionId(reference) : null,
        at: instant(at.getTime()),
      }
    })
  }

  /** Adds up all entries. It reads the whole ledger: for operators, not for users' requests. */
  async auditLedger(): Promise<LedgerAudit> {
    const { rows } = await sql<LedgerAudit>`
      with by_user as (
        select user_id, sum(amount_micros) as total from ledger_entries where account = 'user' group by user_id
      ), by_tx as (
        select tx from ledger_entries group by tx having sum(amount_micros) <> 0
      )
      select
        (select count(*) from wallets) as wallets,
        (select coalesce(sum(amount_micros), 0)::bigint from ledger_entries) as "imbalanceMicros",
        (select count(*) from by_tx) as "unbalancedTransactions",
        (select count(*) from wallets full join by_user using (user_id)
          where balance_micros is distinct from coalesce(total, 0)) as "mismatchedWallets"`.execute(this.#db)
    return present(rows[0], 'audit')
  }
}

/** Whether a cached balance belongs to this version of the wallet, or to any. */
function counts(cached: CachedBalance | undefined, version: number): cached is CachedBalance {
  return cached !== undefined && (cached.version ?? version) === version
}

type OpenPositionRow = PriceRow & Pick<PositionRow, 'sign' | 'lots_micros' | 'open_micros' | 'margin_micros'>

/** Whether the left joins have found a position and its instrument. */
const isPriced = <Row extends { readonly [Key in keyof OpenPositionRow]: OpenPositionRow[Key] | null }>(
  row: Row,
): row is Row & OpenPositionRow => row.sign !== null && row.price_micros !== null

function unrealizedPnl(row: OpenPositionRow): number {
  const position = {
    direction: row.sign === 1 ? 'long' : 'short',
    lots: lots(row.lots_micros),
    openPrice: price(row.open_micros),
    margin: money(row.margin_micros),
  } as const
  return realisedPnl(position, exitPriceFrom(row, position))
}
