/** Fewer indexes and bytes a trade: the ledger refers by id, and the outbox is text. */
import { type Kysely, sql } from 'kysely'

export async function up(db: Kysely<unknown>): Promise<void> {
  await ledger(db)
  await outbox(db)
}

async function ledger(db: Kysely<unknown>): Promise<void> {
  await sql`drop index ledger_entries_user`.execute(db)
  // References were texts like `open:<position>`, and said who adopted what at which version.
  await sql`
    alter table ledger_entries drop constraint ledger_entries_pkey,
      alter column reference type uuid using (
        case when kind in ('margin', 'release') then position_id
             when kind = 'batch' then tx
             when kind = 'external_adjustment' then md5(reference)::uuid
             else right(reference, 36)::uuid end)`.execute(db)
  await sql`alter table ledger_entries drop column id, drop column position_id`.execute(db)
  // Finds a user's entries, and is why nothing is booked twice: a second index would cost each trade as much as its row.
  await sql`
    create unique index ledger_entries_once on ledger_entries (user_id, reference, kind) nulls not distinct`.execute(db)
}

async function outbox(db: Kysely<unknown>): Promise<void> {
  // Only ever read whole: as text it costs half of what taking it apart does.
  await sql`alter table outbox alter column events type json using events::json`.execute(db)
  // A batch of 500 trades is 90 kB: pglz takes a millisecond to compress it, lz4 a tenth. Not every server was built with it.
  await sql`
    do $$ begin
      alter table outbox alter column events set compression lz4;
    exception when feature_not_supported then null;
    end $$`.execute(db)
}
