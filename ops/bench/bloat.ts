/**
 * Measures how far the tables that trading updates grow, with autovacuum as the schema sets it, with PostgreSQL's
 * defaults, and without:
 *
 *   npm run ops -- bench-bloat [--updates 10000000] [--users 100000]
 *
 * DATABASE_URL (or TEST_DATABASE_URL) names a PostgreSQL server; databases are made there and dropped. Rows are updated
 * in the proportions of a match day: wallets most, positions when they close, careers and weeks after that, and a few
 * rows again and again. A statement updates up to a thousand rows, as a commit does. Autovacuum looks once a minute by
 * default, so a run of less than some minutes says little. A server on which it is off is refused.
 */
import { performance } from 'node:perf_hooks'
import { parseArgs } from 'node:util'
import { type RawBuilder, sql } from 'kysely'
import { present } from '../../actors/kernel/assert.ts'
import { whole } from '../rehearse/rig/options.ts'
import { createOnServer, reset } from './bench-database.ts'
import { figure, table } from './report.ts'

const { values: options } = parseArgs({
  options: { updates: { type: 'string', default: '10000000' }, users: { type: 'string', default: '100000' } },
})
const server = process.env['DATABASE_URL'] ?? process.env['TEST_DATABASE_URL']
if (server === undefined) throw new Error('DATABASE_URL must name a PostgreSQL server to measure on')
const updates = whole('updates', options.updates, 100_000, 1_000_000_000)
const users = whole('users', options.users, 4_000, 10_000_000)

/** Statements under way at a time. */
const WRITERS = 4
const MATCHES = 10
const PLAYERS = 440
/** Of the price memory of a match, which is written with each update of the feed. */
const PRICING_BYTES = 20_000

interface Hot {
  readonly name: string
  /** Its part of all updates. */
  readonly share: number
  readonly rows: number
  /** Rows that a statement updates, which are numbered from 0. */
  readonly together: number
  readonly fill?: RawBuilder<unknown>
  readonly update: (from: number, to: number) => RawBuilder<unknown>
}

const between = (from: number, to: number) => sql`in (select id from numbered where n >= ${from} and n < ${to})`
const ofUsers = (
  name: string,
  share: number,
  fill: RawBuilder<unknown> | undefined,
  set: RawBuilder<unknown>,
): Hot => ({
  name,
  share,
  rows: users,
  together: 1_000,
  ...(fill === undefined ? {} : { fill }),
  update: (from, to) => sql`update ${sql.table(name)} set ${set} where user_id ${between(from, to)}`,
})
const ofMatches = (
  name: string,
  share: number,
  fill: RawBuilder<unknown>,
  set: RawBuilder<unknown>,
  id: string,
): Hot => ({
  name,
  share,
  rows: MATCHES,
  together: 1,
  fill,
  update: (from) => sql`update ${sql.table(name)} set ${set} where ${sql.ref(id)} = ${from + 1}`,
})
/** Random, so that it cannot be compressed: the worst case. */
const pricing = sql`to_jsonb((select string_agg(md5(random()::text), '') from generate_series(1, ${PRICING_BYTES / 32}::integer)))`
const matches = sql`generate_series(1, ${MATCHES}::integer) m`

const TABLES: readonly Hot[] = [
  ofUsers('wallets', 0.6, undefined, sql`balance_micros = balance_micros + 1, version = version + 1`),
  {
    name: 'positions',
    share: 0.2,
    rows: 200_000,
    together: 500,
    fill: sql`
      insert into positions (id, user_id, purse, match_id, instrument_id, sign, lots_micros, open_micros, open_base_micros,
                             margin_micros, opened_at, closable_at, opened_marker)
        select md5(n::text)::uuid, md5((n % ${users})::text)::uuid, 'main', 1, md5('')::uuid, 1, 1, 1, 1, 1, now(), now(), 1
          from generate_series(0, 199999) n`,
    // Closed, or opened again: either takes the row into an index or out of it.
    update: (from, to) => sql`
      update positions
         set close_micros = case when closed_at is null then 10000 end,
             close_base_micros = case when closed_at is null then 1 end,
             pnl_micros = case when closed_at is null then 0 end,
             closed_by = case when closed_at is null then 'user' end,
             closed_marker = case when closed_at is null then 2 end,
             closed_at = case when closed_at is null then now() end
       where id in (select md5(n::text)::uuid from generate_series(${from}::integer, ${to - 1}::integer) n)`,
  },
  ofUsers(
    'careers',
    0.1,
    sql`insert into careers (user_id) select id from numbered`,
    sql`version = version + 1, closed = closed + 1`,
  ),
  ofUsers(
    'week_scores',
    0.08,
    sql`insert into week_scores select '2026-W01', id, 1, 0, 0, 0, 0, array[id, id, id] from numbered`,
    sql`closed = closed + 1`,
  ),
  ofMatches(
    'matches',
    0.001,
    sql`insert into matches (id, phase, replay, starts_at, info, pricing)
          select m, 'live', false, now(), '{}', ${pricing} from ${matches}`,
    sql`pricing = ${pricing}`,
    'id',
  ),
  {
    name: 'instruments',
    share: 0.015,
    rows: PLAYERS,
    together: 44,
    fill: sql`
      insert into instruments (id, player_id, name, role, side, starter, match_id, start_micros, slope_micros,
                               impact_cap_ppm, base_micros, imbalance_micros, price_micros, published_micros)
        select md5(n::text)::uuid, n, 'Some Player', 'FWD', 'home', true, 1 + n / 44, 1, 1, 0, 1, 0, 10000, 10000
          from generate_series(0, ${PLAYERS - 1}::integer) n`,
    update: (from, to) => sql`update instruments set price_micros = price_micros + 1
                               where player_id >= ${from} and player_id < ${to}`,
  },
  ofMatches(
    'match_leases',
    0.002,
    sql`insert into match_leases select m, 'a', 1, now() from ${matches}`,
    sql`expires_at = clock_timestamp()`,
    'match_id',
  ),
  ofMatches(
    'outbox_cursors',
    0.002,
    sql`insert into outbox_cursors (match_id) select m from ${matches}`,
    sql`seq = seq + 1, taken_at = clock_timestamp()`,
    'match_id',
  ),
]

/** What the schema may set. */
const SETTINGS = ['vacuum_scale_factor', 'vacuum_threshold', 'vacuum_cost_delay', 'vacuum_insert_scale_factor'].flatMap(
  (name) => [`autovacuum_${name}`, `toast.autovacuum_${name}`],
)
const VARIANTS = [
  { variant: 'the schema', change: null },
  { variant: 'defaults', change: `reset (${SETTINGS.join(', ')})` },
  { variant: 'off', change: 'set (autovacuum_enabled = off, toast.autovacuum_enabled = off)' },
]

const rows: string[][] = []
for (const { variant, change } of VARIANTS) rows.push(...(await measure(server, variant, change)))
console.log(`${figure(updates)} updates of rows of ${figure(users)} users and ${MATCHES} matches\n`)
console.log(table(['autovacuum', 'table', 'MB at first', 'after', 'times', 'HOT, %', 'dead, %', 'vacuums'], rows))

async function measure(url: string, variant: string, change: string | null): Promise<string[][]> {
  const database = await createOnServer(url, users)
  const { db } = database.connection
  try {
    const { rows: settings } = await sql<{ isOn: boolean }>`
      select current_setting('autovacuum')::boolean as "isOn"`.execute(db)
    if (settings[0]?.isOn !== true) throw new Error('autovacuum is off on this server; set autovacuum = on')
    await reset(database)
    await sql`create table numbered as select id, row_number() over (order by id)::integer - 1 as n from users`.execute(
      db,
    )
    await sql`create index on numbered (n)`.execute(db)
    for (const { fill } of TABLES)
      if (fill !== undefined) await database.connection.withoutTimeout((long) => fill.execute(long))
    for (const { name } of change === null ? [] : TABLES) {
      await sql`alter table ${sql.table(name)} ${sql.raw(change ?? '')}`.execute(db)
    }
    await database.connection.withoutTimeout((long) => sql`vacuum full analyze`.execute(long))
    const before = await sizes()
    const start = performance.now()
    await Promise.all(Array.from({ length: WRITERS }, (_, n) => write(n)))
    const seconds = (performance.now() - start) / 1_000
    console.error(`${variant}: ${figure(updates / seconds)} updates a second`)
    await sql`select pg_stat_force_next_flush()`.execute(db)
    const after = await sizes()
    return await Promise.all(
      TABLES.map(async ({ name }) => {
        const [first, last] = [present(before.get(name), name), present(after.get(name), name)]
        return [variant, name, figure(first), figure(last), figure(last / first), ...(await statistics(name))]
      }),
    )

    async function sizes(): Promise<ReadonlyMap<string, number>> {
      const { rows: found } = await sql<{ name: string; mb: number }>`
        select relname as name, pg_total_relation_size(oid)::float8 / 1e6 as mb from pg_class
         where relkind = 'r' and relnamespace = 'public'::regnamespace`.execute(db)
      return new Map(found.map(({ name, mb }) => [name, mb]))
    }

    async function statistics(name: string): Promise<string[]> {
      const { rows: stats } = await sql<{ hot: number; dead: number; vacuums: number }>`
        select (100.0 * n_tup_hot_upd / greatest(n_tup_upd, 1))::float8 as hot,
               (100.0 * n_dead_tup / greatest(n_live_tup + n_dead_tup, 1))::float8 as dead, autovacuum_count as vacuums
          from pg_stat_user_tables where relname = ${name}`.execute(db)
      const { hot, dead, vacuums } = present(stats[0], `statistics of ${name}`)
      return [hot.toFixed(0), dead.toFixed(0), String(vacuums)]
    }
  } finally {
    await database.close()
  }

  /** The table of which least is done is next. Each writer has rows of its own, so that none waits for another. */
  async function write(writer: number): Promise<void> {
    const parts = TABLES.map((of) => ({ ...of, done: 0 }))
    for (let done = 0; done < updates / WRITERS;) {
      const next = parts.reduce((least, part) => (part.done / part.share < least.done / least.share ? part : least))
      const own = Math.floor(next.rows / WRITERS)
      const from = writer * own + Math.floor(Math.random() * (own - next.together + 1))
      await next.update(from, from + next.together).execute(db)
      next.done += next.together
      done += next.together
    }
  }
}
