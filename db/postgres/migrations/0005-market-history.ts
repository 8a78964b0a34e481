/** What was traded, by player and commit; the fixtures that are still to come; how far the upkeep of old rows has got. */
import { type Kysely, sql } from 'kysely'

export async function up(db: Kysely<unknown>): Promise<void> {
  // The tape: one row per player and commit, not per trade, so that writing it costs next to nothing. `traded_micros`
  // counts on from row to row, which makes the volume of any stretch of time the difference of two rows.
  await sql`
    create table tape (
      instrument_id uuid not null,
      at timestamptz not null,
      traded_micros bigint not null check (traded_micros > 0),
      trades text not null,
      primary key (instrument_id, at, traded_micros)
    )`.execute(db)

  // Old rows are found by time alone, and lie together: a block range index is all it takes.
  await sql`create index ticks_at on ticks using brin (at)`.execute(db)
  await sql`create index tape_at on tape using brin (at)`.execute(db)
  await sql`create index account_events_at on account_events using brin (at)`.execute(db)

  // What the provider's calendar says of matches that nobody has had to run yet.
  await sql`
    create table fixtures (
      id bigint primary key check (id between 1 and 4294967295),
      starts_at timestamptz not null,
      info jsonb not null
    )`.execute(db)
  await sql`create index fixtures_starts_at on fixtures (starts_at)`.execute(db)

  await sql`
    create table upkeep (
      task text primary key,
      done_until timestamptz not null
    )`.execute(db)

  await sql`update matches set info = info || '{"squad": []}'::jsonb where not info ? 'squad'`.execute(db)
}
