/** Rows of wallets and the ledger. */
import type { Generated } from 'kysely'
import type { Timestamp } from './columns.ts'

export interface MoneyTables {
  wallets: WalletsTable
  ledger_entries: LedgerEntriesTable
}

export interface WalletsTable {
  user_id: string
  balance_micros: number
  /** Σ margin of the open positions. */
  margin_micros: Generated<number>
  open_positions: Generated<number>
  /** Grows with every change. The cached balance carries it, so that a late writer cannot win. */
  version: Generated<number>
  /** The marker of the user's latest account event. */
  events: Generated<number>
}

export interface LedgerEntriesTable {
  /** The transaction whose entries sum to zero: one batch of trades, one grant. */
  tx: string
  account: 'user' | 'house'
  user_id: string | null
  amount_micros: number
  kind: 'grant' | 'margin' | 'release' | 'external_adjustment' | 'batch' | 'referral'
  /**
   * What the entry is for: a position, a new user, a referee, or else the transaction. There is one entry per user and
   * marker, or else per user, reference and kind, so nothing is booked twice.
   */
  reference: string
  /** Of the opening or close that the entry belongs to. Null for everything else. */
  marker: number | null
  at: Timestamp
}
