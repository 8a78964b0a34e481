-- commit_batch: the one function through which matches write. It lives in the database because a batch is many small
-- statements that must be one round trip and one transaction, and able to reject itself with nothing written.
-- An edit takes effect at the next start: db/postgres/repeatable.ts creates a new function for each new text.
--
-- Arguments are passed by name, from `CommitArguments` in commit-batch.ts. Their prefixes, and those of local arrays:
--   b_  the batches, one element each
--   p_  what is the same for all of them
--   w_  wallets, one element per user and purse in ascending order; elsewhere `wallet` is an index into these arrays,
--       from 1, and `batch` one into those of b_. `log`: the index of the user's main wallet, which counts the events of
--       all purses
--   o_  positions opened             l_  positions whose size, levels or warning changed      x_  positions closed
--   q_  parts split off of positions, which x_ closes
--   e_  account events that have a row of their own      `followers`: how many events of the same user come after one
--   i_  instruments (`i_listed` as JSON, then all that changed)      t_  ticks      s_  recent trades
--   m_  the match's own row          j_  the row of the journal, null for a batch that heard nothing
--   k_  rows of the outbox, `n` counting those of a batch from 1, and their events in one text, a line each
--   f_  fills that news has moved, and w_held_back, x_movable, i_news: protection only, see below
--   r_  the rows of the tape, one element per batch, null for one of which nothing is told
--   n_  local: the wallets as the batch leaves them      h_  local: the wallets as found after a failure
--   d, b, o, l, q, x, c, a, e, n, s, k, r as table aliases are the unnested arrays
--
-- What stands between `--( protection` and `--)` is for matches under `trading.protection`: they call a function of their
-- own, made of this text with those lines. The other has none of them.
--
-- The caller passes parallel arrays, so a batch of 500 trades costs about as much as one of 20. Joining two arrays
-- would cost n², and looking a wallet up again costs 1 µs each time: hence the index.
-- Starting the statements costs as much as twenty trades, so the batches of several matches that wait at the same time
-- come in one call, which shares them. They have no user in common, and none of them changes its match, has heard
-- something or is under protection. What fails for one of them fails for all (`split`): the caller sends them again,
-- each alone, and only then the reasons are looked for.
-- A batch is written as if it could not fail, in a subtransaction. If it does fail (a wallet that cannot pay, a used
-- key, a balance changed from outside), that is rolled back, and the wallets are locked and inspected. Inspecting first
-- would add a fifth to the cost of each trade, for a case that is rare.
-- Statements see each other's effects (READ COMMITTED, one snapshot each): after the first one every wallet is locked,
-- and nothing about these users can change. Planner settings are pinned and row look-ups are written as sub-selects: a
-- plan made while a table was empty reads the whole table for every row, and is kept (40 times slower at 6,000
-- positions). Arrays are unnested in select lists: in a from clause each is first copied into its own store, which
-- costs 4 µs a trade, a tenth of the total.
create function commit_batch(
  b_match bigint[], b_epoch bigint[], b_id uuid[], b_at timestamptz[],
  p_open_max integer, p_timeline text, p_adopt_max bigint,
  w_user uuid[], w_purse text[], w_batch integer[], w_log integer[], w_balance bigint[], w_margin bigint[], w_open integer[], w_events integer[], w_held integer[],
  w_worth bigint[],
  w_cached bigint[], w_cached_version bigint[], w_need bigint[],
  p_look boolean, w_command uuid[], w_fingerprint text[], w_result text,
  o_id uuid[], o_wallet integer[], o_instrument uuid[], o_sign smallint[], o_lots bigint[], o_price bigint[],
  o_base bigint[], o_margin bigint[], o_stop bigint[], o_take bigint[], o_closable timestamptz[], o_followers integer[],
  o_fingerprint text[], o_after bigint[], o_exit bigint[],
  l_id uuid[], l_lots bigint[], l_margin bigint[], l_stop bigint[], l_take bigint[], l_warned smallint[],
  q_id uuid[], q_of uuid[], q_wallet integer[], q_lots bigint[], q_margin bigint[], q_followers integer[],
  x_id uuid[], x_wallet integer[], x_price bigint[], x_base bigint[], x_pnl bigint[], x_release bigint[], x_by text[],
  x_reason text[], x_followers integer[],
  e_wallet integer[], e_followers integer[], e_kind text[], e_position uuid[], e_stop bigint[], e_take bigint[],
  e_warned smallint[],
  i_listed jsonb,
  i_id uuid[], i_base bigint[], i_imbalance bigint[], i_price bigint[],
  i_settlement bigint[], i_cap integer[], i_leaving bigint[], i_ended bigint[],
  t_id uuid[], t_at timestamptz[], t_price bigint[], t_base bigint[], t_imbalance bigint[], t_cause text[],
  t_event bigint[], t_why text[],
  s_id uuid[], s_batch integer[], s_lots bigint[], s_trades text[],
  m_info jsonb, m_pricing jsonb,
  k_batch integer[], k_n integer[], k_events text, j_fresh boolean, j_entries bytea,
  r_first integer[], r_last integer[], r_secret bytea[], r_lines bytea[]
--( protection
  , p_protected jsonb
--)
) returns table (
  verdict text, user_id uuid, balance bigint, margin bigint, unrealized bigint, fingerprint text, result text,
  balances text, margins text, worths text, versions text, opens text, frozens text
--( protection
  , locked bigint, lockeds text
--)
) language plpgsql
set plan_cache_mode = force_generic_plan
set enable_seqscan = off set enable_bitmapscan = off set enable_hashjoin = off set enable_mergejoin = off set jit = off
as $body$
#variable_conflict use_column
declare
  n_user uuid[]; n_balance bigint[]; n_margin bigint[]; n_open integer[]; n_events bigint[]; n_version bigint[];
  n_pnl bigint[];
--( protection
  n_locked bigint[];
  -- A function takes no more arguments than these have left, so they come as one.
  w_held_back constant bigint[] := array(select e.v::bigint from jsonb_array_elements_text(p_protected -> 'w_held_back') with ordinality e (v, n)
    order by e.n);
  x_movable constant timestamptz[] := array(select e.v::timestamptz from jsonb_array_elements_text(p_protected -> 'x_movable') with ordinality e (v, n)
    order by e.n);
  f_id constant uuid[] := array(select e.v::uuid from jsonb_array_elements_text(p_protected -> 'f_id') with ordinality e (v, n)
    order by e.n);
  f_wallet constant integer[] := array(select e.v::integer from jsonb_array_elements_text(p_protected -> 'f_wallet') with ordinality e (v, n)
    order by e.n);
  f_open constant bigint[] := array(select e.v::bigint from jsonb_array_elements_text(p_protected -> 'f_open') with ordinality e (v, n)
    order by e.n);
  f_open_base constant bigint[] := array(select e.v::bigint from jsonb_array_elements_text(p_protected -> 'f_open_base') with ordinality e (v, n)
    order by e.n);
  f_close constant bigint[] := array(select e.v::bigint from jsonb_array_elements_text(p_protected -> 'f_close') with ordinality e (v, n)
    order by e.n);
  f_close_base constant bigint[] := array(select e.v::bigint from jsonb_array_elements_text(p_protected -> 'f_close_base') with ordinality e (v, n)
    order by e.n);
  f_pnl constant bigint[] := array(select e.v::bigint from jsonb_array_elements_text(p_protected -> 'f_pnl') with ordinality e (v, n)
    order by e.n);
  f_amount constant bigint[] := array(select e.v::bigint from jsonb_array_elements_text(p_protected -> 'f_amount') with ordinality e (v, n)
    order by e.n);
  f_moved constant text[] := array(select e.v::text from jsonb_array_elements_text(p_protected -> 'f_moved') with ordinality e (v, n)
    order by e.n);
  f_movable constant timestamptz[] := array(select e.v::timestamptz from jsonb_array_elements_text(p_protected -> 'f_movable') with ordinality e (v, n)
    order by e.n);
  f_followers constant integer[] := array(select e.v::integer from jsonb_array_elements_text(p_protected -> 'f_followers') with ordinality e (v, n)
    order by e.n);
  i_news constant text[] := array(select e.v::text from jsonb_array_elements_text(p_protected -> 'i_news') with ordinality e (v, n)
    order by e.n);
--)
  -- The only batch, except where a statement says otherwise. Instants of batches that come together differ by the time
  -- that one waited for a connection.
  p_match constant bigint := b_match[1];
  p_epoch constant bigint := b_epoch[1];
  p_batch constant uuid := b_id[1];
  p_at constant timestamptz := b_at[1];
  now_ms constant bigint := extract(epoch from p_at) * 1000;
  today constant integer := now_ms / 86400000;
  -- `booked` is the balance in the ledger, `balance` the one in force.
  h_booked bigint[]; h_balance bigint[]; h_margin bigint[]; h_open integer[];
  h_frozen integer[]; h_bounds jsonb[]; h_forbidden boolean[];
  h_refused text[];
--( protection
  h_locked bigint[];
--)
  changed bigint; last_seqs bigint[]; broken text;
  -- Full time of a live match fixes the settlement prices in this batch.
  p_whistled constant boolean := coalesce(m_info ->> 'settling' = 'full_time' and m_info ->> 'replay' = 'false', false);
begin
  -- One of a group must not keep the others waiting. Alone it may take its time.
  if cardinality(b_match) > 1 then
    perform set_config('lock_timeout', '250ms', true);
  end if;

  -- Fence. With the share lock a take-over waits for this transaction, and this transaction notices a take-over.
  perform 1 from (select unnest(b_match) as match, unnest(b_epoch) as epoch) b
    join match_leases l on l.match_id = b.match and l.epoch = b.epoch for share of l;
  get diagnostics changed = row_count;
  if changed <> cardinality(b_match) then
    verdict := case when cardinality(b_match) = 1 then 'fenced' else 'split' end;
    return next;
    return;
  end if;

  -- The first round fails only for a reason that the code below finds. The second meets wallets locked and corrected.
  for round in 1..2 loop
    begin
      -- Every match locks wallets in the order of users and purses, so no two matches can wait for each other. Only a
      -- change of the balance makes a new version: the cached one still holds after any other.
      with after as (
        update wallets w
           set balance_micros = w.balance_micros + d.balance, margin_micros = w.margin_micros + d.margin,
               open_positions = w.open_positions + d.open, events = w.events + d.events,
               version = w.version + (d.balance <> 0)::integer,
               -- What a trade does to balance and margin together is what it has won or lost.
               day = greatest(w.day, today),
               day_result_micros = case when w.day < today then 0 else w.day_result_micros end + d.balance + d.margin
          from (select unnest(w_user) as user_id, unnest(w_purse) as purse, unnest(w_balance) as balance,
                       unnest(w_margin) as margin, unnest(w_open) as open, unnest(w_events) as events,
                       unnest(w_cached) as cached, unnest(w_cached_version) as cached_version,
                       unnest(w_need) as need) d
         where w.user_id = d.user_id and w.purse = d.purse
           and w.balance_micros + d.balance between 0 and {MICROS_MAX}
           and w.margin_micros + d.margin >= 0 and w.open_positions + d.open >= 0
           and (d.open <= 0 or w.open_positions + d.open <= p_open_max)
           and (d.need = 0 or not w.frozen)
           and (d.need = 0 or w.limits is null or not own_limits_forbid(w.limits,
                  w.margin_micros + d.margin - case when w.day < today then 0 else w.day_result_micros end - d.balance - d.margin, now_ms))
           and (d.cached is null or d.cached = w.balance_micros or d.cached_version <> w.version)
        returning w.user_id, w.balance_micros, w.margin_micros, w.open_positions, w.events, w.version
      )
      select array_agg(a.user_id), array_agg(a.balance_micros), array_agg(a.margin_micros), array_agg(a.open_positions),
             array_agg(a.events), array_agg(a.version)
        into n_user, n_balance, n_margin, n_open, n_events, n_version
        from after a;
      if n_user is distinct from nullif(w_user, '{}') then
        raise sqlstate 'TL001' using message = format('batch %s: a wallet does not allow it', p_batch);
      end if;

      -- A key that opens a position is its primary key, which is unique anyway; only other keys (p_look) must be looked
      -- up among positions.
      if exists (
        select from (select unnest(w_command) as id) d
         where (select r.id from command_results r where r.id = d.id) is not null
            or (p_look and (select p.id from positions p where p.id = d.id) is not null)
      ) then
        raise sqlstate 'TL001' using message = format('batch %s: a key is in use', p_batch);
      end if;

      -- Equity in an answer covers every match in which the purse has positions, at their last committed prices. The
      -- caller knows the value of those in this match; mostly there are no others.
      select array_agg(case when d.held = d.open then d.worth when d.held is not null then d.worth + (
               select coalesce(sum(pnl_at(
                        case when p.purse in ('main', 'practice') then exit_price(i, p.sign * p.lots_micros)
                             else greatest({PRICE_MIN}, i.base_micros) end,
                        p.sign, p.lots_micros, p.open_micros, p.margin_micros)), 0)::bigint
                 from positions p join instruments i on i.id = p.instrument_id
                where p.user_id = d.user_id and p.purse = d.purse and p.match_id <> b_match[d.batch] and p.closed_at is null
             ) end)
        into n_pnl
        from (select unnest(w_user) as user_id, unnest(w_purse) as purse, unnest(w_batch) as batch, unnest(w_held) as held,
                     unnest(w_worth) as worth, unnest(n_open) as open) d;

--( protection
      n_locked := array(select coalesce(d.held_back, 0) + unsettled_proceeds(d.user_id, d.purse, p_at)
                          from (select unnest(w_user) as user_id, unnest(w_purse) as purse,
                                       unnest(w_held_back) as held_back) d);
      -- What closes have paid opens nothing while news may move them. One that was committed while the update above
      -- waited for its wallet is seen only now.
      if exists (select from unnest(w_need, n_balance, n_locked) d (need, balance, locked)
                  where d.need > 0 and d.balance < d.locked) then
        raise sqlstate 'TL001' using message = format('batch %s: a wallet does not allow it', p_batch);
      end if;
--)
      if cardinality(o_id) > 0 then
        insert into positions (id, user_id, purse, match_id, instrument_id, sign, lots_micros, open_micros, open_base_micros,
                               margin_micros, stop_loss_micros, take_profit_micros, opened_at, closable_at, opened_marker,
                               opened_stop_micros, opened_take_micros, answer_fingerprint, answer_price_micros,
                               answer_exit_micros, answer_balance_micros, answer_margin_micros,
--( protection
                               answer_locked_micros,
--)
                               answer_unrealized_micros)
          select o.id, w_user[o.wallet], w_purse[o.wallet], b_match[w_batch[o.wallet]], o.instrument, o.sign, o.lots, o.price, o.base,
                 o.margin, o.stop, o.take, b_at[w_batch[o.wallet]], o.closable, n_events[w_log[o.wallet]] - o.followers, o.stop, o.take, o.fingerprint, o.after, o.exit,
                 case when o.after is not null then n_balance[o.wallet] end,
                 case when o.after is not null then n_margin[o.wallet] end,
--( protection
                 case when o.after is not null then nullif(n_locked[o.wallet], 0) end,
--)
                 case when o.after is not null then n_pnl[o.wallet] end
            from (select unnest(o_id) as id, unnest(o_wallet) as wallet, unnest(o_instrument) as instrument,
                         unnest(o_sign) as sign, unnest(o_lots) as lots, unnest(o_price) as price,
                         unnest(o_base) as base, unnest(o_margin) as margin, unnest(o_stop) as stop,
                         unnest(o_take) as take, unnest(o_closable) as closable, unnest(o_followers) as followers,
                         unnest(o_fingerprint) as fingerprint, unnest(o_after) as after, unnest(o_exit) as exit) o;
      end if;

      -- `closed_by is null` selects open positions. `closed_at is null` would offer the planner the wrong index.
      if cardinality(l_id) > 0 then
        update positions p set lots_micros = l.lots, margin_micros = l.margin, stop_loss_micros = l.stop,
               take_profit_micros = l.take, warned = l.warned
          from (select unnest(l_id) as id, unnest(l_lots) as lots, unnest(l_margin) as margin, unnest(l_stop) as stop, unnest(l_take) as take,
                       unnest(l_warned) as warned) l
         where p.id = l.id and p.match_id = any (b_match) and p.closed_by is null;
        get diagnostics changed = row_count;
        if changed <> cardinality(l_id) then
          raise exception 'batch %: % of % changed positions are open', p_batch, changed, cardinality(l_id);
        end if;
      end if;

      if cardinality(q_id) > 0 then
        insert into positions (id, part_of, user_id, purse, match_id, instrument_id, sign, lots_micros, open_micros, open_base_micros,
                               margin_micros, stop_loss_micros, take_profit_micros, opened_at, closable_at, warned, moved, opened_marker)
          select q.id, p.id, p.user_id, p.purse, p.match_id, p.instrument_id, p.sign, q.lots, p.open_micros, p.open_base_micros,
                 q.margin, p.stop_loss_micros, p.take_profit_micros, p.opened_at, p.closable_at, p.warned, p.moved,
                 n_events[w_log[q.wallet]] - q.followers
            from (select unnest(q_id) as id, unnest(q_of) as whole, unnest(q_wallet) as wallet, unnest(q_lots) as lots,
                         unnest(q_margin) as margin, unnest(q_followers) as followers) q
            join positions p on p.id = q.whole;
      end if;

      if cardinality(x_id) > 0 then
        update positions p
           set close_micros = x.price, close_base_micros = x.base, pnl_micros = x.pnl,
               closed_at = b_at[w_batch[x.wallet]], closed_by = x.by,
               void_reason = x.reason,
               void_note = case when x.reason = 'operator' then (select v.reason from position_voids v
                                                                  where v.position_id = x.id) end,
--( protection
               movable_until = x.movable,
--)
               closed_marker = n_events[w_log[x.wallet]] - x.followers
          from (select unnest(x_id) as id, unnest(x_wallet) as wallet, unnest(x_price) as price, unnest(x_base) as base,
--( protection
                       unnest(x_movable) as movable,
--)
                       unnest(x_pnl) as pnl, unnest(x_by) as by, unnest(x_reason) as reason,
                       unnest(x_followers) as followers) x
         where p.id = x.id and p.match_id = b_match[w_batch[x.wallet]] and p.closed_by is null;
        get diagnostics changed = row_count;
        if changed <> cardinality(x_id) then
          raise exception 'batch %: % of % closed positions were open', p_batch, changed, cardinality(x_id);
        end if;
      end if;

--( protection
      if cardinality(f_id) > 0 then
        update positions p
           set open_micros = f.open, open_base_micros = f.open_base, close_micros = f.close, close_base_micros = f.close_base,
               pnl_micros = f.pnl, moved = f.moved::jsonb, movable_until = f.movable
          from (select unnest(f_id) as id, unnest(f_open) as open, unnest(f_open_base) as open_base,
                       unnest(f_close) as close, unnest(f_close_base) as close_base, unnest(f_pnl) as pnl,
                       unnest(f_moved) as moved, unnest(f_movable) as movable) f
         where p.id = f.id and p.match_id = p_match and (f.close is null) = (p.closed_by is null)
           and p.closed_by is distinct from 'void';
        get diagnostics changed = row_count;
        if changed <> cardinality(f_id) then
          raise exception 'batch %: % of % positions with moved fills are as they were', p_batch, changed, cardinality(f_id);
        end if;
      end if;

--)
      -- A user's main wallet, which is locked, numbers their events: markers have no gaps and become visible in order.
      if cardinality(e_wallet) > 0 then
        insert into account_events (user_id, marker, kind, position_id, stop_loss_micros, take_profit_micros, warned, at)
          select w_user[e.wallet], n_events[e.wallet] - e.followers, e.kind, e.position, e.stop, e.take, e.warned,
                 b_at[w_batch[e.wallet]]
            from (select unnest(e_wallet) as wallet, unnest(e_followers) as followers, unnest(e_kind) as kind,
                         unnest(e_position) as position, unnest(e_stop) as stop, unnest(e_take) as take,
                         unnest(e_warned) as warned) e;
      end if;

      if cardinality(o_id) + cardinality(x_id)
--( protection
         + cardinality(f_id)
--)
         > 0 then
        insert into ledger_entries (tx, account, user_id, purse, amount_micros, kind, reference, at, marker)
          select b_id[w_batch[o.wallet]], 'user', w_user[o.wallet], w_purse[o.wallet], -o.margin, 'margin', o.id,
                 b_at[w_batch[o.wallet]],
                 n_events[w_log[o.wallet]] - o.followers
            from (select unnest(o_id) as id, unnest(o_wallet) as wallet, unnest(o_margin) as margin,
                         unnest(o_followers) as followers) o
          union all
          select b_id[w_batch[x.wallet]], 'user', w_user[x.wallet], w_purse[x.wallet], x.release, 'release', x.id,
                 b_at[w_batch[x.wallet]],
                 n_events[w_log[x.wallet]] - x.followers
            from (select unnest(x_id) as id, unnest(x_wallet) as wallet, unnest(x_release) as release,
                         unnest(x_followers) as followers) x
--( protection
          union all
          select p_batch, 'user', w_user[f.wallet], w_purse[f.wallet], f.amount, 'moved', f.id, p_at,
                 n_events[w_log[f.wallet]] - f.followers
            from (select unnest(f_id) as id, unnest(f_wallet) as wallet, unnest(f_amount) as amount,
                         unnest(f_followers) as followers) f
           where f.amount <> 0
--)
          union all
          select b_id[d.batch], 'house', null, d.purse, -sum(d.balance), 'batch', b_id[d.batch], b_at[d.batch], null
            from (select unnest(w_purse) as purse, unnest(w_batch) as batch, unnest(w_balance) as balance) d
           where d.balance <> 0
           group by d.batch, d.purse;
      end if;

      if m_info is not null then
        -- A fixture that was void comes back: reactions to its match go on, and it will be archived again.
        if m_info ->> 'settledAt' is null then
          update matches set archived_at = null where id = p_match and settled_at is not null;
          if found then
            update outbox_cursors set finished = false where match_id = p_match;
          end if;
        end if;
        insert into matches (id, phase, replay, starts_at, settled_at, info, pricing)
          values (p_match, m_info ->> 'phase', (m_info ->> 'replay')::boolean,
                  to_timestamp((m_info ->> 'startsAt')::double precision / 1000),
                  to_timestamp((m_info ->> 'settledAt')::double precision / 1000), m_info, m_pricing)
          on conflict (id) do update
             set phase = excluded.phase, starts_at = excluded.starts_at, settled_at = excluded.settled_at,
                 info = excluded.info, pricing = excluded.pricing;
      end if;

      if i_listed is not null then
        insert into instruments (id, player_id, name, role, side, jersey, starter, match_id, start_micros,
                                 slope_micros, impact_cap_ppm, base_micros, imbalance_micros, price_micros,
                                 published_micros)
          select n.id, n."playerId", n.name, n.role, n.side, n.jersey, n.starter, p_match, n.start, n.slope,
                 n."impactCapPpm", n.base, n.imbalance, n.base, n.published
            from jsonb_to_recordset(i_listed) n (id uuid, "playerId" bigint, name text, role text, side text,
                 jersey integer, starter boolean, start bigint, slope bigint, "impactCapPpm" integer, base bigint,
                 imbalance bigint, published bigint)
          on conflict (id) do update
             set name = excluded.name, role = excluded.role, side = excluded.side, jersey = excluded.jersey,
                 starter = excluded.starter, match_id = excluded.match_id, start_micros = excluded.start_micros,
                 slope_micros = excluded.slope_micros, base_micros = excluded.base_micros,
                 imbalance_micros = excluded.imbalance_micros, price_micros = excluded.price_micros,
                 published_micros = excluded.published_micros, news = null, settlement_micros = null,
                 ended_imbalance_micros = null
           where instruments.match_id = p_match
              or exists (select from matches m where m.id = instruments.match_id and m.settled_at is not null);
        get diagnostics changed = row_count;
        if changed <> jsonb_array_length(i_listed) then
          raise exception 'batch %: a listed instrument is held by another match', p_batch;
        end if;
      end if;

      if cardinality(i_id) > 0 then
        update instruments i
           set base_micros = n.base, imbalance_micros = n.imbalance, price_micros = n.price, published_micros = n.price,
               settlement_micros = n.settlement, impact_cap_ppm = n.cap, leaving_from_micros = n.leaving,
               ended_imbalance_micros = n.ended,
--( protection
               news = n.news::jsonb,
--)
               -- A base that never moved is that of a player who was not on the pitch: it says nothing about them.
               matches = i.matches + (p_whistled and i.settlement_micros is null and n.base <> i.start_micros)::integer,
               settled_total_micros = i.settled_total_micros
                 + case when p_whistled and i.settlement_micros is null and n.base <> i.start_micros then n.base else 0 end
          from (select unnest(i_id) as id, unnest(i_base) as base, unnest(i_imbalance) as imbalance,
--( protection
                       unnest(i_news) as news,
--)
                       unnest(i_price) as price, unnest(i_settlement) as settlement, unnest(i_cap) as cap, unnest(i_leaving) as leaving,
                       unnest(i_ended) as ended) n
         where i.ctid = (select c.ctid from instruments c where c.id = n.id and c.match_id = any (b_match));
      end if;

      if cardinality(t_id) > 0 then
        insert into ticks (instrument_id, at, price_micros, base_micros, imbalance_micros, cause, provider_event_id, why)
          select * from unnest(t_id, t_at, t_price, t_base, t_imbalance, t_cause, t_event, t_why);
      end if;

      if cardinality(s_id) > 0 then
        -- Never before the last entry, even if a new owner's clock is behind: the running total continues from there.
        insert into recent_trades (instrument_id, at, traded_micros, trades)
          select s.id, greatest(b_at[s.batch], l.at), s.lots + coalesce(l.traded_micros, 0), s.trades
            from (select unnest(s_id) as id, unnest(s_batch) as batch, unnest(s_lots) as lots, unnest(s_trades) as trades) s
            left join lateral (select t.at, t.traded_micros from recent_trades t where t.instrument_id = s.id
                                order by t.at desc, t.traded_micros desc limit 1) l on true;
      end if;

      -- Only the match's owner gets here, one commit after another: numbers have no gap and become visible in order.
      if cardinality(k_batch) > 0 then
        last_seqs := array(select coalesce((select max(o.seq) from outbox o where o.match_id = b.match), 0)
                             from (select unnest(b_match) as match) b);
        insert into outbox (match_id, seq, at, events)
          select b_match[k.batch], last_seqs[k.batch] + k.n, b_at[k.batch], k.events::json
            from (select unnest(k_batch) as batch, unnest(k_n) as n,
                         unnest(string_to_array(k_events, E'\n')) as events) k;
        if 0 = any (last_seqs) then
          insert into outbox_cursors (match_id)
            select b_match[k.batch] from (select unnest(k_batch) as batch, unnest(k_n) as n) k
             where last_seqs[k.batch] = 0 and k.n = 1;
        end if;
      end if;

      if j_entries is not null then
        insert into journal (match_id, n, epoch, at, after_seq, fresh, entries)
          values (p_match, 1 + coalesce((select max(j.n) from journal j where j.match_id = p_match), 0), p_epoch, p_at,
                  coalesce((select max(o.seq) from outbox o where o.match_id = p_match), 0), j_fresh, j_entries);
      end if;

      if cardinality(r_lines) > 0 then
        insert into tape (match_id, first_n, last_n, at, secret, lines)
          select * from (select unnest(b_match), unnest(r_first), unnest(r_last), unnest(b_at), unnest(r_secret),
                                unnest(r_lines) as lines) r
           where r.lines is not null;
      end if;

      if w_result is not null then
        insert into command_results (id, user_id, fingerprint, result, balance_micros, margin_micros, unrealized_micros,
--( protection
                                     locked_micros,
--)
                                     at)
          select d.id, d.user_id, d.fingerprint, d.result, d.balance, d.margin, d.pnl,
--( protection
                 nullif(d.locked, 0),
--)
                 b_at[d.batch]
            from (select unnest(w_command) as id, unnest(w_user) as user_id, unnest(w_batch) as batch,
                         unnest(w_fingerprint) as fingerprint,
                         unnest(string_to_array(w_result, E'\n', '')) as result, unnest(n_balance) as balance,
--( protection
                         unnest(n_locked) as locked,
--)
                         unnest(n_margin) as margin, unnest(n_pnl) as pnl) d
           where d.result is not null;
      end if;

      -- Arrays in the order of w_user. A row for each wallet would cost both sides several times as much.
      verdict := 'committed';
      balances := n_balance;
      margins := n_margin;
      worths := n_pnl;
      versions := n_version;
--( protection
      lockeds := n_locked;
--)
      return next;
      return;
    exception
      when sqlstate 'TL001' or unique_violation then
        if cardinality(b_match) > 1 then
          verdict := 'split';
          return next;
          return;
        end if;
        get stacked diagnostics broken = constraint_name;
        if round = 2 or broken not in ('', 'command_results_pkey', 'positions_pkey') then
          raise;
        end if;
    end;

    -- A wallet is a sum of the books. One that is missing is summed up again, unless it is to pay for an opening:
    -- otherwise nothing that concerns its owner could be committed, and the match could not settle. Its version is
    -- above any cached one.
    with restored as (
      insert into wallets (user_id, purse, balance_micros, margin_micros, open_positions, events, version, frozen, limits)
        select d.user_id, d.purse,
               greatest(0, coalesce((select c.amount_micros from closed_balances c
                                      where c.user_id = d.user_id and c.purse = d.purse), 0)
                           + coalesce((select sum(e.amount_micros) from ledger_entries e
                                        where e.user_id = d.user_id and e.purse = d.purse
                                          and e.at >= (select until from ledger_closed)), 0)),
               coalesce(h.margin, 0), coalesce(h.open, 0),
               case when d.purse = 'main' then coalesce(greatest(
                 (select max(e.marker) from ledger_entries e where e.user_id = d.user_id),
                 (select max(e.marker) from account_events e where e.user_id = d.user_id)), 0) else 0 end,
               floor(extract(epoch from p_at) * 1000)::bigint,
               coalesce((select u.status = 'frozen' or u.erased_at is not null from users u where u.id = d.user_id), false),
               (select case when d.purse = 'main' then u.limits else u.limits - 'dailyLoss' end
                  from users u where u.id = d.user_id)
          from (select unnest(w_user) as user_id, unnest(w_purse) as purse, unnest(w_balance) as balance,
                       unnest(w_need) as need) d
         cross join lateral (select sum(p.margin_micros) as margin, count(*) as open from positions p
                              where p.user_id = d.user_id and p.purse = d.purse and p.closed_at is null) h
         where (d.balance >= 0 or d.need = 0)
           and (select w.user_id from wallets w where w.user_id = d.user_id and w.purse = d.purse) is null
         order by d.user_id, d.purse
        on conflict do nothing returning user_id, purse, balance_micros
    )
    insert into audit_log (at, action, subject, after)
      select p_at, 'wallet.restored', r.user_id, jsonb_build_object('purse', r.purse, 'balanceMicros', r.balance_micros)
        from restored r;

--( protection
    -- Locked before they are looked at, so that what they paid meanwhile is seen.
    perform 1 from wallets w join (select unnest(w_user) as user_id, unnest(w_purse) as purse) d using (user_id, purse)
      order by w.user_id, w.purse for no key update of w;
--)
    -- Find the reason. A cached balance takes precedence at its version, if it is of this history of the database and
    -- not above the other by more than one adoption may add. A missing wallet counts as an empty one.
    select array_agg(coalesce(w.balance_micros, 0)),
--( protection
           array_agg(unsettled_proceeds(d.user_id, d.purse, p_at)),
--)
           array_agg(case when w.version = d.cached_version and r.refused is null then d.cached
                          else coalesce(w.balance_micros, 0) end),
           array_agg(r.refused),
           array_agg(coalesce(w.margin_micros, 0)), array_agg(coalesce(w.open_positions, 0)),
           array_agg(coalesce(w.frozen, false)::integer),
           array_agg(own_bounds(w.limits, w.day, w.day_result_micros, w.margin_micros, now_ms)),
           array_agg(d.need > 0 and own_limits_forbid(w.limits,
             w.margin_micros + d.margin - case when w.day < today then 0 else w.day_result_micros end - d.balance - d.margin, now_ms))
      into h_booked,
--( protection
           h_locked,
--)
           h_balance, h_refused, h_margin, h_open, h_frozen, h_bounds, h_forbidden
      from (select unnest(w_user) as user_id, unnest(w_purse) as purse, unnest(w_cached) as cached,
                   unnest(w_cached_version) as cached_version, unnest(w_balance) as balance, unnest(w_margin) as margin,
                   unnest(w_need) as need) d
      left join lateral (select * from wallets w where w.user_id = d.user_id and w.purse = d.purse
                            for no key update) w on true
     cross join lateral (select case when w.version is distinct from d.cached_version or d.cached = w.balance_micros then null
                                     when p_timeline is distinct from store_timeline() then 'OTHER_TIMELINE'
                                     when d.cached - w.balance_micros > p_adopt_max then 'ADOPTION_TOO_LARGE'
                                end as refused) r;

    return query
      select 'key_used', d.user_id, k.balance, k.margin, k.unrealized, k.fingerprint, k.result, null, null, null, null,
             null, null
--( protection
             , k.locked, null
--)
        from (select unnest(w_user) as user_id, unnest(w_command) as id) d
       cross join lateral (
         select r.balance_micros as balance, r.margin_micros as margin, r.unrealized_micros as unrealized,
                r.fingerprint, r.result
--( protection
                , coalesce(r.locked_micros, 0) as locked
--)
           from command_results r where r.id = d.id
          union all
         select p.answer_balance_micros, p.answer_margin_micros, p.answer_unrealized_micros, p.answer_fingerprint,
                json_build_object('opened', p.id, 'price', p.answer_price_micros, 'exit', p.answer_exit_micros)::text
--( protection
                , coalesce(p.answer_locked_micros, 0)
--)
           from positions p where p.id = d.id and p.answer_fingerprint is not null
         offset 0
       ) k
      union all
      select 'insufficient_margin', d.user_id, d.held
--( protection
             - least(d.held, d.locked)
--)
             , null, null, null, null, null, null, null,
             null, null, null
--( protection
             , null, null
--)
        from (select unnest(w_user) as user_id, unnest(w_balance) as balance, unnest(w_need) as need,
--( protection
                     unnest(h_locked) as locked, unnest(w_held_back) as held_back,
--)
                     unnest(h_balance) as held) d
       where d.need > 0 and d.held + d.balance
--( protection
             - d.locked - d.held_back
--)
             < 0
      union all
      select 'position_limit', d.user_id, null, null, null, null, null, null, null, null, null, null, null
--( protection
             , null, null
--)
        from (select unnest(w_user) as user_id, unnest(w_open) as open, unnest(h_open) as held) d
       where d.open > 0 and d.held + d.open > p_open_max
      union all
      select 'account_frozen', d.user_id, null, null, null, null, null, null, null, null, null, null, null
--( protection
             , null, null
--)
        from (select unnest(w_user) as user_id, unnest(w_need) as need, unnest(h_frozen) as frozen) d
       where d.need > 0 and d.frozen = 1
      union all
      select 'own_limit', d.user_id, null, null, null, null, null, null, null, null, null, null, null
--( protection
             , null, null
--)
        from (select unnest(w_user) as user_id, unnest(h_forbidden) as forbidden) d
       where d.forbidden;
    if found then
      -- With the reasons comes what everybody in the batch has, so that the caller can decide the rest within it.
      verdict := 'found';
      balances := h_balance;
      opens := h_open;
      frozens := h_frozen;
--( protection
      lockeds := h_locked;
--)
      result := array_to_json(h_bounds)::text;
      return next;
      return;
    end if;

    -- What would take a wallet past its limit is not paid now: the position closes, and the pay waits for an operator.
    for i in 1..cardinality(x_id) loop
      if x_release[i] > 0 and h_balance[x_wallet[i]] + w_balance[x_wallet[i]] > {MICROS_MAX} then
        insert into unpaid_closes (position_id, user_id, purse, amount_micros, at)
          values (x_id[i], w_user[x_wallet[i]], w_purse[x_wallet[i]], x_release[i], p_at);
        w_balance[x_wallet[i]] := w_balance[x_wallet[i]] - x_release[i];
        w_need[x_wallet[i]] := 0;
        x_release[i] := 0;
      end if;
    end loop;
    -- The margin and the number of positions of a wallet are sums, too. Where a row was changed by hand they end at
    -- zero.
    for i in 1..cardinality(w_user) loop
      w_margin[i] := greatest(w_margin[i], -h_margin[i]);
      w_open[i] := greatest(w_open[i], -h_open[i]);
    end loop;

--( protection
    -- A move is always booked. What a wallet lacks for it, since its balance was lowered from outside, the house adds.
    for i in 1..cardinality(w_user) loop
      if w_need[i] = 0 then
        h_balance[i] := greatest(h_balance[i], -w_balance[i]);
      end if;
    end loop;
--)
    -- The remaining reason: a cached balance was changed from outside at the current version. Adopt it and book the
    -- difference.
    with entries as (
      insert into ledger_entries (tx, account, user_id, purse, amount_micros, kind, reference, at)
        select p_batch, 'user', d.user_id, d.purse, d.held - d.booked, 'external_adjustment', p_batch, p_at
          from (select unnest(w_user) as user_id, unnest(w_purse) as purse, unnest(h_balance) as held,
                       unnest(h_booked) as booked) d
         where d.held <> d.booked
        returning user_id, purse, amount_micros
    ), audited as (
      insert into audit_log (at, action, subject, after)
        select p_at, 'wallet.adopt', user_id, jsonb_build_object('purse', purse, 'byMicros', amount_micros) from entries
    )
    insert into ledger_entries (tx, account, purse, amount_micros, kind, reference, at)
      select p_batch, 'house', purse, -sum(amount_micros), 'external_adjustment', p_batch, p_at
        from entries group by purse;
    update wallets w set balance_micros = d.held, version = w.version + 1
      from (select unnest(w_user) as user_id, unnest(w_purse) as purse, unnest(h_balance) as held,
                   unnest(h_booked) as booked) d
     where w.user_id = d.user_id and w.purse = d.purse and d.held <> d.booked;
    -- With a version more, what was refused is out of date, and is refused once.
    if array_remove(h_refused, null) <> '{}' then
      with refused as (
        update wallets w set version = w.version + 1
          from (select unnest(w_user) as user_id, unnest(w_purse) as purse, unnest(w_cached) as cached,
                       unnest(h_booked) as booked, unnest(h_refused) as refused) d
         where w.user_id = d.user_id and w.purse = d.purse and d.refused is not null
        returning w.user_id, w.purse, d.cached - d.booked as micros, d.refused
      )
      insert into audit_log (at, action, subject, after, outcome)
        select p_at, 'wallet.adopt', user_id, jsonb_build_object('purse', purse, 'byMicros', micros), refused
          from refused;
    end if;
  end loop;
end
$body$;
