/**
 * The one function through which a match writes. It lives in the database because a batch is many small statements that
 * must be one round trip, one transaction, and able to turn itself down before it has written anything.
 */

/**
 * The caller passes parallel arrays, so a batch of 500 trades costs about what 20 do. Statements inside see each other's
 * effects (READ COMMITTED, one snapshot each): after the wallets are locked nothing about these users can change.
 * Planner settings are pinned because a plan cached while the tables were small fell to a twelfth of the speed.
 */
export const COMMIT_BATCH_SQL = `
create function commit_batch(
  p_match bigint, p_epoch bigint, p_batch uuid, p_at timestamptz, p_open_max integer, p_watch uuid[],
  w_user uuid[], w_balance bigint[], w_margin bigint[], w_open integer[], w_events integer[],
  c_user uuid[], c_version bigint[], c_balance bigint[],
  k_user uuid[], k_route text[], k_key text[], k_fingerprint text[], k_result text[],
  o_id uuid[], o_user uuid[], o_instrument uuid[], o_sign smallint[], o_lots bigint[], o_price bigint[],
  o_margin bigint[], o_stop bigint[], o_take bigint[], o_closable timestamptz[],
  l_id uuid[], l_stop bigint[], l_take bigint[], l_warned smallint[],
  x_id uuid[], x_user uuid[], x_price bigint[], x_pnl bigint[], x_release bigint[], x_by text[],
  e_user uuid[], e_kind text[], e_position uuid[], e_stop bigint[], e_take bigint[], e_warned smallint[],
  i_listed jsonb,
  i_id uuid[], i_base bigint[], i_imbalance bigint[], i_price bigint[], i_published bigint[],
  i_suspended timestamptz[], i_settlement bigint[],
  t_id uuid[], t_at timestamptz[], t_price bigint[], t_base bigint[], t_imbalance bigint[], t_cause text[],
  t_event bigint[],
  m_info jsonb, m_pricing jsonb
) returns table (
  verdict text, user_id uuid, balance bigint, margin bigint, unrealized bigint, version bigint,
  fingerprint text, result jsonb
) language plpgsql
set plan_cache_mode = force_generic_plan
set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off set jit = off
as $body$
#variable_conflict use_column
declare
  changed bigint;
begin
  -- Fence. The share lock makes a take-over wait for this transaction, and this one notice a take-over.
  perform 1 from match_leases l where l.match_id = p_match and l.epoch = p_epoch for share;
  if not found then
    return query select 'fenced', null::uuid, null::bigint, null::bigint, null::bigint, null::bigint, null, null::jsonb;
    return;
  end if;

  -- Everybody locks wallets in this order, so no two matches can wait for each other.
  perform 1 from wallets w where w.user_id = any (w_user) order by w.user_id for no key update;

  return query
    select 'key_used', r.user_id, r.balance_micros, r.margin_micros, r.unrealized_micros, null::bigint,
           r.fingerprint, r.result
      from unnest(k_user, k_route, k_key) k (user_id, route, key)
      join command_results r on r.user_id = k.user_id and r.route = k.route and r.key = k.key
    union all
    select 'insufficient_margin', w.user_id, coalesce(c.balance, w.balance_micros), null, null, null, null, null
      from unnest(w_user, w_balance) d (user_id, balance)
      join wallets w on w.user_id = d.user_id
      left join unnest(c_user, c_version, c_balance) c (user_id, version, balance)
        on c.user_id = w.user_id and coalesce(c.version, w.version) = w.version
     where d.balance < 0 and coalesce(c.balance, w.balance_micros) + d.balance < 0
    union all
    select 'position_limit', w.user_id, null, null, null, null, null, null
      from unnest(w_user, w_open) d (user_id, open)
      join wallets w on w.user_id = d.user_id
     where d.open > 0 and w.open_positions + d.open > p_open_max;
  if found then
    return;
  end if;

  -- A cached balance that somebody else changed at the current version is adopted, and booked where all can see it.
  insert into ledger_entries (tx, account, user_id, amount_micros, kind, reference, at)
    select p_batch, side.account, case side.account when 'user' then w.user_id end,
           side.sign * (c.balance - w.balance_micros), 'external_adjustment',
           'external:' || side.account || ':' || w.user_id || ':' || w.version, p_at
      from unnest(c_user, c_version, c_balance) c (user_id, version, balance)
      join wallets w on w.user_id = c.user_id and w.version = coalesce(c.version, w.version)
                    and w.balance_micros <> c.balance
     cross join (values ('user', 1), ('house', -1)) side (account, sign);

  update wallets w
     set balance_micros = case when coalesce(c.version, w.version) = w.version then coalesce(c.balance, w.balance_micros)
                           else w.balance_micros end + d.balance,
         margin_micros = w.margin_micros + d.margin,
         open_positions = w.open_positions + d.open,
         events = w.events + d.events,
         version = w.version + 1
    from unnest(w_user, w_balance, w_margin, w_open, w_events) d (user_id, balance, margin, open, events)
    left join unnest(c_user, c_version, c_balance) c (user_id, version, balance) on c.user_id = d.user_id
   where w.user_id = d.user_id
     and (d.events <> 0 or (coalesce(c.version, w.version) = w.version and c.balance <> w.balance_micros));

  insert into positions (id, user_id, match_id, instrument_id, sign, lots_micros, open_micros, margin_micros,
                         stop_loss_micros, take_profit_micros, opened_at, closable_at)
    select o.id, o.user_id, p_match, o.instrument, o.sign, o.lots, o.price, o.margin, o.stop, o.take, p_at, o.closable
      from unnest(o_id, o_user, o_instrument, o_sign, o_lots, o_price, o_margin, o_stop, o_take, o_closable)
           o (id, user_id, instrument, sign, lots, price, margin, stop, take, closable);

  update positions p set stop_loss_micros = l.stop, take_profit_micros = l.take, warned = l.warned
    from unnest(l_id, l_stop, l_take, l_warned) l (id, stop, take, warned)
   where p.id = l.id and p.match_id = p_match and p.closed_at is null;
  get diagnostics changed = row_count;
  if changed <> cardinality(l_id) then
    raise exception 'batch %: % of % changed positions are open', p_batch, changed, cardinality(l_id);
  end if;

  update positions p set close_micros = x.price, pnl_micros = x.pnl, closed_at = p_at, closed_by = x.by
    from unnest(x_id, x_price, x_pnl, x_by) x (id, price, pnl, by)
   where p.id = x.id and p.match_id = p_match and p.closed_at is null;
  get diagnostics changed = row_count;
  if changed <> cardinality(x_id) then
    raise exception 'batch %: % of % closed positions were open', p_batch, changed, cardinality(x_id);
  end if;

  -- A user's events are numbered by his wallet, which is locked: markers have no gaps and become visible in order.
  insert into account_events (user_id, marker, kind, position_id, stop_loss_micros, take_profit_micros, warned, at)
    select e.user_id, w.events - d.events + row_number() over (partition by e.user_id order by e.n),
           e.kind, e.position, e.stop, e.take, e.warned, p_at
      from unnest(e_user, e_kind, e_position, e_stop, e_take, e_warned)
           with ordinality e (user_id, kind, position, stop, take, warned, n)
      join wallets w on w.user_id = e.user_id
      join unnest(w_user, w_events) d (user_id, events) on d.user_id = e.user_id;

  with entries as (
    insert into ledger_entries (tx, account, user_id, amount_micros, kind, reference, position_id, at)
      select p_batch, 'user', o.user_id, -o.margin, 'margin', 'open:' || o.id, o.id, p_at
        from unnest(o_id, o_user, o_margin) o (id, user_id, margin)
      union all
      select p_batch, 'user', x.user_id, x.release, 'release', 'close:' || x.id, x.id, p_at
        from unnest(x_id, x_user, x_release) x (id, user_id, release)
      returning amount_micros
  )
  insert into ledger_entries (tx, account, amount_micros, kind, reference, at)
    select p_batch, 'house', -sum(amount_micros), 'batch', 'batch:' || p_batch, p_at from entries having count(*) > 0;

  if m_info is not null then
    insert into matches (id, phase, replay, starts_at, settled_at, info, pricing)
      values (p_match, m_info ->> 'phase', (m_info ->> 'replay')::boolean,
              to_timestamp((m_info ->> 'startsAt')::double precision / 1000),
              to_timestamp((m_info ->> 'settledAt')::double precision / 1000), m_info, m_pricing)
      on conflict (id) do update
         set phase = excluded.phase, starts_at = excluded.starts_at, settled_at = excluded.settled_at,
             info = excluded.info, pricing = excluded.pricing;
  end if;

  insert into instruments (id, player_id, name, position, side, jersey, starter, match_id, start_micros, slope_micros,
                           base_micros, imbalance_micros, price_micros, published_micros)
    select n.id, n."playerId", n.name, n.position, n.side, n.jersey, n.starter, p_match, n.start, n.slope,
           n.base, n.imbalance, n.base, n.published
      from jsonb_to_recordset(i_listed) n (id uuid, "playerId" bigint, name text, position text, side text,
           jersey integer, starter boolean, start bigint, slope bigint, base bigint, imbalance bigint, published bigint)
    on conflict (id) do update
       set name = excluded.name, position = excluded.position, side = excluded.side, jersey = excluded.jersey,
           starter = excluded.starter, match_id = excluded.match_id, start_micros = excluded.start_micros,
           slope_micros = excluded.slope_micros, base_micros = excluded.base_micros,
           imbalance_micros = excluded.imbalance_micros, price_micros = excluded.price_micros,
           published_micros = excluded.published_micros, suspended_until = null, settlement_micros = null;

  update instruments i
     set base_micros = n.base, imbalance_micros = n.imbalance, price_micros = n.price, published_micros = n.published,
         suspended_until = n.suspended, settlement_micros = n.settlement
    from unnest(i_id, i_base, i_imbalance, i_price, i_published, i_suspended, i_settlement)
         n (id, base, imbalance, price, published, suspended, settlement)
   where i.id = n.id and i.match_id = p_match;

  insert into ticks (instrument_id, at, price_micros, base_micros, imbalance_micros, cause, provider_event_id)
    select * from unnest(t_id, t_at, t_price, t_base, t_imbalance, t_cause, t_event);

  -- Equity in the answer is over every match the user has positions in, at their last committed prices.
  return query
    with after as materialized (
      select w.user_id, w.balance_micros, w.margin_micros, w.version, coalesce(sum(greatest(-p.margin_micros, floor(
               p.sign * (i.price_micros - p.open_micros)::numeric * p.lots_micros * 5 / 1000000))) filter (where i.id is not null), 0)::bigint as pnl
        from wallets w
        left join positions p on p.user_id = w.user_id and p.closed_at is null
        left join instruments i on i.id = p.instrument_id
       where w.user_id = any (p_watch)
       group by w.user_id
    ), stored as (
      insert into command_results (user_id, route, key, fingerprint, result, balance_micros, margin_micros,
                                   unrealized_micros, at)
        select k.user_id, k.route, k.key, k.fingerprint, k.result::jsonb, a.balance_micros, a.margin_micros, a.pnl, p_at
          from unnest(k_user, k_route, k_key, k_fingerprint, k_result) k (user_id, route, key, fingerprint, result)
          join after a on a.user_id = k.user_id
         where k.result is not null
    )
    select 'committed', a.user_id, a.balance_micros, a.margin_micros, a.pnl, a.version, null, null::jsonb from after a
    union all
    select 'committed', null, null, null, null, null, null, null where not exists (select 1 from after);
end
$body$`
