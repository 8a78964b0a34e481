/** Rows of wallets and the ledger. */
import type { ColumnType, Generated } from 'kysely'
import type { Purse } from '../../../actors/kernel/purse.ts'
import type { Timestamp } from './columns.ts'

export interface MoneyTables {
  wallets: WalletsTable
  ledger_entries: LedgerEntriesTable
  unpaid_closes: UnpaidClosesTable
  ledger_closed: LedgerClosedTable
  closed_balances: ClosedBalancesTable
  detached_months: DetachedMonthsTable
  detached_balances: DetachedBalancesTable
}

/** One row: the sums of the ledger up to an instant. */
export interface LedgerClosedTable {
  until: Timestamp
  entries: Generated<number>
  unbalanced: Generated<number>
  main_micros: Generated<number>
  practice_micros: Generated<number>
  leagues_micros: Generated<number>
}

/** The sum of a wallet's entries up to that instant. */
export interface ClosedBalancesTable {
  user_id: string
  purse: Purse
  amount_micros: number
}

/** What a month of the ledger adds up to that is detached (db/months.ts). */
export interface DetachedMonthsTable {
  month: string
  unbalanced: number
  main_micros: number
  practice_micros: number
  leagues_micros: number
}

/** The sum of a wallet's entries in such a month. */
export interface DetachedBalancesTable extends ClosedBalancesTable {
  month: string
}

/** A close whose pay would have taken the wallet past its limit, or a corrupt position, until an operator pays it. */
export interface UnpaidClosesTable {
  position_id: string
  user_id: string
  purse: Purse
  amount_micros: number
  at: Timestamp
}

export interface WalletsTable {
  user_id: string
  purse: Purse
  balance_micros: number
  /** Σ margin of the open positions. */
  margin_micros: Generated<number>
  open_positions: Generated<number>
  /** Grows with every change of the balance. The cached balance carries it, so that a late writer cannot win. */
  version: Generated<number>
  /** The marker of the user's latest account event in any purse. Counted in the main wallet, 0 in all others. */
  events: Generated<number>
  /** Whether its user is frozen: then it pays for no opening. */
  frozen: Generated<boolean>
  /** A copy of the user's own limits (see db/own-limits.ts); null for none. */
  limits: ColumnType<unknown, string | null | undefined, string | null>
  /** The last day with a trade, in days since 1970 (UTC), and what it has won and lost in all. */
  day: Generated<number>
  day_result_micros: Generated<number>
}

/** What an entry of a user is for. The house books the trades of a commit as one `batch`. */
export type LedgerKind =
  | 'grant'
  | 'margin'
  | 'release'
  | 'external_adjustment'
  | 'referral'
  | 'refill'
  | 'moved'
  | 'void'
  | 'void_shortfall'

export interface LedgerEntriesTable {
  /** The transaction whose entries sum to zero: one batch of trades, one grant. */
  tx: string
  account: 'user' | 'house'
  user_id: string | null
  /** Every transaction sums to zero in each purse. */
  purse: Purse
  amount_micros: number
  kind: LedgerKind | 'batch'
  /**
   * What the entry is for: a position, a new user, a referee, or else the transaction. There is one entry per user and
   * marker, or else per user, purse, reference and kind, so nothing is booked twice.
   */
  reference: string
  /** Of the opening or close that the entry belongs to. Null for everything else. */
  marker: number | null
  at: Timestamp
}
