/** The rows of uploads. */
import type { Kysely } from 'kysely'
import type { Json, Timestamp } from '../../../db/postgres/schema/columns.ts'
import type { Database } from '../../../db/postgres/schema.ts'

interface UploadsTable {
  name: string
  id: string
  /** A `RecordingSummary`. */
  summary: Json
  data: Uint8Array
  at: Timestamp
  by_id: string
}

/** The database with the table of uploads. */
export const withUploads = (db: Kysely<Database>) => db.withTables<{ uploads: UploadsTable }>()
