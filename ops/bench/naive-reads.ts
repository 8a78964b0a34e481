/**
 * What a read costs where nothing is kept: the plain query for the same rows over a pool of connections, and their
 * JSON. Without HTTP, sign-in and limits, so it is the least that a simple server would take.
 */
import type pg from 'pg'
import { closedLoop } from './closed-loop.ts'

export interface ReadOf {
  readonly user: string
  readonly match: unknown
  readonly instrument: unknown
}

type Query = readonly [text: string, values: readonly unknown[]]

/** The plain query of a route; null for a route without one. */
export function naiveQuery(path: string, { user, match, instrument }: ReadOf): Query | null {
  switch (path) {
    case '/api/instruments':
      return [
        `select i.*, m.info, (select t.price_micros from ticks t where t.instrument_id = i.id
            and t.at >= now() - interval '1 day' order by t.at limit 1) as first_micros
           from instruments i join matches m on m.id = i.match_id where m.settled_at is null order by i.match_id, i.name`,
        [],
      ]
    case '/api/instruments/{id}':
      return ['select i.*, m.info from instruments i join matches m on m.id = i.match_id where i.id = $1', [instrument]]
    case '/api/instruments/{id}/price-history':
      return [
        `select at, price_micros, base_micros, cause, why from ticks
          where instrument_id = $1 and at >= now() - interval '1 hour' order by at`,
        [instrument],
      ]
    case '/api/instruments/{id}/recent-trades':
      return [
        `select opened_at, sign, lots_micros, open_micros from positions
          where instrument_id = $1 order by opened_at desc limit 50`,
        [instrument],
      ]
    case '/api/matches':
      return ['select id, phase, starts_at, info from matches order by starts_at desc limit 500', []]
    case '/api/matches/{id}':
    case '/api/matches/{id}/events':
    case '/api/matches/{id}/squad':
      return ['select * from matches where id = $1', [match]]
    case '/api/matches/{id}/table':
      return [
        `select user_id, sum(pnl_micros) as pnl, count(*) from positions where match_id = $1
          group by user_id order by 2 desc nulls last limit 100`,
        [match],
      ]
    case '/api/positions':
      return [
        `select p.*, i.name, i.price_micros from positions p join instruments i on i.id = p.instrument_id
          where p.user_id = $1 and p.closed_at is null order by p.opened_at desc limit 50`,
        [user],
      ]
    case '/api/wallet/ledger':
      return ['select * from ledger_entries where user_id = $1 order by at desc limit 50', [user]]
    case '/api/wallet':
      return ['select * from wallets where user_id = $1', [user]]
    case '/api/leaderboard/global':
      return [
        `select u.username, sum(p.pnl_micros) as pnl from positions p join users u on u.id = p.user_id
          where p.closed_at is not null group by u.username order by 2 desc limit 100`,
        [],
      ]
    default:
      return null
  }
}

/** Microseconds of this thread for each, with this many under way. */
export async function naiveRead(
  pool: pg.Pool,
  [text, values]: Query,
  load: { readonly connections: number; readonly seconds: number },
): Promise<{ readonly p50Ms: number; readonly micros: number }> {
  const before = process.threadCpuUsage()
  const { answered, p50Ms } = await closedLoop({
    callers: load.connections,
    seconds: load.seconds,
    warmUpSeconds: 0.5,
    ask: async () =>
      void JSON.stringify((await pool.query({ text, values: [...values], name: text.slice(0, 60) })).rows),
  })
  const { user, system } = process.threadCpuUsage(before)
  return { p50Ms, micros: (user + system) / answered }
}
