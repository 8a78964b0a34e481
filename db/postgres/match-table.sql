-- The table of a match: a page of it, after those passed, and the reader between their neighbours, of some hundred rows
-- in all. A place is found from the last step before it (match_board_steps), by counting those between. After a rush there are more than are
-- counted until the steps are made again, seconds later. A function, so that each connection plans it once. There is
-- one row at least; it has no user if none is ranked.
create function match_table(of_match bigint, of_district integer, reader uuid, passed integer, places integer,
                            neighbours integer, counted_max integer)
returns table (user_id uuid, district_id integer, closed integer, wins integer, pnl_micros bigint,
               base_moves_micros bigint, stake_micros bigint, first_trade_at timestamptz, username text, is_bot boolean,
               off_boards boolean, is_page boolean, total integer, ahead integer, better integer, is_final boolean)
language plpgsql stable
-- The plan is kept: one made while tables were empty would read them whole.
set enable_seqscan = off
set plan_cache_mode = force_generic_plan
-- Compiling it would take longer than running it.
set jit = off
as $$
#variable_conflict use_column
declare
  last_key constant bigint[] = array[9223372036854775807];
  first_user constant uuid = '00000000-0000-0000-0000-000000000000';
begin
  return query
    with mine as materialized (
      select p.key, p.user_id from match_board_places p where p.user_id = reader and {SCOPE}
    ), start as materialized (
      select s.key, s.user_id, s.ahead from match_board_steps s
       where s.match_id = of_match and s.district_id = of_district and s.ahead <= passed
       order by s.key desc, s.user_id desc limit 1
    ), page as materialized (
      select p.*, true as is_page from match_board_places p
       where {SCOPE} and (p.key, p.user_id) >= (coalesce((select s.key from start s), '{}'),
                                                coalesce((select s.user_id from start s), first_user))
       order by p.key, p.user_id
      offset least(passed - coalesce((select s.ahead from start s), 0), counted_max) limit places
    ), around as materialized (
      (select p.*, false as is_page from mine m cross join lateral (
         select * from match_board_places p where {SCOPE} and (p.key, p.user_id) < (m.key, m.user_id)
          order by p.key desc, p.user_id desc limit neighbours) p)
      union all
      (select p.*, false from mine m cross join lateral (
         select * from match_board_places p where {SCOPE} and (p.key, p.user_id) >= (m.key, m.user_id)
          order by p.key, p.user_id limit neighbours + 1) p)
    ), marks as (
      select 'total' as name, last_key as key, first_user as user_id
      union all
      -- Equal users share the rank of the first of them.
      (select unnest(array['ahead', 'better']), a.key, unnest(array[a.user_id, first_user])
         from around a order by a.key, a.user_id limit 2)
    ), counts as materialized (
      select max(n.ahead) filter (where m.name = 'total') as total,
             max(n.ahead) filter (where m.name = 'ahead') as ahead,
             max(n.ahead) filter (where m.name = 'better') as better
        from marks m
        left join lateral (
          select s.key, s.user_id, s.ahead from match_board_steps s
           where s.match_id = of_match and s.district_id = of_district and (s.key, s.user_id) <= (m.key, m.user_id)
           order by s.key desc, s.user_id desc limit 1) s on true
        cross join lateral (
          select coalesce(s.ahead, 0) + count(*)::integer as ahead from (
            select from match_board_places p
             where {SCOPE} and (p.key, p.user_id) < (m.key, m.user_id)
               and (p.key, p.user_id) >= (coalesce(s.key, '{}'), coalesce(s.user_id, first_user))
             order by p.key, p.user_id limit counted_max) between_) n
    )
    select p.user_id, p.district_id, p.closed, p.wins, p.pnl_micros, p.base_moves_micros, p.stake_micros,
           p.first_trade_at, u.username, u.bot_since is not null, u.off_boards, p.is_page,
           c.total, coalesce(c.ahead, 0), coalesce(c.better, 0),
           coalesce((select b.is_final and b.is_stepped
                       -- A fixture that was void may be played again.
                       and exists (select from matches m where m.id = b.match_id and m.settled_at is not null)
                       from match_boards b where b.match_id = of_match), false)
      from counts c
      left join ((select * from page union all select * from around) p cross join lateral (
        -- The limit keeps the planner, who does not know those above, from reading all users.
        select username, bot_since, off_boards from users where id = p.user_id limit 1) u) on true
     order by p.is_page desc, p.key, p.user_id;
end $$
