/** The rows of webhooks. */
import type { Generated, Kysely } from 'kysely'
import type { DefaultTimestamp, Timestamp } from '../../../db/postgres/schema/columns.ts'
import type { Database } from '../../../db/postgres/schema.ts'

/** A webhook and how far it has got. */
export interface WebhooksTable {
  id: string
  url: string
  types: string[]
  secret_digest: string
  state: Generated<'active' | 'paused' | 'disabled'>
  created_at: Timestamp
  /** The place in the event stream: a range, a row of its match, and events of that row. */
  position: number
  seq: number
  read: number
  /** The id of what was sent last and is not known to have arrived, and the place after it. */
  plan: string | null
  until_position: number | null
  until_seq: number | null
  until_read: number | null
  attempts: Generated<number>
  next_at: DefaultTimestamp
  /** The process that works on it, until this time. */
  lease: string | null
  leased_until: DefaultTimestamp
  last_success_at: Timestamp | null
  failing_since: Timestamp | null
  last_error: string | null
}

/** The database with the table of webhooks. */
export const withWebhooks = (db: Kysely<Database>) => db.withTables<{ webhooks: WebhooksTable }>()
