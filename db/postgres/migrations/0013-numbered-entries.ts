/**
 * A third less of PostgreSQL's work for a trade: a position opened under a key has the key's id and the answer in its own row,
 * and ledger entries are numbered like the account's events, which makes one index do for history, ledger and account log.
 */
import { type Kysely, sql } from 'kysely'
import { COMMIT_BATCH_SQL } from './commit-batch.ts'

export async function up(db: Kysely<unknown>): Promise<void> {
  await ledger(db)
  await commandResults(db)
  await positions(db)
  await sql`drop function if exists commit_batch`.execute(db)
  await sql.raw(COMMIT_BATCH_SQL).execute(db)
}

async function ledger(db: Kysely<unknown>): Promise<void> {
  await sql`alter table ledger_entries add column marker bigint check (marker > 0)`.execute(db)
  await sql`
    update ledger_entries e set marker = case e.kind when 'margin' then p.opened_marker else p.closed_marker end
      from positions p where p.id = e.reference and e.kind in ('margin', 'release')`.execute(db)
  await sql`drop index ledger_entries_once`.execute(db)
  // Everything of a user's, and his trades in the order in which they were committed.
  await sql`create unique index ledger_entries_user on ledger_entries (user_id, marker)`.execute(db)
  // A trade's marker is its own; of anything else, this is why it is not booked twice.
  await sql`
    create unique index ledger_entries_once on ledger_entries (user_id, reference, kind) nulls not distinct
     where marker is null`.execute(db)
}

async function commandResults(db: Kysely<unknown>): Promise<void> {
  await sql`alter table command_results drop constraint command_results_pkey, add column id uuid`.execute(db)
  // As src/http/command-ids.ts has it.
  await sql`
    update command_results r
       set id = (overlay(overlay(d.digest placing '8' from 13) placing
                 substr('89ab89ab89ab89ab', 1 + ('x' || substr(d.digest, 17, 1))::bit(4)::integer, 1) from 17))::uuid,
           result = case when result like '{"refusal"%' then result
                         else ((result::jsonb - 'quote') || jsonb_build_object('price', result::jsonb -> 'quote' -> 'price'))::text
                    end
      from (select user_id, route, key,
                   left(encode(sha256(convert_to(user_id::text || ' ' || route || ' ' || key, 'UTF8')), 'hex'), 32) as digest
              from command_results) d
     where d.user_id = r.user_id and d.route = r.route and d.key = r.key`.execute(db)
  await sql`alter table command_results drop column route, drop column key, add primary key (id)`.execute(db)
}

async function positions(db: Kysely<unknown>): Promise<void> {
  await sql`drop view account_log`.execute(db)
  await sql`drop index positions_opened, positions_closed`.execute(db)
  // What a retry of the opening is told: of one that had no key, or an older one, nothing.
  await sql`
    alter table positions
      add column answer_fingerprint text,
      add column answer_price_micros bigint,
      add column answer_balance_micros bigint,
      add column answer_margin_micros bigint,
      add column answer_unrealized_micros bigint,
      add check ((answer_fingerprint is null) = (answer_price_micros is null))`.execute(db)
}
