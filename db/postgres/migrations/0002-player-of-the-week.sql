-- Player of the week: the footballers whose base rose most in the live matches of a week.
create table player_weeks (
  -- `2026-W21`.
  week text not null,
  rank integer not null check (rank >= 1),
  instrument_id uuid not null,
  name text not null,
  team text not null,
  gain_ppm integer not null,
  primary key (week, rank)
);
