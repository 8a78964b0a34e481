-- commit_batch: the one function through which a match writes. It lives in the database because a batch is many small
-- statements that must be one round trip and one transaction, and able to reject itself with nothing written.
-- An edit takes effect at the next start: db/postgres/repeatable.ts creates a new function for each new text.
--
-- Arguments are passed by name, from `CommitArguments` in commit-batch.ts. Their prefixes, and those of local arrays:
--   p_  the batch: match, epoch, id, instant, limits, and the events for the outbox, one row a line
--   w_  wallets, one element per user and purse in ascending order; elsewhere `wallet` is an index into these arrays,
--       from 1. `log`: the index of the user's main wallet, which counts the events of all purses
--   o_  positions opened             l_  positions whose levels or warning changed      x_  positions closed
--   c_  closes that late news has found, as they are then        a_  what it books of them
--   e_  account events that have a row of their own      `followers`: how many events of the same user come after one
--   i_  instruments (`i_listed` as JSON, then all that changed)      t_  ticks      s_  recent trades
--   m_  the match's own row          j_  the row of the journal, null for a batch that heard nothing
--   r_  the row of the tape, null for a batch of which nothing is told
--   n_  local: the wallets as the batch leaves them      h_  local: the wallets as found after a failure
--   d, o, l, x, c, a, e, n, s, k as table aliases are the unnested arrays
--
-- The caller passes parallel arrays, so a batch of 500 trades costs about as much as one of 20. Joining two arrays
-- would cost n², and looking a wallet up again costs 1 µs each time: hence the index.
-- A batch is written as if it could not fail, in a subtransaction. If it does fail (a wallet that cannot pay, a used
-- key, a balance changed from outside), that is rolled back, and the wallets are locked and inspected. Inspecting first
-- would add a fifth to the cost of each trade, for a case that is rare.
-- Statements see each other's effects (READ COMMITTED, one snapshot each): after the first one every wallet is locked,
-- and nothing about these users can change. Planner settings are pinned and row look-ups are written as sub-selects: a
-- plan made while a table was empty reads the whole table for every row, and is kept (40 times slower at 6,000
-- positions). Arrays are unnested in select lists: in a from clause each is first copied into its own store, which
-- costs 4 µs a trade, a tenth of the total.
create function commit_batch(
  p_match bigint, p_epoch bigint, p_batch uuid, p_at timestamptz, p_open_max integer, p_timeline text,
  p_adopt_max bigint,
  w_user uuid[], w_purse text[], w_log integer[], w_balance bigint[], w_margin bigint[], w_open integer[], w_events integer[], w_held integer[],
  w_worth bigint[],
  w_cached bigint[], w_cached_version bigint[], w_need bigint[], w_locks text[],
  p_look boolean, w_command uuid[], w_fingerprint text[], w_result text,
  o_id uuid[], o_wallet integer[], o_instrument uuid[], o_sign smallint[], o_lots bigint[], o_price bigint[],
  o_base bigint[], o_margin bigint[], o_stop bigint[], o_take bigint[], o_closable timestamptz[], o_followers integer[],
  o_fingerprint text[], o_after bigint[], o_exit bigint[],
  l_id uuid[], l_stop bigint[], l_take bigint[], l_warned smallint[],
  x_id uuid[], x_wallet integer[], x_price bigint[], x_base bigint[], x_pnl bigint[], x_release bigint[], x_by text[],
  x_reason text[], x_followers integer[],
  c_id uuid[], c_pnl bigint[], c_late text[],
  a_id uuid[], a_wallet integer[], a_amount bigint[], a_followers integer[],
  e_wallet integer[], e_followers integer[], e_kind text[], e_position uuid[], e_stop bigint[], e_take bigint[],
  e_warned smallint[],
  i_listed jsonb,
  i_id uuid[], i_base bigint[], i_imbalance bigint[], i_price bigint[], i_news text[],
  i_settlement bigint[], i_cap integer[], i_leaving bigint[], i_awaits smallint[],
  t_id uuid[], t_at timestamptz[], t_price bigint[], t_base bigint[], t_imbalance bigint[], t_cause text[],
  t_event bigint[], t_why text[],
  s_id uuid[], s_lots bigint[], s_trades text[],
  m_info jsonb, m_pricing jsonb,
  p_events text, j_fresh boolean, j_entries bytea,
  r_first integer, r_last integer, r_secret bytea, r_lines bytea
) returns table (
  verdict text, user_id uuid, balance bigint, margin bigint, unrealized bigint, locked bigint, fingerprint text,
  result text, balances text, margins text, worths text, versions text, lockeds text
) language plpgsql
set plan_cache_mode = force_generic_plan
set enable_seqscan = off set enable_bitmapscan = off set enable_hashjoin = off set enable_mergejoin = off set jit = off
as $body$
#variable_conflict use_column
declare
  n_user uuid[]; n_balance bigint[]; n_margin bigint[]; n_open integer[]; n_events bigint[]; n_version bigint[];
  n_pnl bigint[]; n_locked bigint[];
  now_ms constant bigint := extract(epoch from p_at) * 1000;
  today constant integer := now_ms / 86400000;
  -- `booked` is the balance in the ledger, `balance` the one in force.
  h_booked bigint[]; h_balance bigint[]; h_margin bigint[]; h_open integer[]; h_locked bigint[]; h_kept bigint[];
  h_frozen integer[]; h_bounds jsonb[]; h_forbidden boolean[];
  h_refused text[];
  changed bigint; last_seq bigint; broken text;
  -- Full time of a live match fixes the settlement prices in this batch.
  p_whistled constant boolean := coalesce(m_info ->> 'settling' = 'full_time' and m_info ->> 'replay' = 'false', false);
begin
  -- Fence. With the share lock a take-over waits for this transaction, and this transaction notices a take-over.
  perform 1 from match_leases l where l.match_id = p_match and l.epoch = p_epoch for share;
  if not found then
    verdict := 'fenced';
    return next;
    return;
  end if;

  -- The first round fails only for a reason that the code below finds. The second meets wallets locked and corrected.
  for round in 1..2 loop
    begin
      -- Every match locks wallets in the order of users and purses, so no two matches can wait for each other. Only a
      -- change of the balance makes a new version: the cached one still holds after any other. What a batch opens must
      -- be covered by what late news does not lock, after its own closes and corrections.
      with after as (
        update wallets w
           set balance_micros = w.balance_micros + d.balance, margin_micros = w.margin_micros + d.margin,
               open_positions = w.open_positions + d.open, events = w.events + d.events,
               version = w.version + (d.balance <> 0)::integer,
               -- What a trade does to balance and margin together is what it has won or lost.
               day = greatest(w.day, today),
               day_result_micros = case when w.day < today then 0 else w.day_result_micros end + d.balance + d.margin,
               locks = case when w.locks is not null or d.locks is not null
                            then locks_after(w.locks, d.locks::jsonb, now_ms) end
          from (select unnest(w_user) as user_id, unnest(w_purse) as purse, unnest(w_balance) as balance,
                       unnest(w_margin) as margin, unnest(w_open) as open, unnest(w_events) as events,
                       unnest(w_cached) as cached, unnest(w_cached_version) as cached_version,
                       unnest(w_need) as need, unnest(w_locks) as locks) d
         where w.user_id = d.user_id and w.purse = d.purse
           and w.balance_micros + d.balance between 0 and 1000000000000000
           and w.margin_micros + d.margin >= 0 and w.open_positions + d.open >= 0
           and (d.need = 0 or (w.locks is null and d.locks is null) or
                w.balance_micros + d.balance >= locked(locks_after(w.locks, d.locks::jsonb, now_ms), now_ms))
           and (d.open <= 0 or w.open_positions + d.open <= p_open_max)
           and (d.need = 0 or not w.frozen)
           and (d.need = 0 or w.limits is null or not own_limits_forbid(w.limits,
                  w.margin_micros + d.margin + locked(locks_after(w.locks, d.locks::jsonb, now_ms), now_ms)
                    - case when w.day < today then 0 else w.day_result_micros end - d.balance - d.margin, now_ms))
           and (d.cached is null or d.cached = w.balance_micros or d.cached_version <> w.version)
        returning w.user_id, w.balance_micros, w.margin_micros, w.open_positions, w.events, w.version,
                  case when w.locks is null then 0 else locked(w.locks, now_ms) end as locked
      )
      select array_agg(a.user_id), array_agg(a.balance_micros), array_agg(a.margin_micros), array_agg(a.open_positions),
             array_agg(a.events), array_agg(a.version), array_agg(a.locked)
        into n_user, n_balance, n_margin, n_open, n_events, n_version, n_locked
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
               select coalesce(sum(greatest(-p.margin_micros, floor(
                        p.sign * (case when p.purse in ('main', 'practice') then exit_price(i, p.sign * p.lots_micros)
                                       else greatest(10000, i.base_micros) end - p.open_micros)::numeric * p.lots_micros
                          * 0.000005))), 0)::bigint
                 from positions p join instruments i on i.id = p.instrument_id
                where p.user_id = d.user_id and p.purse = d.purse and p.match_id <> p_match and p.closed_at is null
             ) end)
        into n_pnl
        from (select unnest(w_user) as user_id, unnest(w_purse) as purse, unnest(w_held) as held,
                     unnest(w_worth) as worth, unnest(n_open) as open) d;

      if cardinality(o_id) > 0 then
        insert into positions (id, user_id, purse, match_id, instrument_id, sign, lots_micros, open_micros, open_base_micros,
                               margin_micros, stop_loss_micros, take_profit_micros, opened_at, closable_at, opened_marker,
                               opened_stop_micros, opened_take_micros, answer_fingerprint, answer_price_micros,
                               answer_exit_micros, answer_balance_micros, answer_margin_micros, answer_unrealized_micros,
                               answer_locked_micros)
          select o.id, w_user[o.wallet], w_purse[o.wallet], p_match, o.instrument, o.sign, o.lots, o.price, o.base, o.margin, o.stop, o.take,
                 p_at, o.closable, n_events[w_log[o.wallet]] - o.followers, o.stop, o.take, o.fingerprint, o.after, o.exit,
                 case when o.after is not null then n_balance[o.wallet] end,
                 case when o.after is not null then n_margin[o.wallet] end,
                 case when o.after is not null then n_pnl[o.wallet] end,
                 case when o.after is not null then nullif(n_locked[o.wallet], 0) end
            from (select unnest(o_id) as id, unnest(o_wallet) as wallet, unnest(o_instrument) as instrument,
                         unnest(o_sign) as sign, unnest(o_lots) as lots, unnest(o_price) as price,
                         unnest(o_base) as base, unnest(o_margin) as margin, unnest(o_stop) as stop,
                         unnest(o_take) as take, unnest(o_closable) as closable, unnest(o_followers) as followers,
                         unnest(o_fingerprint) as fingerprint, unnest(o_after) as after, unnest(o_exit) as exit) o;
      end if;

      -- `closed_by is null` selects open positions. `closed_at is null` would offer the planner the wrong index.
      if cardinality(l_id) > 0 then
        update positions p set stop_loss_micros = l.stop, take_profit_micros = l.take, warned = l.warned
          from (select unnest(l_id) as id, unnest(l_stop) as stop, unnest(l_take) as take,
                       unnest(l_warned) as warned) l
         where p.id = l.id and p.match_id = p_match and p.closed_by is null;
        get diagnostics changed = row_count;
        if changed <> cardinality(l_id) then
          raise exception 'batch %: % of % changed positions are open', p_batch, changed, cardinality(l_id);
        end if;
      end if;

      if cardinality(x_id) > 0 then
        update positions p
           set close_micros = x.price, close_base_micros = x.base, pnl_micros = x.pnl, closed_at = p_at, closed_by = x.by,
               void_reason = x.reason,
               void_note = case when x.reason = 'operator' then (select v.reason from position_voids v
                                                                  where v.position_id = x.id) end,
               closed_marker = n_events[w_log[x.wallet]] - x.followers
          from (select unnest(x_id) as id, unnest(x_wallet) as wallet, unnest(x_price) as price, unnest(x_base) as base,
                       unnest(x_pnl) as pnl, unnest(x_by) as by, unnest(x_reason) as reason,
                       unnest(x_followers) as followers) x
         where p.id = x.id and p.match_id = p_match and p.closed_by is null;
        get diagnostics changed = row_count;
        if changed <> cardinality(x_id) then
          raise exception 'batch %: % of % closed positions were open', p_batch, changed, cardinality(x_id);
        end if;
      end if;

      if cardinality(c_id) > 0 then
        update positions p set pnl_micros = c.pnl, late = c.late::jsonb
          from (select unnest(c_id) as id, unnest(c_pnl) as pnl, unnest(c_late) as late) c
         where p.id = c.id and p.match_id = p_match and p.closed_by <> 'void';
        get diagnostics changed = row_count;
        if changed <> cardinality(c_id) then
          raise exception 'batch %: % of % corrected positions are closed', p_batch, changed, cardinality(c_id);
        end if;
      end if;

      -- A user's main wallet, which is locked, numbers their events: markers have no gaps and become visible in order.
      if cardinality(e_wallet) > 0 then
        insert into account_events (user_id, marker, kind, position_id, stop_loss_micros, take_profit_micros, warned, at)
          select w_user[e.wallet], n_events[e.wallet] - e.followers, e.kind, e.position, e.stop, e.take, e.warned, p_at
            from (select unnest(e_wallet) as wallet, unnest(e_followers) as followers, unnest(e_kind) as kind,
                         unnest(e_position) as position, unnest(e_stop) as stop, unnest(e_take) as take,
                         unnest(e_warned) as warned) e;
      end if;

      if cardinality(o_id) + cardinality(x_id) + cardinality(a_id) > 0 then
        insert into ledger_entries (tx, account, user_id, purse, amount_micros, kind, reference, at, marker)
          select p_batch, 'user', w_user[o.wallet], w_purse[o.wallet], -o.margin, 'margin', o.id, p_at,
                 n_events[w_log[o.wallet]] - o.followers
            from (select unnest(o_id) as id, unnest(o_wallet) as wallet, unnest(o_margin) as margin,
                         unnest(o_followers) as followers) o
          union all
          select p_batch, 'user', w_user[x.wallet], w_purse[x.wallet], x.release, 'release', x.id, p_at,
                 n_events[w_log[x.wallet]] - x.followers
            from (select unnest(x_id) as id, unnest(x_wallet) as wallet, unnest(x_release) as release,
                         unnest(x_followers) as followers) x
          union all
          select p_batch, 'user', w_user[a.wallet], w_purse[a.wallet], a.amount, 'late_close', a.id, p_at,
                 n_events[w_log[a.wallet]] - a.followers
            from (select unnest(a_id) as id, unnest(a_wallet) as wallet, unnest(a_amount) as amount,
                         unnest(a_followers) as followers) a
          union all
          select p_batch, 'house', null, d.purse, -sum(d.balance), 'batch', p_batch, p_at, null
            from (select unnest(w_purse) as purse, unnest(w_balance) as balance) d
           where d.balance <> 0
           group by d.purse;
      end if;

      if m_info is not null then
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
                 published_micros = excluded.published_micros, news = null, settlement_micros = null
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
               news = n.news::jsonb, settlement_micros = n.settlement, impact_cap_ppm = n.cap,
               leaving_from_micros = n.leaving, awaits_settlement = n.awaits = 1,
               -- A base that never moved is that of a player who was not on the pitch: it says nothing about them.
               matches = i.matches + (p_whistled and i.settlement_micros is null and n.base <> i.start_micros)::integer,
               settled_total_micros = i.settled_total_micros
                 + case when p_whistled and i.settlement_micros is null and n.base <> i.start_micros then n.base else 0 end
          from (select unnest(i_id) as id, unnest(i_base) as base, unnest(i_imbalance) as imbalance,
                       unnest(i_price) as price, unnest(i_news) as news,
                       unnest(i_settlement) as settlement, unnest(i_cap) as cap, unnest(i_leaving) as leaving,
                       unnest(i_awaits) as awaits) n
         where i.ctid = (select c.ctid from instruments c where c.id = n.id and c.match_id = p_match);
      end if;

      if cardinality(t_id) > 0 then
        insert into ticks (instrument_id, at, price_micros, base_micros, imbalance_micros, cause, provider_event_id, why)
          select * from unnest(t_id, t_at, t_price, t_base, t_imbalance, t_cause, t_event, t_why);
      end if;

      if cardinality(s_id) > 0 then
        -- Never before the last entry, even if a new owner's clock is behind: the running total continues from there.
        insert into recent_trades (instrument_id, at, traded_micros, trades)
          select s.id, greatest(p_at, b.at), s.lots + coalesce(b.traded_micros, 0), s.trades
            from (select unnest(s_id) as id, unnest(s_lots) as lots, unnest(s_trades) as trades) s
            left join lateral (select t.at, t.traded_micros from recent_trades t where t.instrument_id = s.id
                                order by t.at desc, t.traded_micros desc limit 1) b on true;
      end if;

      -- Only the match's owner gets here, one commit after another: numbers have no gap and become visible in order.
      if p_events is not null then
        select coalesce(max(o.seq), 0) into last_seq from outbox o where o.match_id = p_match;
        insert into outbox (match_id, seq, at, events)
          select p_match, last_seq + r.n, p_at, r.events::json
            from unnest(string_to_array(p_events, E'\n')) with ordinality r (events, n);
        if last_seq = 0 then
          insert into outbox_cursors (match_id) values (p_match);
        end if;
      end if;

      if j_entries is not null then
        insert into journal (match_id, n, epoch, at, after_seq, fresh, entries)
          values (p_match, 1 + coalesce((select max(j.n) from journal j where j.match_id = p_match), 0), p_epoch, p_at,
                  coalesce((select max(o.seq) from outbox o where o.match_id = p_match), 0), j_fresh, j_entries);
      end if;

      if r_lines is not null then
        insert into tape (match_id, first_n, last_n, at, secret, lines)
          values (p_match, r_first, r_last, p_at, r_secret, r_lines);
      end if;

      if w_result is not null then
        insert into command_results (id, user_id, fingerprint, result, balance_micros, margin_micros, unrealized_micros,
                                     locked_micros, at)
          select d.id, d.user_id, d.fingerprint, d.result, d.balance, d.margin, d.pnl, d.locked, p_at
            from (select unnest(w_command) as id, unnest(w_user) as user_id, unnest(w_fingerprint) as fingerprint,
                         unnest(string_to_array(w_result, E'\n', '')) as result, unnest(n_balance) as balance,
                         unnest(n_margin) as margin, unnest(n_pnl) as pnl, unnest(n_locked) as locked) d
           where d.result is not null;
      end if;

      -- Arrays in the order of w_user. A row for each wallet would cost both sides several times as much.
      verdict := 'committed';
      balances := n_balance;
      margins := n_margin;
      worths := n_pnl;
      versions := n_version;
      lockeds := n_locked;
      return next;
      return;
    exception
      when sqlstate 'TL001' or unique_violation then
        get stacked diagnostics broken = constraint_name;
        if round = 2 or broken not in ('', 'command_results_pkey', 'positions_pkey') then
          raise;
        end if;
    end;

    -- A wallet is a sum of the books. One that is missing is summed up again, unless it is to pay for an opening:
    -- otherwise nothing that concerns its owner could be committed, and the match could not settle. Its version is
    -- above any cached one. What was locked of it is not known any more.
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

    -- Find the reason. A cached balance takes precedence at its version, if it is of this history of the database and
    -- not above the other by more than one adoption may add. A missing wallet counts as an empty one. What late news
    -- takes back is locked, so only a balance that was lowered from outside lacks it: the house adds the rest.
    select array_agg(coalesce(w.balance_micros, 0)),
           array_agg(greatest(
             case when w.version = d.cached_version and r.refused is null then d.cached
                  else coalesce(w.balance_micros, 0) end,
             case when d.need = 0 then -d.balance else 0 end)),
           array_agg(r.refused),
           array_agg(coalesce(w.margin_micros, 0)), array_agg(coalesce(w.open_positions, 0)),
           array_agg(case when w.locks is null and d.locks is null then 0
                          else locked(locks_after(w.locks, d.locks::jsonb, now_ms), now_ms) end),
           array_agg(case when w.locks is null then 0 else locked(w.locks, now_ms) end),
           array_agg(coalesce(w.frozen, false)::integer),
           array_agg(own_bounds(w.limits, w.day, w.day_result_micros, w.margin_micros + locked(w.locks, now_ms), now_ms)),
           array_agg(d.need > 0 and own_limits_forbid(w.limits,
             w.margin_micros + d.margin + locked(locks_after(w.locks, d.locks::jsonb, now_ms), now_ms)
               - case when w.day < today then 0 else w.day_result_micros end - d.balance - d.margin, now_ms))
      into h_booked, h_balance, h_refused, h_margin, h_open, h_locked, h_kept, h_frozen, h_bounds, h_forbidden
      from (select unnest(w_user) as user_id, unnest(w_purse) as purse, unnest(w_cached) as cached,
                   unnest(w_cached_version) as cached_version, unnest(w_balance) as balance, unnest(w_margin) as margin,
                   unnest(w_need) as need, unnest(w_locks) as locks) d
      left join lateral (select * from wallets w where w.user_id = d.user_id and w.purse = d.purse
                            for no key update) w on true
     cross join lateral (select case when w.version is distinct from d.cached_version or d.cached = w.balance_micros then null
                                     when p_timeline is distinct from store_timeline() then 'OTHER_TIMELINE'
                                     when d.cached - w.balance_micros > p_adopt_max then 'ADOPTION_TOO_LARGE'
                                end as refused) r;

    return query
      select 'key_used', d.user_id, k.balance, k.margin, k.unrealized, k.locked, k.fingerprint, k.result, null, null, null, null,
             null
        from (select unnest(w_user) as user_id, unnest(w_command) as id) d
       cross join lateral (
         select r.balance_micros as balance, r.margin_micros as margin, r.unrealized_micros as unrealized,
                r.locked_micros as locked, r.fingerprint, r.result
           from command_results r where r.id = d.id
          union all
         select p.answer_balance_micros, p.answer_margin_micros, p.answer_unrealized_micros,
                coalesce(p.answer_locked_micros, 0), p.answer_fingerprint,
                json_build_object('opened', p.id, 'price', p.answer_price_micros, 'exit', p.answer_exit_micros)::text
           from positions p where p.id = d.id and p.answer_fingerprint is not null
         offset 0
       ) k
      union all
      select 'insufficient_margin', d.user_id, greatest(0, d.held - d.kept), null, null, null, null, null, null, null,
             null, null, null
        from (select unnest(w_user) as user_id, unnest(w_balance) as balance, unnest(w_need) as need,
                     unnest(h_balance) as held, unnest(h_locked) as locked, unnest(h_kept) as kept) d
       where d.need > 0 and d.held + d.balance < d.locked
      union all
      select 'position_limit', d.user_id, null, null, null, null, null, null, null, null, null, null, null
        from (select unnest(w_user) as user_id, unnest(w_open) as open, unnest(h_open) as held) d
       where d.open > 0 and d.held + d.open > p_open_max
      union all
      select 'account_frozen', d.user_id, null, null, null, null, null, null, null, null, null, null, null
        from (select unnest(w_user) as user_id, unnest(w_need) as need, unnest(h_frozen) as frozen) d
       where d.need > 0 and d.frozen = 1
      union all
      select 'own_limit', d.user_id, null, null, null, null, null, null, null, null, null, null, null
        from (select unnest(w_user) as user_id, unnest(h_forbidden) as forbidden) d
       where d.forbidden;
    if found then
      -- With the reasons comes what everybody in the batch has, so that the caller can decide the rest within it.
      verdict := 'found';
      balances := h_balance;
      lockeds := h_kept;
      margins := h_open;
      worths := h_frozen;
      result := array_to_json(h_bounds)::text;
      return next;
      return;
    end if;

    -- What would take a wallet past its limit is not paid now: the position closes, or is corrected, and the pay waits
    -- for an operator. Such a wallet can pay for what it opens, whatever is locked of it.
    for i in 1..cardinality(x_id) loop
      if x_release[i] > 0 and h_balance[x_wallet[i]] + w_balance[x_wallet[i]] > 1000000000000000 then
        insert into unpaid_closes (position_id, user_id, purse, amount_micros, at)
          values (x_id[i], w_user[x_wallet[i]], w_purse[x_wallet[i]], x_release[i], p_at);
        w_balance[x_wallet[i]] := w_balance[x_wallet[i]] - x_release[i];
        w_need[x_wallet[i]] := 0;
        x_release[i] := 0;
      end if;
    end loop;
    for i in 1..cardinality(a_id) loop
      if a_amount[i] > 0 and h_balance[a_wallet[i]] + w_balance[a_wallet[i]] > 1000000000000000 then
        insert into unpaid_closes as u (position_id, user_id, purse, amount_micros, at)
          values (a_id[i], w_user[a_wallet[i]], w_purse[a_wallet[i]], a_amount[i], p_at)
          on conflict (position_id) do update set amount_micros = u.amount_micros + excluded.amount_micros;
        w_balance[a_wallet[i]] := w_balance[a_wallet[i]] - a_amount[i];
        w_need[a_wallet[i]] := 0;
        a_amount[i] := 0;
      end if;
    end loop;
    -- The margin and the number of positions of a wallet are sums, too. Where a row was changed by hand they end at
    -- zero.
    for i in 1..cardinality(w_user) loop
      w_margin[i] := greatest(w_margin[i], -h_margin[i]);
      w_open[i] := greatest(w_open[i], -h_open[i]);
    end loop;

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
