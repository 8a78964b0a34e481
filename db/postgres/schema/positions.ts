/** Rows of positions, account events and stored answers. */
import type { ColumnType, Generated } from 'kysely'
import type { Purse } from '../../../actors/kernel/purse.ts'
import type { VoidReason } from '../../../actors/position/position.ts'
import type { Timestamp } from './columns.ts'

export interface PositionTables {
  positions: PositionsTable
  /** Those of matches that are history (db/archive.ts). */
  positions_archive: ArchivedPositionsTable
  /** A view of both. Archived positions have no stored answers. */
  all_positions: PositionsTable
  account_events: AccountEventsTable
  position_voids: PositionVoidsTable
  command_results: CommandResultsTable
}

export interface PositionsTable {
  id: string
  user_id: string
  purse: Purse
  match_id: number
  instrument_id: string
  /** +1 long, −1 short. */
  sign: number
  lots_micros: number
  open_micros: number
  open_base_micros: number
  margin_micros: number
  stop_loss_micros: number | null
  take_profit_micros: number | null
  opened_at: Timestamp
  closable_at: Timestamp
  /** The loss at the last warning, in per cent of the margin. */
  warned: Generated<0 | 50 | 80>
  close_micros: number | null
  close_base_micros: number | null
  pnl_micros: number | null
  closed_at: Timestamp | null
  closed_by: 'user' | 'stop_loss' | 'take_profit' | 'washout' | 'full_time' | 'void' | 'admin' | null
  void_reason: VoidReason | null
  /** What an operator tells the owner about a void position. */
  void_note: string | null
  /** The markers of the opening and the close in the owner's account log. */
  opened_marker: number
  closed_marker: number | null
  /** The position that this is a closed part of. */
  part_of: string | null
  /** The levels it was opened with. */
  opened_stop_micros: number | null
  opened_take_micros: number | null
  /**
   * The stored answer that is repeated to a retry of the opening: the digest of the request, and the price and wallet
   * after it. Null when the position was opened without a key.
   */
  answer_fingerprint: string | null
  answer_price_micros: number | null
  answer_exit_micros: number | null
  answer_balance_micros: number | null
  answer_margin_micros: number | null
  answer_unrealized_micros: number | null
  answer_locked_micros: Generated<number | null>
  /** How news has moved the fills (actors/position/moved.ts); null for most. */
  moved: ColumnType<unknown, string | null | undefined, string | null>
  /** Until when news may move a close; null without protection. */
  movable_until: ColumnType<Date | null, Date | null | undefined, Date | null>
}

/** All are closed. */
export type ArchivedPositionsTable = Omit<PositionsTable, `answer_${string}` | 'movable_until'>

/** A position that an operator voids. */
export interface PositionVoidsTable {
  position_id: string
  /** Derived from the idempotency key of the request, if it had one. */
  command_id: string | null
  by_id: string
  reason: string
  at: Timestamp
  /** Of one that was closed: what it had realised, and what of that its wallet could not give back. */
  pnl_micros: number | null
  shortfall_micros: Generated<number>
}

/** The account events that are neither an opening nor a close; those are in the row of their position. */
export interface AccountEventsTable {
  user_id: string
  /** Counts all of the user's events from 1. Openings and closes fill the gaps. */
  marker: number
  kind: 'changed' | 'margin_warning'
  position_id: string
  /** Levels and warning after the event. */
  stop_loss_micros: number | null
  take_profit_micros: number | null
  warned: 0 | 50 | 80
  at: Timestamp
}

/** Stored answers of keyed commands that opened nothing. The answer to an opening is in the row of its position. */
export interface CommandResultsTable {
  /** src/http/command-ids.ts */
  id: string
  user_id: string
  fingerprint: string
  /** The part of the result that is stored nowhere else, as JSON (db/command-results.ts). */
  result: string
  balance_micros: number
  margin_micros: number
  unrealized_micros: number
  locked_micros: Generated<number | null>
  at: Timestamp
}
