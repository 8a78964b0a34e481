/** Settings with the number that counts their changes, the log of what operators did, and what replays are to do. */
import { type Kysely, sql } from 'kysely'

export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    create table settings (
      key text collate "C" primary key,
      value jsonb not null,
      updated_at timestamptz not null,
      updated_by uuid
    )`.execute(db)

  await sql`
    create table settings_version (
      id boolean primary key default true check (id),
      version bigint not null
    )`.execute(db)
  await sql`insert into settings_version (version) values (0)`.execute(db)

  // Append only. No foreign key: it outlives whom it tells of.
  await sql`
    create table audit_log (
      id bigint generated always as identity primary key,
      at timestamptz not null,
      actor_id uuid,
      action text not null,
      subject text not null,
      before jsonb,
      after jsonb
    )`.execute(db)

  // What is unfinished is looked at once a second by every process; what is finished is kept for its fixture number.
  await sql`
    alter table replays
      add column slot integer not null default 0 check (slot >= 0),
      add column demo boolean not null default false,
      add column ending text check (ending in ('full_time', 'void'))`.execute(db)
  await sql`create unique index replays_cast on replays (script, slot) where state = 'running'`.execute(db)
}
