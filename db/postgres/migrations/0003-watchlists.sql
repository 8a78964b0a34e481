-- Players that users follow, prices that they wait for, and the news that followers are still to be told of
-- (src/features/watchlist). No key refers to instruments: it would lock rows that every trade writes.

create table watchlist_players (
  user_id uuid not null references users,
  instrument_id uuid not null,
  since timestamptz not null,
  primary key (user_id, instrument_id)
);
create index watchlist_players_followers on watchlist_players (instrument_id, user_id);

-- What a user is told of their players; without a row of everything.
create table watchlist_choices (
  user_id uuid primary key references users,
  kinds text[] not null
);

-- A row goes when its price is reached.
create table watchlist_alerts (
  id uuid primary key,
  user_id uuid not null references users,
  instrument_id uuid not null,
  level_micros bigint not null check (level_micros > 0),
  -- Whether the price has to rise to it.
  is_above boolean not null,
  created_at timestamptz not null,
  unique (user_id, instrument_id, level_micros)
);
create index watchlist_alerts_due on watchlist_alerts (instrument_id, is_above, level_micros);

-- Matches at whose kick-off users want to be told. The rows go when all have been.
create table watchlist_reminders (
  user_id uuid not null references users,
  match_id bigint not null,
  since timestamptz not null,
  primary key (user_id, match_id)
);
create index watchlist_reminders_match on watchlist_reminders (match_id, user_id);

-- What of a match has been noticed: how often each player has done what, and the kick-off.
create table watchlist_matches (
  match_id bigint primary key,
  feed_seq bigint not null,
  seen jsonb not null
);

-- News for the followers of some players of a match. They are told in the order of users, a part at a time; the row goes
-- with the last.
create table watchlist_news (
  id bigint generated always as identity primary key,
  match_id bigint not null,
  at timestamptz not null,
  news jsonb not null,
  told_until uuid not null default '00000000-0000-0000-0000-000000000000'
);
