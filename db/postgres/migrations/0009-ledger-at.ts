/** Lets the newest entries of the ledger be found by their time: entries are only ever added, so ranges of pages will do. */
import { type Kysely, sql } from 'kysely'

export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`create index ledger_entries_at on ledger_entries using brin (at) with (autosummarize = on)`.execute(db)
}
