/** Positions and the results of keyed commands. The function that writes them is put in place by the last migration that changed it. */
import { type Kysely, sql } from 'kysely'

export async function up(db: Kysely<unknown>): Promise<void> {
  // No foreign key to the user: the commit has locked his wallet, which proves him, and a check a row costs as much as
  // the row itself.
  await sql`
    create table positions (
      id uuid primary key,
      user_id uuid not null,
      match_id bigint not null,
      instrument_id uuid not null,
      sign smallint not null check (sign in (1, -1)),
      lots_micros bigint not null check (lots_micros > 0),
      open_micros bigint not null check (open_micros >= 0),
      margin_micros bigint not null check (margin_micros >= 0),
      stop_loss_micros bigint check (stop_loss_micros > 0),
      take_profit_micros bigint check (take_profit_micros > 0),
      opened_at timestamptz not null,
      closable_at timestamptz not null,
      warned smallint not null default 0 check (warned between 0 and 100),
      close_micros bigint check (close_micros >= 10000),
      pnl_micros bigint check (pnl_micros >= -margin_micros),
      closed_at timestamptz,
      closed_by text check (closed_by in ('user', 'stop_loss', 'take_profit', 'washout', 'full_time', 'void', 'admin')),
      -- What the position's owner was told first, and last: the markers of these events, and the levels of the first.
      opened_marker bigint not null check (opened_marker > 0),
      opened_stop_micros bigint,
      opened_take_micros bigint,
      closed_marker bigint check (closed_marker > opened_marker),
      check (num_nonnulls(close_micros, pnl_micros, closed_at, closed_by, closed_marker) in (0, 5))
    ) with (fillfactor = 80)`.execute(db)
  // The only index of open positions, read whole when a match is loaded: while the table was small the planner took one
  // by match for one by user, and kept to it (0.4 ms a trade instead of 0.01).
  await sql`create index positions_open on positions (user_id, match_id) where closed_at is null`.execute(db)
  // All of a user's, in the order of their opening, and the closed ones in that of their close: his account log, for the
  // greater part of which a row of its own would only cost.
  await sql`create unique index positions_opened on positions (user_id, opened_marker)`.execute(db)
  await sql`create unique index positions_closed on positions (user_id, closed_marker) where closed_marker is not null`.execute(
    db,
  )

  // What else happened to a user's positions, by the same markers; the rest of a position is in its row.
  await sql`
    create table account_events (
      user_id uuid not null,
      marker bigint not null,
      kind text not null check (kind in ('changed', 'margin_warning')),
      position_id uuid not null,
      stop_loss_micros bigint,
      take_profit_micros bigint,
      warned smallint not null,
      at timestamptz not null,
      primary key (user_id, marker)
    )`.execute(db)

  await sql`
    create view account_log as
      select user_id, opened_marker as marker, 'opened' as kind, id as position_id, opened_at as at,
             opened_stop_micros as stop_loss_micros, opened_take_micros as take_profit_micros, 0::smallint as warned
        from positions
      union all
      select user_id, closed_marker, 'closed', id, closed_at, stop_loss_micros, take_profit_micros, warned
        from positions where closed_marker is not null
      union all
      select user_id, marker, kind, position_id, at, stop_loss_micros, take_profit_micros, warned
        from account_events`.execute(db)

  await sql`
    create table command_results (
      user_id uuid not null,
      route text collate "C" not null check (route in ('open', 'close')),
      key text collate "C" not null check (length(key) between 1 and 255),
      fingerprint text not null,
      result text not null,
      balance_micros bigint not null,
      margin_micros bigint not null,
      unrealized_micros bigint not null,
      at timestamptz not null,
      primary key (user_id, route, key)
    )`.execute(db)
  await sql`create index command_results_at on command_results using brin (at)`.execute(db)
}
