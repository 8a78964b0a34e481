/** What follows from trades: the outbox, careers and badges, the weekly spinner, notifications, activity, legacy trades. */
import { type Kysely, sql } from 'kysely'

export async function up(db: Kysely<unknown>): Promise<void> {
  // Told apart from every other database that shares a fast store with this one.
  await sql`
    create table installation (
      id uuid not null default gen_random_uuid()
    )`.execute(db)
  await sql`insert into installation default values`.execute(db)

  await sql`
    alter table ledger_entries drop constraint ledger_entries_kind_check,
      add constraint ledger_entries_kind_check
        check (kind in ('grant', 'margin', 'release', 'external_adjustment', 'batch', 'referral'))`.execute(db)

  await outbox(db)
  await careers(db)
  await spinner(db)
  await messages(db)

  await sql`
    create table legacy_trades (
      id text collate "C" primary key,
      user_id uuid not null references users,
      player text not null,
      side text not null check (side in ('buy', 'sell')),
      quantity_micros bigint not null check (quantity_micros > 0),
      price_micros bigint not null check (price_micros >= 0),
      at timestamptz not null
    )`.execute(db)
  await sql`create index legacy_trades_user on legacy_trades (user_id, at desc, id)`.execute(db)
}

async function outbox(db: Kysely<unknown>): Promise<void> {
  // One row a commit, numbered by the match's own writer: a reader with a cursor per match meets no gap and no late row.
  // Rows stay: they are the history that every read model can be made from anew.
  await sql`
    create table outbox (
      match_id bigint not null,
      seq bigint not null,
      at timestamptz not null,
      replay boolean not null,
      events jsonb not null,
      primary key (match_id, seq)
    )`.execute(db)
  await sql`
    create table outbox_cursors (
      match_id bigint primary key,
      seq bigint not null default 0,
      attempts integer not null default 0,
      retry_at timestamptz not null default '-infinity',
      taken_at timestamptz not null default '-infinity',
      finished boolean not null default false
    ) with (fillfactor = 60)`.execute(db)
  await sql`create index outbox_cursors_open on outbox_cursors (match_id) where not finished`.execute(db)
  await sql`
    create table outbox_failures (
      match_id bigint not null,
      seq bigint not null,
      error text not null,
      attempts integer not null,
      at timestamptz not null,
      primary key (match_id, seq)
    )`.execute(db)
}

async function careers(db: Kysely<unknown>): Promise<void> {
  // What counts on boards stands there twice: of all matches, and of real ones alone.
  await sql`
    create table careers (
      user_id uuid primary key references users,
      version bigint not null default 0,
      opened integer not null default 0,
      closed integer not null default 0,
      wins integer not null default 0,
      pnl_micros bigint not null default 0,
      margin_micros bigint not null default 0,
      first_trade_at timestamptz,
      live_closed integer not null default 0,
      live_wins integer not null default 0,
      live_pnl_micros bigint not null default 0,
      live_margin_micros bigint not null default 0,
      live_first_trade_at timestamptz,
      won_micros bigint not null default 0,
      best_win_micros bigint not null default 0,
      largest_lots_micros bigint not null default 0,
      short_wins integer not null default 0,
      take_profits integer not null default 0,
      stop_losses integer not null default 0,
      washouts integer not null default 0,
      settled integer not null default 0,
      days integer not null default 0,
      referrals integer not null default 0,
      xp integer not null default 0
    ) with (fillfactor = 60)`.execute(db)
  await sql`
    create table trade_days (
      user_id uuid not null,
      day integer not null,
      primary key (user_id, day)
    )`.execute(db)
  await sql`
    create table user_badges (
      user_id uuid not null references users,
      badge text not null,
      earned_at timestamptz not null,
      primary key (user_id, badge)
    )`.execute(db)
  // Users whose place on the boards is older than their career.
  await sql`
    create table board_changes (
      user_id uuid primary key,
      version bigint not null
    )`.execute(db)
}

async function spinner(db: Kysely<unknown>): Promise<void> {
  await sql`
    create table week_scores (
      week text collate "C" not null,
      live boolean not null,
      user_id uuid not null,
      closed integer not null,
      wins integer not null,
      pnl_micros bigint not null,
      margin_micros bigint not null,
      roi_hundredths bigint not null,
      win_ppm integer not null,
      primary key (week, live, user_id)
    ) with (fillfactor = 60)`.execute(db)
  await sql`create index week_scores_best on week_scores (week, live, roi_hundredths desc, win_ppm desc)`.execute(db)
  await sql`
    create table spinner_weeks (
      week text collate "C" primary key,
      starts_at timestamptz not null,
      seed text not null,
      seed_hash text not null,
      published_at timestamptz not null,
      candidates jsonb,
      winner_id uuid,
      decided_at timestamptz,
      check ((candidates is null) = (decided_at is null))
    )`.execute(db)
}

async function messages(db: Kysely<unknown>): Promise<void> {
  await sql`
    create table notifications (
      id bigint generated always as identity primary key,
      user_id uuid not null references users,
      type text not null,
      title text not null,
      body text not null,
      data jsonb not null,
      source text collate "C" not null unique,
      created_at timestamptz not null,
      read_at timestamptz
    )`.execute(db)
  await sql`create index notifications_user on notifications (user_id, id desc)`.execute(db)
  await sql`create index notifications_unread on notifications (user_id, id desc) where read_at is null`.execute(db)
  await sql`
    create table activity (
      id bigint generated always as identity primary key,
      user_id uuid not null references users,
      district_id integer not null,
      type text not null,
      text text not null,
      data jsonb not null,
      source text collate "C" not null unique,
      at timestamptz not null
    )`.execute(db)
  await sql`create index activity_district on activity (district_id, id desc)`.execute(db)
}
