/** Rows of the outbox and of how far the reactions to it have got. */
import type { Generated } from 'kysely'
import type { DefaultTimestamp, Json, Timestamp } from './columns.ts'

export interface ReactionTables {
  outbox: OutboxTable
  /** Those of matches that are history (db/archive.ts). */
  outbox_archive: OutboxTable
  /** A view of both. */
  all_outbox: OutboxTable
  outbox_cursors: OutboxCursorsTable
  outbox_failures: OutboxFailuresTable
  event_ranges: EventRangesTable
  event_matches: EventMatchesTable
  event_head: EventHeadTable
}

/** The events of a commit that have reactions. */
export interface OutboxTable {
  match_id: number
  /** Counts the match's rows from 1, without gaps. */
  seq: number
  at: Timestamp
  /** `CommittedEvent`s, in order. */
  events: Json
}

/** How far the reactions to a match have got. */
export interface OutboxCursorsTable {
  match_id: number
  seq: Generated<number>
  /** Failed attempts at the row after `seq`. */
  attempts: Generated<number>
  retry_at: DefaultTimestamp
  /** The match that has waited longest is next. */
  taken_at: DefaultTimestamp
  /** The match has settled, and all its reactions are done. */
  finished: Generated<boolean>
}

/** Rows of the outbox whose reactions failed too often. */
export interface OutboxFailuresTable {
  match_id: number
  seq: number
  error: string
  attempts: number
  at: Timestamp
}

/** Rows of the outbox in the order of the event stream. */
export interface EventRangesTable {
  /** From 1, without gaps. */
  position: number
  match_id: number
  from_seq: number
  to_seq: number
}

/** The last row of a match that has a position. */
export interface EventMatchesTable {
  match_id: number
  seq: number
}

/** One row: the last position of the event stream. */
export interface EventHeadTable {
  position: number
  swept_at: Timestamp
}
