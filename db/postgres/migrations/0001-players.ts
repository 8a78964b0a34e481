/** Districts, people, wallets and the ledger. */
import { type Kysely, sql } from 'kysely'

export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    create table districts (
      id integer primary key,
      name text not null unique
    )`.execute(db)

  await sql`
    create table users (
      id uuid primary key,
      google_sub text unique,
      email text not null,
      name text not null,
      picture text,
      username text not null unique check (username = lower(username)),
      first_name text not null,
      last_name text,
      district_id integer not null references districts,
      role text not null default 'user',
      xp integer not null default 0 check (xp >= 0),
      referral_code text not null unique,
      synthetic boolean not null default false,
      created_at timestamptz not null
    )`.execute(db)

  // Every trade updates its wallet: room in the page keeps those updates out of the index (HOT).
  await sql`
    create table wallets (
      user_id uuid primary key references users,
      balance_micros bigint not null check (balance_micros between 0 and 1000000000000000),
      margin_micros bigint not null default 0 check (margin_micros between 0 and 1000000000000000),
      open_positions integer not null default 0 check (open_positions >= 0),
      version bigint not null default 0,
      events bigint not null default 0
    ) with (fillfactor = 60)`.execute(db)

  // The house is an account but never a row to update: its balance is the sum of its entries, because one hot row would
  // make every match wait for every other.
  await sql`
    create table ledger_entries (
      id bigint generated always as identity,
      tx uuid not null,
      account text not null check (account in ('user', 'house')),
      user_id uuid,
      amount_micros bigint not null,
      kind text not null check (kind in ('grant', 'margin', 'release', 'external_adjustment', 'batch')),
      reference text collate "C" primary key,
      position_id uuid,
      at timestamptz not null,
      check ((account = 'user') = (user_id is not null))
    )`.execute(db)
  await sql`create index ledger_entries_user on ledger_entries (user_id, id) where user_id is not null`.execute(db)
}
