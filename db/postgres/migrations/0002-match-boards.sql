-- The table of each match: who has made what of it, by the order of the boards (src/features/match-board).

-- Up to which row of a match's outbox its table has counted. `is_final` after the last close.
create table match_boards (
  match_id bigint primary key,
  seq bigint not null default 0,
  is_final boolean not null default false,
  -- Whether the steps are those of the places, and when they last were made.
  is_stepped boolean not null default true,
  stepped_at timestamptz not null default '-infinity'
);
create index match_boards_unstepped on match_boards (match_id) where not is_stepped;

-- `key` is the order of the boards (actors/community/ranking.ts), ascending.
create table match_board_places (
  user_id uuid not null references users,
  match_id bigint not null,
  district_id integer not null,
  closed integer not null, wins integer not null,
  pnl_micros bigint not null, base_moves_micros bigint not null, margin_micros bigint not null,
  stake_micros bigint not null,
  first_trade_at timestamptz,
  key bigint[] not null,
  shown boolean not null,
  primary key (user_id, match_id)
);
create index match_board_places_all on match_board_places (match_id, key, user_id) where shown;
create index match_board_places_district on match_board_places (match_id, district_id, key, user_id) where shown;

-- How many places are ahead of every 256th, of everybody (district 0) and of each district: a place is found by counting
-- from the last of them.
create table match_board_steps (
  match_id bigint not null,
  district_id integer not null,
  key bigint[] not null,
  user_id uuid not null,
  ahead integer not null,
  primary key (match_id, district_id, key, user_id)
);
