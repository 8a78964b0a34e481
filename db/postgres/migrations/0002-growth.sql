-- What grows without end, by months: the ledger from the beginning, positions and events once their match is history.
-- Trading writes to the ledger of the current month, to `positions` and to `outbox`, and never to an archive.

-- Makes the partition of a month (UTC) and attaches it, if there is none. Neither takes a lock that an insert waits
-- for; `create table … partition of` would. A unique index without the partition key is possible on a partition only.
create function add_month(parent text, month date) returns boolean language plpgsql as $$
declare
  name constant text := parent || to_char(month, '_YYYY_MM');
  bound constant text := 'YYYY-MM-DD" 00:00:00+00"';
begin
  if to_regclass(name) is not null then
    return false;
  end if;
  -- Another process may be making it. What a name means is remembered; a query sees what that process has committed.
  perform pg_advisory_xact_lock(7166211045);
  if exists (select from pg_class where relname = name and relnamespace = current_schema()::regnamespace) then
    return false;
  end if;
  execute format('create table %I (like %I including defaults including constraints including storage '
                 'including compression)', name, parent);
  if parent = 'ledger_trades' then
    execute format('create unique index %I on %I (user_id, marker)', name || '_user', name);
    execute format('create unique index %I on %I (user_id, purse, reference, kind) nulls not distinct '
                   'where marker is null', name || '_once', name);
  end if;
  execute format('alter table %I set (autovacuum_vacuum_insert_scale_factor = 0.05)', name);
  execute format('alter table %I attach partition %I for values from (%L) to (%L)', parent, name,
                 to_char(month, bound), to_char(month + interval '1 month', bound));
  return true;
end
$$;

-- § The ledger

-- Entries of trades are by month. All others are a few per user and stay together, so that none is booked twice, ever.
alter table ledger_entries rename to ledger_trades_first;
alter index ledger_entries_user rename to ledger_trades_first_user;
alter index ledger_entries_once rename to ledger_trades_first_once;
alter index ledger_entries_at rename to ledger_trades_first_at;
create table ledger_entries (like ledger_trades_first including constraints) partition by list (kind);
create index ledger_entries_at on ledger_entries using brin (at) with (autosummarize = on);
create table ledger_other partition of ledger_entries
  for values in ('grant', 'external_adjustment', 'referral', 'refill', 'void', 'void_shortfall');
create unique index ledger_other_user on ledger_other (user_id, marker);
create unique index ledger_other_once on ledger_other (user_id, purse, reference, kind) nulls not distinct
 where marker is null;
create table ledger_trades partition of ledger_entries for values in ('margin', 'release', 'late_close', 'batch')
  partition by range (at);

-- What there is so far becomes the first partition, up to the end of its last month. This reads the ledger twice.
with others as (
  delete from ledger_trades_first where kind not in ('margin', 'release', 'late_close', 'batch') returning *
)
insert into ledger_other (tx, account, user_id, purse, amount_micros, kind, reference, at, marker)
  select tx, account, user_id, purse, amount_micros, kind, reference, at, marker from others;
declare
  month date := date_trunc('month', greatest(now(), (select max(at) from ledger_trades_first)) at time zone 'UTC')
                + interval '1 month';
begin
  execute format('alter table ledger_trades attach partition ledger_trades_first for values from (minvalue) to (%L)',
                 to_char(month, 'YYYY-MM-DD" 00:00:00+00"'));
  for n in 0..11 loop
    perform add_month('ledger_trades', (month + n * interval '1 month')::date);
  end loop;
end;

-- Closing begins with the first entry. Of a large ledger no ordinary statement has the time to find it.
update ledger_closed set until = first.at from (select min(at) as at from ledger_entries) first
 where first.at is not null and not isfinite(until);

-- What detached months add up to, as long as they are detached (db/months.ts).
create table detached_months (
  month text collate "C" primary key,
  unbalanced bigint not null,
  main_micros bigint not null, practice_micros bigint not null, leagues_micros bigint not null
);
create table detached_balances (
  month text collate "C" not null,
  user_id uuid not null,
  purse text collate "C" not null check (is_purse(purse)),
  amount_micros bigint not null,
  primary key (month, user_id, purse)
);

-- § Archives

-- Positions and events of matches that were settled some weeks ago (db/archive.ts). Stored answers to retries are left
-- out: no retry comes that late.
alter table matches add column archived_at timestamptz;
create index matches_unarchived on matches (settled_at) where settled_at is not null and archived_at is null;

create table positions_archive (
  id uuid not null,
  user_id uuid not null,
  match_id bigint not null,
  instrument_id uuid not null,
  lots_micros bigint not null,
  open_micros bigint not null, open_base_micros bigint not null,
  margin_micros bigint not null,
  stop_loss_micros bigint, take_profit_micros bigint,
  opened_at timestamptz not null, closable_at timestamptz not null,
  close_micros bigint not null, close_base_micros bigint not null,
  pnl_micros bigint not null,
  closed_at timestamptz not null,
  opened_marker bigint not null, closed_marker bigint not null,
  opened_stop_micros bigint, opened_take_micros bigint,
  sign smallint not null, warned smallint not null,
  closed_by text not null,
  purse text collate "C" not null,
  void_reason text, void_note text,
  late jsonb
) partition by range (opened_at);
create unique index positions_archive_id on positions_archive (id, opened_at);
create index positions_archive_league on positions_archive (purse, user_id) where purse not in ('main', 'practice');

create table outbox_archive (
  match_id bigint not null,
  seq bigint not null,
  at timestamptz not null,
  events json not null,
  primary key (match_id, seq, at)
) partition by range (at);
do $lz4$ begin
  alter table outbox_archive alter column events set compression lz4;
exception when feature_not_supported then null;
end $lz4$;

-- Current and archived rows, for readers of history.
create view all_positions as
  select id, user_id, purse, match_id, instrument_id, sign, lots_micros, open_micros, open_base_micros, margin_micros,
         stop_loss_micros, take_profit_micros, opened_at, closable_at, warned, close_micros, close_base_micros,
         pnl_micros, closed_at, closed_by, void_reason, void_note, opened_marker, opened_stop_micros, opened_take_micros,
         closed_marker, answer_fingerprint, answer_price_micros, answer_exit_micros, answer_balance_micros,
         answer_margin_micros, answer_unrealized_micros, answer_locked_micros, late
    from positions
  union all
  select id, user_id, purse, match_id, instrument_id, sign, lots_micros, open_micros, open_base_micros, margin_micros,
         stop_loss_micros, take_profit_micros, opened_at, closable_at, warned, close_micros, close_base_micros,
         pnl_micros, closed_at, closed_by, void_reason, void_note, opened_marker, opened_stop_micros, opened_take_micros,
         closed_marker, null::text, null::bigint, null::bigint, null::bigint, null::bigint, null::bigint, null::bigint,
         late
    from positions_archive;
create view all_outbox as
  select match_id, seq, at, events from outbox union all select match_id, seq, at, events from outbox_archive;

-- § Retention

-- How far each table has been swept for rows that are too old (db/retention.ts): the next of its pages.
create table sweeps (
  name text primary key,
  page bigint not null default 0
);

-- § Autovacuum

-- By default a table is vacuumed once a fifth of it is dead. That is late for large tables whose rows change all the
-- time, and for a few rows that each commit changes; the documents of matches are in TOAST tables.
declare
  name text;
begin
  foreach name in array array['wallets', 'positions', 'careers', 'week_scores', 'outbox', 'command_results', 'ticks'] loop
    execute format('alter table %I set (autovacuum_vacuum_scale_factor = 0.05, autovacuum_vacuum_cost_delay = 0)', name);
  end loop;
  foreach name in array array['instruments', 'matches', 'match_leases', 'outbox_cursors', 'event_head', 'processes'] loop
    execute format('alter table %I set (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 500, '
                   'autovacuum_vacuum_cost_delay = 0)', name);
  end loop;
  alter table matches set (toast.autovacuum_vacuum_scale_factor = 0, toast.autovacuum_vacuum_threshold = 500,
                           toast.autovacuum_vacuum_cost_delay = 0);
end;
