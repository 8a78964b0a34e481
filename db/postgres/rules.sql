-- The rules of the game that SQL repeats, because a statement needs them for rows that no match has in memory. Each is
-- the twin of a function of `actors`, which the named test compares with it. `rules.ts` writes the constants of
-- actors/kernel/limits.ts in the place of names in braces and creates all of them under names that end in one digest, so
-- two versions side by side each have their own.

-- actors/kernel/own-limits.ts (test/db/own-limits.pg.test.ts). A user's own limit in force at an instant: `next` takes
-- the place of `now` at `at`. Null is no limit.
create function own_limit(lim jsonb, now_ms bigint) returns bigint language sql immutable parallel safe as $$
  select case when (lim ->> 'at')::bigint <= now_ms then (lim ->> 'next')::bigint else (lim ->> 'now')::bigint end
$$;

-- Whether a user's own limits forbid an opening after which `risk` may be lost in the day.
create function own_limits_forbid(limits jsonb, risk bigint, now_ms bigint) returns boolean
language sql immutable parallel safe as $$
  select coalesce(greatest(own_limit(limits -> 'coolOffUntil', now_ms), own_limit(limits -> 'excludedUntil', now_ms)) > now_ms
                  or own_limit(limits -> 'dailyLoss', now_ms) < risk, false)
$$;

-- `OwnBounds` in actors/kernel/own-limits.ts; null without limits.
create function own_bounds(limits jsonb, day integer, result bigint, stake bigint, now_ms bigint) returns jsonb
language sql immutable parallel safe as $$
  select jsonb_build_object(
           'until', greatest(own_limit(limits -> 'coolOffUntil', now_ms), own_limit(limits -> 'excludedUntil', now_ms)),
           'dailyLoss', own_limit(limits -> 'dailyLoss', now_ms),
           'lostToday', case when day >= now_ms / 86400000 then -result else 0 end,
           'atStake', stake)
   where limits is not null
$$;

-- `leavingPrice` in actors/market/price-curve.ts, which explains it (test/db/exit-price.pg.test.ts): what positions
-- with so much exposure in all (lots, negative when short) are paid when they leave together. For what users hold in
-- other matches than the one that commits. A short is the mirror image of a long: imbalance, caps and rounding change
-- sides.
-- In PL/pgSQL, because a function in SQL is set up again for every call: 10 instead of 160 µs a position.
create function exit_price(i instruments, exposure numeric) returns bigint language plpgsql immutable parallel safe as $$
declare
  way constant integer := sign(exposure);
  foot numeric; cap numeric; up numeric; down numeric; at numeric; after numeric; parts numeric; cost numeric;
begin
  if i.settlement_micros is not null then
    return i.settlement_micros;
  elsif i.ended_imbalance_micros is not null then
    return i.price_micros;
  end if;
  foot := greatest({PRICE_MIN}, i.base_micros);
  cap := div(foot * i.impact_cap_ppm, 1000000);
  up := cap * 1000000;
  down := least(cap, foot - {PRICE_MIN}) * 1000000;
  if way < 0 then
    cost := up;
    up := down;
    down := cost;
  end if;
  at := way * i.imbalance_micros::numeric * i.slope_micros;
  after := at - abs(exposure) * i.slope_micros;
  parts := 2000000::numeric * i.slope_micros * abs(exposure);
  cost := case when at > up then up * (2 * at - up) when at < -down then down * (-2 * at - down) else at * at end
          - case when after > up then up * (2 * after - up) when after < -down then down * (-2 * after - down)
                 else after * after end;
  return foot + way * (div(cost, parts) - (mod(cost, parts) < 0)::integer);
end
$$;

-- actors/position/position.ts, `realisedPnl` (test/contract/match-store.ts): what a position would realise at an exit
-- price, never below what its margin covers.
create function pnl_at(exit_micros bigint, sign smallint, lots bigint, open_micros bigint, margin bigint) returns bigint
language sql immutable parallel safe as $$
  select greatest(-margin, floor(sign * (exit_micros - open_micros)::numeric * lots * {UNITS_A_LOT}))::bigint
$$;

-- actors/match/protection (test/contract/protection.ts). What closes have paid that news may still move. It opens
-- nothing, and no match that is over moves it.
create function unsettled_proceeds(owner uuid, of_purse text, now timestamptz) returns bigint language sql stable as $$
  select coalesce(sum(p.margin_micros + p.pnl_micros), 0)::bigint from positions p
   where p.user_id = owner and p.purse = of_purse and p.movable_until > now and p.closed_by is not null
     and not exists (select from matches m where m.id = p.match_id and m.info ->> 'settling' is not null)
$$;
