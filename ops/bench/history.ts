/**
 * Measures a price history over a million stored ticks of one player, against a query that counts all of them:
 *
 *   npm run ops -- bench-history [--ticks 1000000] [--rounds 20]
 *
 * DATABASE_URL (or TEST_DATABASE_URL) names a PostgreSQL server; a database is made there and dropped. The ticks are
 * laid out as a server stores them: one a second during the player's matches, a week between matches, forty-three other
 * players in between.
 */
import { performance } from 'node:perf_hooks'
import { parseArgs } from 'node:util'
import { sql } from 'kysely'
import { instrumentId } from '../../actors/kernel/ids.ts'
import { type Instant, instant } from '../../actors/kernel/world.ts'
import { HISTORY_TICKS_MAX, PriceHistory } from '../../db/price-history.ts'
import { createOnServer } from './bench-database.ts'
import { figure, spreadOf, table, withSpread } from './report.ts'

const PLAYER = instrumentId('00000000-0000-5000-8000-000000000001')
const MATCH_SECS = 7_000
const WEEK_SECS = 604_800
/** Of the others only one tick in this many is stored: they only have to lie in between. */
const OTHERS_EVERY = 10
/** Rows of one insert: more would exceed the statement timeout. */
const CHUNK = 50_000
const TO = Date.UTC(2026, 4, 2, 14, 0, 0)

const { values: options } = parseArgs({
  options: { ticks: { type: 'string', default: '1000000' }, rounds: { type: 'string', default: '20' } },
})
const server = process.env['DATABASE_URL'] ?? process.env['TEST_DATABASE_URL']
if (server === undefined) throw new Error('DATABASE_URL must name a PostgreSQL server to measure on')
const ticks = Number(options.ticks)

const database = await createOnServer(server, 1)
try {
  const { db } = database.connection
  for (let from = 0; from < ticks; from += CHUNK) {
    await sql`
      insert into ticks (instrument_id, at, price_micros, base_micros, imbalance_micros, cause, provider_event_id)
        select format('00000000-0000-5000-8000-%s', lpad(who::text, 12, '0'))::uuid,
               to_timestamp(${TO / 1000}::float8) - interval '1 second' * (
                 ago / ${MATCH_SECS}::integer * ${WEEK_SECS}::integer + ago % ${MATCH_SECS}::integer),
               200000000 + n, 200000000, 0, 'match', 0
          from generate_series(${from}::integer, ${Math.min(from + CHUNK, ticks) - 1}::integer) n,
               generate_series(1, 44) who, lateral (select ${ticks}::integer - 1 - n as ago) age
         where who = 1 or n % ${OTHERS_EVERY}::integer = 0`.execute(db)
  }
  await sql`vacuum analyze ticks`.execute(db)

  const history = new PriceHistory(db)
  const counting = (): Promise<unknown> =>
    sql`
    with held as (
      select at, price_micros, cause, row_number() over (order by at) as n, count(*) over () as total
        from ticks where instrument_id = ${PLAYER}::uuid
    )
    select at, price_micros, cause from held where n % (total / ${HISTORY_TICKS_MAX}::integer) = 0`.execute(db)
  const since = (secs: number): Instant => instant(TO - secs * 1000)
  const variants: readonly (readonly [name: string, ask: () => Promise<unknown>])[] = [
    ['counting through all', counting],
    ['all', () => history.of(PLAYER, null)],
    ['1d', () => history.of(PLAYER, since(86_400))],
    ['1h', () => history.of(PLAYER, since(3_600))],
    ['5m', () => history.of(PLAYER, since(300))],
  ]
  const took = new Map<string, number[]>(variants.map(([name]) => [name, []]))
  for (let round = 0; round <= Number(options.rounds); round++) {
    for (const [name, ask] of variants) {
      const from = performance.now()
      await ask()
      if (round > 0) took.get(name)?.push(performance.now() - from)
    }
  }
  const baseline = spreadOf(took.get('counting through all') ?? []).median
  const rows = [...took].map(([name, ms]) => {
    const spread = spreadOf(ms)
    return [name, withSpread(spread), figure(baseline / spread.median)]
  })
  console.log(`A price history over ${ticks.toLocaleString('en')} ticks of one player\n`)
  console.log(table(['period', 'ms', 'times as fast'], rows))
} finally {
  await database.close()
}
