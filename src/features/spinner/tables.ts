/** The rows of the spinner. */
import type { Kysely } from 'kysely'
import type { Json, Timestamp } from '../../../db/postgres/schema/columns.ts'
import type { Database } from '../../../db/postgres/schema.ts'

export interface SpinnerWeeksTable {
  /** `2026-W21`. */
  week: string
  starts_at: Timestamp
  /** Null, like its hash, when the week ended without one. */
  seed: string | null
  /** SHA-256 of the seed, shown from `published_at` on. */
  seed_hash: string | null
  published_at: Timestamp | null
  /**
   * Set when the week is decided: the users in the draw, only the winner if there was no tie, none if no user traded.
   */
  candidates: Json | null
  entropy: Json | null
  winner_id: string | null
  decided_at: Timestamp | null
}

/** The database with the tables of the spinner. */
export const withSpinner = (db: Kysely<Database>) => db.withTables<{ spinner_weeks: SpinnerWeeksTable }>()
