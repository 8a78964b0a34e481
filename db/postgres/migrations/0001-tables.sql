-- The schema: every table, grouped by noun, with its constraints and the reasons for them.
-- Money, prices and lots are integer millionths (`_micros`). The types of the rows are in db/postgres/schema/.

-- § Users

create table districts (
  id integer primary key,
  name text not null unique
);

create table users (
  id uuid primary key,
  google_sub text unique,
  email text not null,
  name text not null, picture text,
  username text not null unique check (username = lower(username)),
  first_name text not null, last_name text,
  district_id integer not null references districts,
  role text not null default 'user',
  -- An admin only while their address is among the configured ones.
  admin_by_email boolean not null default false check (not admin_by_email or role = 'admin'),
  xp integer not null default 0 check (xp >= 0),
  referral_code text not null unique,
  synthetic boolean not null default false,
  -- A frozen user reads and closes, and does nothing else.
  status text not null default 'active' check (status in ('active', 'frozen')),
  hidden_from_boards boolean not null default false,
  -- The first order that came by a key. From then on the account is a bot, for good.
  bot_since timestamptz,
  -- Their own limits (see db/own-limits.ts); null for none. Each wallet has a copy, which commits obey.
  limits jsonb,
  -- When the account is erased unless its user signs in before; and when it was: then nothing here is a person's.
  deletion_due timestamptz,
  erased_at timestamptz,
  -- Every reason for which a user is on no board and in no activity.
  off_boards boolean not null generated always as
    (status <> 'active' or hidden_from_boards or deletion_due is not null or erased_at is not null) stored,
  created_at timestamptz not null
);

-- Several accounts may have one address: they are told apart by their subject. Compared in ASCII, as `emailKey` does:
-- with the rules of a language, other letters would be equal to an address's own.
create index users_email on users (lower(email collate "C"));
create index users_admin_by_email on users (id) where admin_by_email;
create index users_deletion_due on users (deletion_due) where deletion_due is not null;

-- What those who were erased must not shed by coming back: found again by keyed digests of their identity, which lead to
-- no user. The digests of usernames keep those names from impostors. See db/departed.ts.
create table departed (
  digest text primary key,
  left_at timestamptz not null,
  carried jsonb
);
create index departed_left_at on departed (left_at);

-- How many users have registered from a network on a UTC day.
create table registration_networks (
  network text collate "C" not null,
  day date not null,
  registered integer not null check (registered > 0),
  primary key (day, network)
);

-- What can be used once, by digest: nonces, identity tokens, registration tickets, socket tokens, pauses between codes.
create table single_use (
  digest text primary key,
  expires_at timestamptz not null
);
create index single_use_expiry on single_use (expires_at);

-- The one-time code of each account that is registering, and the address that it has proved. A used code
-- has expired.
create table email_codes (
  subject text primary key,
  code_id uuid not null,
  digest text not null,
  guesses integer not null default 0,
  expires_at timestamptz not null,
  verified_email text,
  verified_until timestamptz
);
create index email_codes_expiry on email_codes (expires_at);

-- One row per sign-in. Its tokens carry its id; refresh tokens also carry the generation, which every rotation raises.
-- A rotation repeated under the key of the last one gets the same tokens.
create table sessions (
  id uuid primary key,
  user_id uuid not null references users,
  generation integer not null default 1 check (generation > 0),
  rotation_key text,
  created_at timestamptz not null,
  rotated_at timestamptz not null,
  expires_at timestamptz not null,
  ended_at timestamptz,
  -- When its user last proved to the identity provider who they are; null for a key.
  authenticated_at timestamptz,
  user_agent text,
  address_prefix text not null
);
create index sessions_user on sessions (user_id);
create index sessions_expiry on sessions (expires_at);
create index sessions_ended on sessions (ended_at) where ended_at is not null;
-- For operators who ask who else comes from a network. Those of erased users have none.
create index sessions_network on sessions (address_prefix) where address_prefix <> '';

-- A key of a program is a session without refresh tokens. Of its secret there is the digest alone.
create table personal_keys (
  id uuid primary key references sessions on delete cascade,
  digest text not null unique,
  name text not null,
  scopes text[] not null check (cardinality(scopes) > 0),
  last_used_at timestamptz
);

-- A named invite has its own code and waits for a registration. An anonymous referral is created when a user registers
-- with the referrer's code.
create table referrals (
  id uuid primary key,
  referrer_id uuid not null references users,
  name text,
  code text unique,
  referee_id uuid unique references users,
  created_at timestamptz not null,
  registered_at timestamptz, credited_at timestamptz,
  reward_micros bigint not null default 0 check (reward_micros >= 0),
  check ((name is null) = (code is null)),
  check (code is not null or referee_id is not null),
  check ((referee_id is null) = (registered_at is null)),
  check (credited_at is null or referee_id is not null),
  check (referee_id <> referrer_id)
);
create index referrals_referrer on referrals (referrer_id);
-- Those that may be credited yet.
create index referrals_uncredited on referrals (registered_at) where credited_at is null and referee_id is not null;

-- § Money

-- The purses that everybody has, and the ids of leagues.
create function is_purse(purse text) returns boolean language sql immutable parallel safe as $$
  select purse in ('main', 'practice') or purse ~ '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$'
$$;

-- One per user and purse. Every trade updates its wallet. Free room in the page keeps those updates out of the index
-- (HOT). `events` counts the user's account events over all purses, in the row of the main one.
create table wallets (
  user_id uuid not null, -- no foreign key: a commit restores a missing wallet even when its user is gone
  purse text collate "C" not null check (is_purse(purse)),
  balance_micros bigint not null check (balance_micros between 0 and 1000000000000000),
  margin_micros bigint not null default 0 check (margin_micros between 0 and 1000000000000000),
  open_positions integer not null default 0 check (open_positions >= 0),
  version bigint not null default 0,
  events bigint not null default 0 check (purse = 'main' or events = 0),
  -- Whether its user is frozen. It is here because a commit locks the wallet: no order can overtake the freezing.
  frozen boolean not null default false,
  -- A copy of the user's own limits, here for the same reason; null for none. With them counts what the wallet has won
  -- and lost on its last day with a trade, a number of days since 1970 (UTC).
  limits jsonb,
  day integer not null default 0,
  day_result_micros bigint not null default 0,
  primary key (user_id, purse)
) with (fillfactor = 60);

-- Which history of the database this is: another after a failover, a recovery to an earlier instant, or a restored dump.
-- A cached balance from another history counts for nothing, though its version may be the same.
create function store_timeline() returns text language sql stable as $$
  select (select system_identifier from pg_control_system()) || '.'
         || substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8) || '.'
         || (select oid from pg_database where datname = current_database())
$$;

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

-- The house is an account without a row, one in each purse: its balance is the sum of its entries. One hot row would make
-- every match wait for every other. Entries of trades are by month. All others are a few per user and stay together, so
-- that none is booked twice, ever.
create table ledger_entries (
  tx uuid not null,
  account text not null check (account in ('user', 'house')),
  user_id uuid,
  purse text collate "C" not null check (is_purse(purse)),
  amount_micros bigint not null,
  kind text not null
    check (kind in ('grant', 'margin', 'release', 'external_adjustment', 'batch', 'referral', 'refill', 'moved', 'void',
                    'void_shortfall')),
  reference uuid not null,
  at timestamptz not null,
  marker bigint check (marker > 0),
  check ((account = 'user') = (user_id is not null))
) partition by list (kind);
-- Entries are only ever appended, so block ranges find the newest ones.
create index ledger_entries_at on ledger_entries using brin (at) with (autosummarize = on);
create table ledger_other partition of ledger_entries
  for values in ('grant', 'external_adjustment', 'referral', 'refill', 'void', 'void_shortfall');
-- One index serves history, ledger and account log: a user's trades in the order of their commits. A trade's marker is
-- its own, so the index also keeps the trade from being booked twice.
create unique index ledger_other_user on ledger_other (user_id, marker);
-- Keeps everything else from being booked twice. For trades a second index would cost as much as the row itself.
create unique index ledger_other_once on ledger_other (user_id, purse, reference, kind) nulls not distinct
 where marker is null;
create table ledger_trades partition of ledger_entries for values in ('margin', 'release', 'moved', 'batch')
  partition by range (at);
create table ledger_trades_first (like ledger_entries including constraints);
create unique index ledger_trades_first_user on ledger_trades_first (user_id, marker);
create unique index ledger_trades_first_once on ledger_trades_first (user_id, purse, reference, kind) nulls not distinct
 where marker is null;
declare
  month date := date_trunc('month', now() at time zone 'UTC') + interval '1 month';
begin
  execute format('alter table ledger_trades attach partition ledger_trades_first for values from (minvalue) to (%L)',
                 to_char(month, 'YYYY-MM-DD" 00:00:00+00"'));
  for n in 0..11 loop
    perform add_month('ledger_trades', (month + n * interval '1 month')::date);
  end loop;
end;

-- Which sum of an audit a purse belongs to: those of leagues are one.
create function purse_group(purse text) returns text language sql immutable parallel safe as $$
  select case when purse in ('main', 'practice') then purse else 'leagues' end
$$;

-- The ledger up to an instant, added up (see db/ledger-closings.ts): one row, and one for each wallet.
create table ledger_closed (
  one boolean primary key default true check (one),
  until timestamptz not null, -- entries before it are in the sums
  entries bigint not null default 0,
  unbalanced bigint not null default 0, -- transactions whose entries did not add up to 0 in each purse
  main_micros bigint not null default 0, practice_micros bigint not null default 0,
  leagues_micros bigint not null default 0
) with (fillfactor = 60);
insert into ledger_closed (until) values ('-infinity');
create table closed_balances (
  user_id uuid not null,
  purse text collate "C" not null check (is_purse(purse)),
  amount_micros bigint not null,
  primary key (user_id, purse)
) with (fillfactor = 80);

-- § Matches

-- What the provider's calendar announces, until a process runs the match.
create table fixtures (
  id bigint primary key check (id between 1 and 4294967295),
  starts_at timestamptz not null,
  info jsonb not null
);
create index fixtures_starts_at on fixtures (starts_at);

create table matches (
  id bigint primary key check (id between 1 and 4294967295),
  phase text not null,
  replay boolean not null,
  starts_at timestamptz not null, settled_at timestamptz,
  info jsonb not null,
  pricing jsonb not null,
  -- Why the stored state of an unsettled match cannot be read, and since when; null while it can (db/quarantine.ts).
  quarantine text,
  quarantined_at timestamptz
);
create index matches_unsettled on matches (id) where settled_at is null;
create index matches_quarantined on matches (id) where quarantine is not null;

-- What of the provider's data came to nothing, for operators: one row for each reason and fixture, 0 where it concerns
-- none (db/feed-faults.ts).
create table feed_faults (
  reason text not null,
  match_id bigint not null,
  detail text not null,
  times bigint not null,
  first_at timestamptz not null,
  last_at timestamptz not null,
  primary key (reason, match_id)
);

-- Which process may write a match. Taking a lease raises the epoch, which fences every earlier owner.
create table match_leases (
  match_id bigint primary key,
  owner text not null,
  epoch bigint not null check (epoch between 1 and 4294967295),
  expires_at timestamptz not null
);

-- The processes that run now: each writes its row once a second, and says whether it hears the others. A process that
-- others cannot reach is noted with those that tried (`missed_by`).
create unlogged table processes (
  id text primary key,
  runs_matches boolean not null,
  hears boolean not null,
  seen_at timestamptz not null,
  missed_by text[] not null default '{}',
  missed_at timestamptz
);

create table instruments (
  id uuid primary key,
  player_id bigint not null,
  name text not null,
  role text not null check (role in ('GK', 'DEF', 'MID', 'FWD')),
  side text not null check (side in ('home', 'away')),
  jersey integer,
  starter boolean not null,
  match_id bigint not null references matches,
  start_micros bigint not null check (start_micros > 0),
  slope_micros bigint not null check (slope_micros > 0),
  impact_cap_ppm integer not null check (impact_cap_ppm between 0 and 1000000),
  base_micros bigint not null check (base_micros > 0),
  imbalance_micros bigint not null,
  price_micros bigint not null check (price_micros >= 10000),
  published_micros bigint not null check (published_micros >= 10000),
  -- What protection remembers of the news of the player; null without it.
  news jsonb,
  -- The imbalance when the match ended: from then on the price stands still.
  ended_imbalance_micros bigint,
  -- The imbalance that those leave from whose levels fired together, while closing them takes several commits.
  leaving_from_micros bigint,
  settlement_micros bigint check (settlement_micros >= 10000),
  -- Live matches that the player took part in, and the sum of the bases at which they settled.
  matches integer not null default 0,
  settled_total_micros bigint not null default 0
) with (fillfactor = 60);
create index instruments_match on instruments (match_id);

-- A player's value for the season. It may be set before the player is first listed, and it outlives every match.
create table anchors (
  instrument_id uuid primary key,
  price_micros bigint not null check (price_micros > 0)
);

-- Recorded quotes. Retention finds old rows by time alone, and they are stored together: a block range index is enough.
create table ticks (
  instrument_id uuid not null,
  at timestamptz not null,
  price_micros bigint not null,
  base_micros bigint not null,
  imbalance_micros bigint not null,
  cause text not null,
  provider_event_id bigint not null,
  -- Why the base moved since the tick before (actors/market/move-reason.ts); null where it did not.
  why text
);
create index ticks_instrument_at on ticks (instrument_id, at);
-- What a thinned price history never leaves out.
create index ticks_told on ticks (instrument_id, at) where provider_event_id <> 0 or cause in ('listing', 'settlement');
create index ticks_at on ticks using brin (at);

-- One row per player and commit, not per trade, so that writing it costs next to nothing. `traded_micros` is a running
-- total, which makes the volume between two moments the difference of two rows.
create table recent_trades (
  instrument_id uuid not null,
  at timestamptz not null,
  traded_micros bigint not null check (traded_micros > 0),
  trades text not null,
  primary key (instrument_id, at, traded_micros)
);
create index recent_trades_at on recent_trades using brin (at);

-- What each match has heard, a row for each commit that heard anything, written by that commit. Rows are numbered by
-- the match's only writer. `after_seq` is the last row of the outbox that the match had left by then, so that updates
-- and trades have one order. The rows of an epoch build on each other, from one that is `fresh`: db/journal-codec.ts.
create table journal (
  match_id bigint not null,
  n integer not null check (n > 0),
  epoch bigint not null,
  at timestamptz not null,
  after_seq bigint not null,
  fresh boolean not null,
  entries bytea not null,
  primary key (match_id, n)
);
-- They are compressed already.
alter table journal alter column entries set storage external;
create index journal_at on journal using brin (at);

-- The tape of each match: the lines of a commit, written by that commit (db/tape-writer.ts). They are published without
-- owners (db/tape-lines.ts). The first row has the secret that hides them.
create table tape (
  match_id bigint not null,
  first_n integer not null check (first_n > 0),
  last_n integer not null check (last_n >= first_n),
  at timestamptz not null,
  secret bytea check ((secret is not null) = (first_n = 1)),
  lines bytea not null,
  primary key (match_id, first_n)
);
alter table tape alter column lines set storage external;
create index tape_at on tape using brin (at);

-- A signature over the tape so far, every minute and at its end.
create table tape_checkpoints (
  match_id bigint not null,
  n integer not null check (n > 0),
  hash bytea not null,
  at timestamptz not null,
  kid text not null,
  signature bytea not null,
  primary key (match_id, n)
);

-- The public keys of all signatures, for as long as there are any.
create table tape_keys (
  kid text primary key,
  public_key text not null,
  since timestamptz not null
);

-- Every process looks for unfinished replays once a second. Finished ones are kept for their fixture numbers.
create table replays (
  id uuid primary key,
  recording text not null,
  match_id bigint not null unique,
  speed double precision not null check (speed > 0),
  traders integer not null check (traders >= 0),
  state text not null check (state in ('running', 'finished')),
  started_at timestamptz not null,
  slot integer not null default 0 check (slot >= 0),
  demo boolean not null default false,
  lossless boolean not null default false,
  ending text check (ending in ('full_time', 'void')),
  -- Whether it is traded with practice money.
  practice boolean not null default false
);
create unique index replays_cast on replays (recording, slot) where state = 'running';

-- Recordings that operators have uploaded: lines of JSON, compressed with brotli. A recording that is uploaded again under
-- the same name has another `id`.
create table uploads (
  name text collate "C" primary key,
  id uuid not null,
  summary jsonb not null,
  data bytea not null,
  at timestamptz not null,
  by_id uuid not null
);
alter table uploads alter column data set storage external;

-- § Positions

-- No foreign key to the user: the commit has locked the user's wallet, which proves that they exist, and checking each
-- row costs as much as the row itself.
create table positions (
  id uuid primary key,
  user_id uuid not null,
  purse text collate "C" not null check (is_purse(purse)),
  match_id bigint not null,
  instrument_id uuid not null,
  sign smallint not null check (sign in (1, -1)),
  lots_micros bigint not null check (lots_micros > 0),
  open_micros bigint not null check (open_micros >= 0),
  open_base_micros bigint not null check (open_base_micros > 0),
  margin_micros bigint not null check (margin_micros >= 0),
  stop_loss_micros bigint check (stop_loss_micros > 0),
  take_profit_micros bigint check (take_profit_micros > 0),
  opened_at timestamptz not null,
  closable_at timestamptz not null,
  warned smallint not null default 0 check (warned between 0 and 100),
  close_micros bigint check (close_micros >= 10000),
  close_base_micros bigint check (close_base_micros > 0),
  pnl_micros bigint check (pnl_micros >= -margin_micros),
  closed_at timestamptz,
  closed_by text check (closed_by in ('user', 'stop_loss', 'take_profit', 'washout', 'full_time', 'void', 'admin')),
  void_reason text check (void_reason is null or (void_reason = 'operator' and closed_by = 'void')),
  -- What an operator tells the owner about a void position.
  void_note text check (void_note is null or void_reason = 'operator'),
  -- Where the opening and the close are in the owner's account log, and the levels that the position was opened with.
  opened_marker bigint not null check (opened_marker > 0),
  opened_stop_micros bigint, opened_take_micros bigint,
  closed_marker bigint check (closed_marker > opened_marker),
  -- The position that this is a closed part of. Its opening and close are then the split and the close of the part.
  part_of uuid,
  -- The stored answer to an opening under a key, which is repeated to a retry. Null for an opening without a key.
  answer_fingerprint text, answer_price_micros bigint, answer_exit_micros bigint,
  answer_balance_micros bigint, answer_margin_micros bigint,
  answer_unrealized_micros bigint,
  -- Protection: what could not be opened with then, how news has moved the fills, and until when it may move a close.
  answer_locked_micros bigint,
  moved jsonb,
  movable_until timestamptz,
  check (num_nonnulls(close_micros, close_base_micros, pnl_micros, closed_at, closed_by, closed_marker) in (0, 6)),
  check ((answer_fingerprint is null) = (answer_price_micros is null)),
  check ((answer_fingerprint is null) = (answer_exit_micros is null))
) with (fillfactor = 80);
-- The only index of open positions, read whole when a match is loaded. With a second one, by match, the planner chose
-- wrongly while the table was small and kept its choice (0.4 ms a trade instead of 0.01).
create index positions_open on positions (user_id, match_id) where closed_at is null;
-- Few are parts. By match, because no other index of parts may be one of open positions.
create index positions_parts on positions (match_id, part_of) where part_of is not null;
-- Tables of leagues. Trades of the purses that everybody has do not pay for it.
create index positions_league on positions (purse, user_id) where purse not in ('main', 'practice');
create index positions_league_open on positions (purse)
 where closed_at is null and purse not in ('main', 'practice');

-- Protection. Without it no position is in this index.
create index positions_movable on positions (user_id, purse, movable_until) where movable_until is not null;

-- The positions that an operator voids, with the reason: noted before the position is closed, or rebooked, as void.
create table position_voids (
  position_id uuid primary key,
  command_id uuid unique,
  by_id uuid not null,
  reason text not null,
  at timestamptz not null,
  -- Of one that was closed: what it had realised, and what of that its wallet could not give back.
  pnl_micros bigint,
  shortfall_micros bigint not null default 0 check (shortfall_micros >= 0)
);

-- Closes whose pay would have taken a wallet past its limit, and open positions whose rows are corrupt, which their match
-- leaves out. An operator pays or corrects them: see the runbook.
create table unpaid_closes (
  position_id uuid primary key,
  user_id uuid not null,
  purse text collate "C" not null,
  amount_micros bigint not null check (amount_micros > 0),
  at timestamptz not null
);

-- The account events that are neither an opening nor a close: those are in the row of their position.
create table account_events (
  user_id uuid not null,
  marker bigint not null,
  kind text not null check (kind in ('changed', 'margin_warning')),
  position_id uuid not null,
  stop_loss_micros bigint, take_profit_micros bigint,
  warned smallint not null,
  at timestamptz not null,
  primary key (user_id, marker)
);
create index account_events_at on account_events using brin (at);

-- Stored answers of keyed commands that opened nothing: refusals and closes.
create table command_results (
  id uuid primary key,
  user_id uuid not null,
  fingerprint text not null,
  result text not null,
  balance_micros bigint not null, margin_micros bigint not null,
  unrealized_micros bigint not null, locked_micros bigint,
  at timestamptz not null
);
create index command_results_at on command_results using brin (at);

-- § Reactions: what follows from a commit

-- A commit leaves a row for each 500 of its events, numbered by the match's only writer, so a reader with a cursor per
-- match meets no gap and no late row. Rows are kept: they are the history from which every read model can be rebuilt.
create table outbox (
  match_id bigint not null,
  seq bigint not null,
  at timestamptz not null,
  -- Only ever read whole: as json it costs half of what jsonb does.
  events json not null,
  primary key (match_id, seq)
);
-- A batch of 500 trades is 90 kB: pglz takes a millisecond to compress it, lz4 a tenth. Some servers lack lz4.
do $$ begin
  alter table outbox alter column events set compression lz4;
exception when feature_not_supported then null;
end $$;

create table outbox_cursors (
  match_id bigint primary key,
  seq bigint not null default 0,
  attempts integer not null default 0,
  retry_at timestamptz not null default '-infinity',
  taken_at timestamptz not null default '-infinity',
  finished boolean not null default false
) with (fillfactor = 60);
create index outbox_cursors_open on outbox_cursors (match_id) where not finished;

create table outbox_failures (
  match_id bigint not null,
  seq bigint not null,
  error text not null,
  attempts integer not null,
  at timestamptz not null,
  primary key (match_id, seq)
);

-- The outbox in one order over all matches, for readers outside the server: a position is some rows of one match. What
-- is new is numbered after its commit, by one process at a time, so that no trade waits for it.
create table event_ranges (
  position bigint primary key,
  match_id bigint not null,
  from_seq bigint not null,
  to_seq bigint not null
);

-- The last row of each match that has a position.
create table event_matches (
  match_id bigint primary key,
  seq bigint not null
);

-- One row: the last position. Whoever locks it may number.
create table event_head (
  position bigint not null,
  swept_at timestamptz not null
);
insert into event_head (position, swept_at) values (0, '-infinity');

-- Where operators are told what happens, and how far each has got in the event stream. `plan` is what was sent last and
-- is not yet known to have arrived: everything up to its place. Secrets are derived; the digest tells if that changed.
create table webhooks (
  id uuid primary key,
  url text not null,
  types text[] not null,
  secret_digest text not null,
  state text not null default 'active' check (state in ('active', 'paused', 'disabled')),
  created_at timestamptz not null,
  position bigint not null,
  seq bigint not null,
  read integer not null,
  plan uuid,
  until_position bigint,
  until_seq bigint,
  until_read integer,
  attempts integer not null default 0,
  next_at timestamptz not null default '-infinity',
  lease uuid,
  leased_until timestamptz not null default '-infinity',
  last_success_at timestamptz,
  failing_since timestamptz,
  last_error text
);

-- § Community: careers, boards, spinner, notifications

-- What the boards rank is counted in each purse. Everything else counts the main purse alone.
create table careers (
  user_id uuid primary key references users,
  version bigint not null default 0,
  opened integer not null default 0, closed integer not null default 0, wins integer not null default 0,
  pnl_micros bigint not null default 0, base_moves_micros bigint not null default 0,
  margin_micros bigint not null default 0, first_trade_at timestamptz,
  practice_closed integer not null default 0, practice_wins integer not null default 0,
  practice_pnl_micros bigint not null default 0, practice_base_moves_micros bigint not null default 0,
  practice_margin_micros bigint not null default 0, practice_first_trade_at timestamptz,
  won_micros bigint not null default 0, best_win_micros bigint not null default 0, largest_lots_micros bigint not null default 0,
  short_wins integer not null default 0, take_profits integer not null default 0, stop_losses integer not null default 0,
  washouts integer not null default 0, settled integer not null default 0,
  days integer not null default 0, close_days integer not null default 0, referrals integer not null default 0, xp integer not null default 0
) with (fillfactor = 60);

create table trade_days (
  user_id uuid not null,
  day integer not null,
  what text not null check (what in ('open', 'close')),
  -- How many; openings without those that were void.
  times integer not null,
  primary key (user_id, day, what)
);

create table user_badges (
  user_id uuid not null references users,
  badge text not null,
  earned_at timestamptz not null,
  primary key (user_id, badge)
);

-- Users whose place on the boards is older than their career.
create table board_changes (
  user_id uuid primary key,
  version bigint not null
);

-- What users closed of the positions of the main purse opened in a week. `players` holds the first of them, as many as a
-- draw may ask for.
create table week_scores (
  week text collate "C" not null,
  user_id uuid not null,
  closed integer not null, wins integer not null,
  pnl_micros bigint not null, base_moves_micros bigint not null, margin_micros bigint not null,
  players uuid[] not null,
  primary key (week, user_id)
) with (fillfactor = 60);

-- A week without a seed had none when it ended. A tie in it has no winner.
create table spinner_weeks (
  week text collate "C" primary key,
  starts_at timestamptz not null,
  seed text, seed_hash text,
  published_at timestamptz check (published_at < starts_at + interval '7 days'),
  candidates jsonb,
  -- What no one could know when the hash was published, and the draw is made with besides the seed.
  entropy jsonb,
  winner_id uuid,
  decided_at timestamptz,
  check (num_nonnulls(seed, seed_hash, published_at) in (0, 3)),
  check ((candidates is null) = (decided_at is null))
);

create table notifications (
  id bigint generated always as identity primary key,
  user_id uuid not null references users,
  type text not null,
  title text not null, body text not null,
  data jsonb not null,
  source text collate "C" not null unique,
  created_at timestamptz not null,
  read_at timestamptz
);
create index notifications_user on notifications (user_id, id desc);
create index notifications_unread on notifications (user_id, id desc) where read_at is null;
create index notifications_at on notifications using brin (created_at);

-- Browsers that are told of notifications, and what each is still to be told.
create table push_subscriptions (
  id uuid primary key,
  user_id uuid not null references users,
  endpoint text collate "C" not null unique,
  p256dh text not null, auth text not null,
  kinds text[] not null,
  -- When it is left alone, `QuietHours` of src/features/push; null for never.
  quiet jsonb,
  created_at timestamptz not null
);
create index push_subscriptions_user on push_subscriptions (user_id);
create table push_outbox (
  notification_id bigint not null references notifications on delete cascade,
  subscription_id uuid not null references push_subscriptions on delete cascade,
  claimed_until timestamptz,
  primary key (notification_id, subscription_id)
);
create index push_outbox_subscription on push_outbox (subscription_id);

-- § Leagues

-- A league's purse has its id. `members` counts all who ever joined: a wallet is for good. The house founds the groups of
-- seasons, and tournaments. Their code joins nothing.
create table leagues (
  id uuid primary key,
  kind text not null default 'private' check (kind in ('private', 'season', 'tournament')),
  code text collate "C" not null unique,
  name text not null,
  founder_id uuid references users,
  scope text not null check (scope in ('all', 'practice', 'tournaments', 'chosen')),
  starting_micros bigint not null check (starting_micros between 1 and 1000000000000000),
  created_at timestamptz not null,
  starts_at timestamptz not null,
  ends_at timestamptz not null check (ends_at > starts_at),
  members integer not null default 0 check (members between 0 and 10000),
  decided_at timestamptz,
  season text collate "C" check (season ~ '^\d{4}-\d{2}$'),
  division smallint check (division between 1 and 5),
  season_group integer check (season_group > 0),
  unique (season, division, season_group),
  check ((kind = 'private') = (founder_id is not null)),
  check ((kind = 'season') = (season is not null and division is not null and season_group is not null)),
  check (kind = 'tournament' or members <= 1000)
);
create index leagues_undecided on leagues (ends_at) where decided_at is null;

create table league_matches (
  league_id uuid not null references leagues,
  match_id bigint not null,
  primary key (league_id, match_id)
);

-- `rank` and `result_micros` are the final table; null for those who had left, and until the league is decided.
create table league_members (
  league_id uuid not null references leagues,
  user_id uuid not null references users,
  joined_at timestamptz not null,
  left_at timestamptz,
  rank integer check (rank > 0),
  result_micros bigint,
  primary key (league_id, user_id),
  check ((rank is null) = (result_micros is null))
);
create index league_members_user on league_members (user_id);

-- Who takes part in a season, and in which of its groups.
create table season_entries (
  season text collate "C" not null,
  user_id uuid not null references users,
  league_id uuid not null references leagues,
  primary key (season, user_id)
);
create index season_entries_user on season_entries (user_id);

-- A match that is made from `seed`, which is told when the table is final and the match is over.
create table tournaments (
  league_id uuid primary key references leagues,
  seed text collate "C" not null check (seed ~ '^[0-9a-f]{64}$'),
  speed double precision not null check (speed > 0),
  replay_id uuid unique references replays
);
create index tournaments_waiting on tournaments (league_id) where replay_id is null;

-- What a settled match did to the ranks of those who have closed a position in it.
create table match_ranks (
  user_id uuid not null references users,
  purse text collate "C" not null check (purse in ('main', 'practice')),
  match_id bigint not null,
  settled_at timestamptz not null,
  rank_before integer check (rank_before > 0),
  rank_after integer check (rank_after > 0),
  primary key (user_id, purse, match_id)
);
create index match_ranks_settled on match_ranks using brin (settled_at);
-- Whom a user has passed.
create index match_ranks_places on match_ranks (match_id, purse, rank_after);
create table ranked_matches (match_id bigint primary key);

create table activity (
  id bigint generated always as identity primary key,
  user_id uuid not null references users,
  district_id integer not null,
  type text not null,
  text text not null,
  data jsonb not null,
  source text collate "C" not null unique,
  at timestamptz not null
);
create index activity_district on activity (district_id, id desc);
create index activity_user on activity (user_id);
create index activity_at on activity using brin (at);

-- The share model that came before positions. Read-only.
create table legacy_trades (
  id text collate "C" primary key,
  user_id uuid not null references users,
  player text not null,
  side text not null check (side in ('buy', 'sell')),
  quantity_micros bigint not null check (quantity_micros > 0),
  price_micros bigint not null check (price_micros >= 0),
  at timestamptz not null
);
create index legacy_trades_user on legacy_trades (user_id, at desc, id);

-- § Operations

create table settings (
  key text collate "C" primary key,
  value jsonb not null,
  updated_at timestamptz not null,
  updated_by uuid
);

-- One row, whose number counts the changes of all settings.
create table settings_version (
  id boolean primary key default true check (id),
  version bigint not null
);
insert into settings_version (version) values (0);

-- Append only. No foreign key: a record outlives its subject. Appending is a plain insert, so writers do not wait for one
-- another. Committed rows are then sealed: numbered, each with a hash over itself and the hash before it (see
-- db/audit-chain.ts). A sealed row never changes.
create table audit_log (
  id bigint generated always as identity primary key,
  at timestamptz not null,
  actor_id uuid,
  action text not null,
  subject text not null,
  before jsonb,
  after jsonb,
  outcome text not null default 'ok',
  n bigint unique check (n > 0),
  hash text check (hash ~ '^[0-9a-f]{64}$'),
  check ((n is null) = (hash is null))
);
-- What operators have written about a person. It is erased with the person; the entry keeps the digest of salt and words.
create table audit_words (
  digest text primary key check (digest ~ '^[0-9a-f]{64}$'),
  about uuid not null,
  salt text not null,
  words text not null
);
create index audit_words_about on audit_words (about);

create index audit_log_unsealed on audit_log (id) where n is null;
create index audit_log_subject on audit_log (subject, id);
create index audit_log_actor on audit_log (actor_id, id) where actor_id is not null;

-- The triggers prevent mistakes. The owner of the table can drop them; the hashes show what changed.
create function keep_audit_log() returns trigger language plpgsql as $$
begin
  if tg_op = 'UPDATE' then
    if old.n is null and new.n is not null
       and (old.id, old.at, old.actor_id, old.action, old.subject, old.before, old.after, old.outcome)
           is not distinct from
           (new.id, new.at, new.actor_id, new.action, new.subject, new.before, new.after, new.outcome) then
      return new;
    end if;
  end if;
  raise exception 'the audit log is append only';
end
$$;
create trigger audit_log_kept before update or delete on audit_log
  for each row execute function keep_audit_log();
create trigger audit_log_not_emptied before truncate on audit_log
  for each statement execute function keep_audit_log();

-- How far each task of the upkeep has got.
create table upkeep (
  task text primary key,
  done_until timestamptz not null
);

-- One row: distinguishes this database from every other that shares a fast store with it.
create table installation (
  id uuid not null default gen_random_uuid()
);
insert into installation default values;

-- § Growth: what grows without end, by months

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
  moved jsonb,
  part_of uuid
) partition by range (opened_at);
create unique index positions_archive_id on positions_archive (id, opened_at);
create index positions_archive_parts on positions_archive (match_id, part_of) where part_of is not null;
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
         answer_margin_micros, answer_unrealized_micros, answer_locked_micros, moved, part_of
    from positions
  union all
  select id, user_id, purse, match_id, instrument_id, sign, lots_micros, open_micros, open_base_micros, margin_micros,
         stop_loss_micros, take_profit_micros, opened_at, closable_at, warned, close_micros, close_base_micros,
         pnl_micros, closed_at, closed_by, void_reason, void_note, opened_marker, opened_stop_micros, opened_take_micros,
         closed_marker, null::text, null::bigint, null::bigint, null::bigint, null::bigint, null::bigint, null::bigint, moved,
         part_of
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
