/** Settings with the number that counts their changes, and the log of what operators did. */
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
}
