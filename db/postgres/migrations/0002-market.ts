/** Matches, who may write them, their instruments, and the prices these have had. */
import { type Kysely, sql } from 'kysely'

export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    create table matches (
      id bigint primary key check (id between 1 and 4294967295),
      phase text not null,
      replay boolean not null,
      starts_at timestamptz not null,
      settled_at timestamptz,
      info jsonb not null,
      pricing jsonb not null
    )`.execute(db)
  await sql`create index matches_unsettled on matches (id) where settled_at is null`.execute(db)

  await sql`
    create table match_leases (
      match_id bigint primary key,
      owner text not null,
      epoch bigint not null check (epoch between 1 and 4294967295),
      expires_at timestamptz not null
    )`.execute(db)

  await sql`
    create table instruments (
      id uuid primary key,
      player_id bigint not null,
      name text not null,
      position text not null check (position in ('GK', 'DEF', 'MID', 'FWD')),
      side text not null check (side in ('home', 'away')),
      jersey integer,
      starter boolean not null,
      match_id bigint not null references matches,
      start_micros bigint not null check (start_micros > 0),
      slope_micros bigint not null check (slope_micros > 0),
      base_micros bigint not null check (base_micros > 0),
      imbalance_micros bigint not null,
      price_micros bigint not null check (price_micros >= 10000),
      published_micros bigint not null check (published_micros >= 10000),
      suspended_until timestamptz,
      settlement_micros bigint check (settlement_micros >= 10000)
    ) with (fillfactor = 60)`.execute(db)
  await sql`create index instruments_match on instruments (match_id)`.execute(db)

  // A player's value for the season. It may be set before he is ever listed, and outlives every match.
  await sql`
    create table anchors (
      instrument_id uuid primary key,
      price_micros bigint not null check (price_micros > 0)
    )`.execute(db)

  await sql`
    create table ticks (
      instrument_id uuid not null,
      at timestamptz not null,
      price_micros bigint not null,
      base_micros bigint not null,
      imbalance_micros bigint not null,
      cause text not null,
      provider_event_id bigint not null
    )`.execute(db)
  await sql`create index ticks_instrument_at on ticks (instrument_id, at)`.execute(db)

  await sql`
    create table replays (
      id uuid primary key,
      script text not null,
      match_id bigint not null unique,
      speed double precision not null check (speed > 0),
      traders integer not null check (traders >= 0),
      state text not null check (state in ('running', 'finished')),
      started_at timestamptz not null
    )`.execute(db)
}
