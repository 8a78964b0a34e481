-- The table of a league: the final one once it is decided, and before that as of now. What leaving a position pays in a
-- league depends on the base alone, so the sum is what leaving everything at once would pay. Frozen users come last, and
-- who is on no board is marked. A function, so that each connection plans it once.
create function league_table(league uuid, places integer)
returns table (place integer, member uuid, member_name text, value bigint, open integer, hidden boolean)
language plpgsql stable
-- The plan is kept: one made while tables were empty would read them whole.
set enable_seqscan = off
as $$
begin
  return query
    with held as materialized (
      select p.user_id,
             sum(pnl_at(greatest({PRICE_MIN}, i.base_micros), p.sign, p.lots_micros, p.open_micros, p.margin_micros)) as worth
        from positions p join instruments i on i.id = p.instrument_id
       where p.purse = league::text and p.purse not in ('main', 'practice') and p.closed_at is null
       group by p.user_id
    ), worths as (
      select m.user_id, m.rank as final, coalesce(w.open_positions, 0) as positions,
             coalesce(m.result_micros, coalesce(w.balance_micros + w.margin_micros, 0) + coalesce(h.worth, 0))::bigint as worth
        from league_members m
        left join wallets w on w.user_id = m.user_id and w.purse = league::text
        left join held h on h.user_id = m.user_id
       where m.league_id = league and m.left_at is null
    )
    select coalesce(worths.final, rank() over (order by u.status <> 'active', worths.worth desc)::integer),
           worths.user_id, u.username, worths.worth, worths.positions, u.off_boards
      from worths join users u on u.id = worths.user_id
     order by 1, u.username limit places;
end $$
