/** A past of any size: closed positions with their ledger, wallets and careers, inserted as if they had been traded. */
import { sql } from 'kysely'
import { present } from '../../actors/kernel/assert.ts'
import type { FixtureId } from '../../actors/kernel/ids.ts'
import type { BenchDatabase } from './bench-database.ts'

const CHUNK = 200_000
const MARGIN = 1_000_000
/** Positions of one match. */
const OF_A_MATCH = 20_000

/**
 * This many closed positions of all users in turn, in settled matches that look like the one given, over four weeks,
 * with a closed ledger. `done` hears of every chunk. The books balance.
 */
export async function insertPast(
  { connection }: BenchDatabase,
  like: FixtureId,
  positions: number,
  done: (positions: number) => void,
): Promise<void> {
  await connection.withoutTimeout(async (db) => {
    const matches = Math.ceil(positions / OF_A_MATCH)
    await sql`
      insert into matches (id, phase, replay, starts_at, settled_at, info, pricing)
        select n, 'final', false, now() - interval '29 days', now() - interval '1 day',
               info || jsonb_build_object('matchId', n, 'phase', 'final', 'squad', '[]'::jsonb), pricing
          from matches, generate_series(1, ${matches}::integer) n where id = ${like}`.execute(db)
    await sql`
      create unlogged table past_users as
        select row_number() over (order by id) - 1 as n, id from users`.execute(db)
    await sql`create unique index on past_users (n)`.execute(db)
    await sql`
      create unlogged table past_players as
        select row_number() over (order by id) - 1 as n, id from instruments where match_id = ${like}`.execute(db)
    const { rows } = await sql<{ users: number; players: number }>`
      select (select count(*) from past_users) as users, (select count(*) from past_players) as players`.execute(db)
    const { users, players } = present(rows[0], 'counts')
    for (let from = 0; from < positions; from += CHUNK) {
      const to = Math.min(from + CHUNK, positions)
      await sql`
        with past as materialized (
          select gen_random_uuid() as id, u.id as user_id, i.id as instrument, 1 + s.n / ${OF_A_MATCH}::integer as match,
                 2 * (s.n / ${users}::integer) as marker,
                 now() - interval '1 day' - interval '28 days' * (1 - s.n::float8 / ${positions}::integer) as at,
                 (s.n::bigint * 7919 % 1001 - 500) * 1000 as pnl
            from generate_series(${from}::integer, ${to}::integer - 1) s (n)
            join past_users u on u.n = s.n % ${users}::integer join past_players i on i.n = s.n % ${players}::integer
        ), held as (
          insert into positions (id, user_id, purse, match_id, instrument_id, sign, lots_micros, open_micros,
                                 open_base_micros, margin_micros, opened_at, closable_at, opened_marker, close_micros,
                                 close_base_micros, pnl_micros, closed_at, closed_by, closed_marker)
            select id, user_id, 'main', match, instrument, 1, 10000, 200000000, 200000000, ${MARGIN}::bigint, at, at,
                   marker + 1, 200000000, 200000000, pnl, at + interval '5 minutes', 'user', marker + 2
              from past
        )
        insert into ledger_entries (tx, account, user_id, purse, amount_micros, kind, reference, at, marker)
          select id, 'user', user_id, 'main', -${MARGIN}::bigint, 'margin', id, at, marker + 1 from past
          union all
          select id, 'user', user_id, 'main', ${MARGIN}::bigint + pnl, 'release', id, at + interval '5 minutes', marker + 2
            from past
          union all
          select id, 'house', null, 'main', -pnl, 'batch', id, at, null from past where pnl <> 0`.execute(db)
      done(to)
    }
    await sql`
      with won as materialized (
        select user_id, count(*)::integer as times, count(*) filter (where pnl_micros > 0)::integer as wins,
               sum(pnl_micros)::bigint as pnl, min(opened_at) as first from positions
         where closed_at is not null group by user_id
      ), paid as (
        update wallets w set balance_micros = w.balance_micros + won.pnl, events = 2 * won.times
          from won where w.user_id = won.user_id and w.purse = 'main'
      )
      insert into careers (user_id, version, opened, closed, wins, pnl_micros, margin_micros, first_trade_at)
        select user_id, 1, times, times, wins, pnl, times * ${MARGIN}::bigint, first from won`.execute(db)
    // As `LedgerClosings` leaves it.
    await sql`
      with closed as (
        insert into closed_balances (user_id, purse, amount_micros)
          select user_id, 'main', sum(amount_micros) from ledger_entries
           where at < now() - interval '12 hours' and user_id is not null group by user_id
      )
      update ledger_closed set until = now() - interval '12 hours', main_micros = past.total, entries = past.entries
        from (select count(*) as entries, coalesce(sum(amount_micros), 0)::bigint as total from ledger_entries
               where at < now() - interval '12 hours') past`.execute(db)
    await sql`drop table past_users, past_players`.execute(db)
    await sql`vacuum analyze`.execute(db)
    await sql`checkpoint`.execute(db)
  })
}
