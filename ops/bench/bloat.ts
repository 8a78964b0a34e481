/**
 * Measures how far the wallets grow under updates, with autovacuum as the schema has it and without it:
 *
 *   npm run ops -- bench-bloat [--updates 10000000] [--users 100000]
 *
 * DATABASE_URL (or TEST_DATABASE_URL) names a PostgreSQL server; databases are made there and dropped. Each statement
 * updates a thousand wallets, as a commit updates those of its trades. Autovacuum looks once a minute by default, so a
 * run of less than some minutes says little.
 */
import { performance } from 'node:perf_hooks'
import { parseArgs } from 'node:util'
import { sql } from 'kysely'
import { present } from '../../actors/kernel/assert.ts'
import { whole } from '../rehearse/rig/options.ts'
import { createOnServer, reset } from './bench-database.ts'
import { figure, table } from './report.ts'

const TOGETHER = 1_000
/** Statements under way at a time. */
const WRITERS = 4

const { values: options } = parseArgs({
  options: { updates: { type: 'string', default: '10000000' }, users: { type: 'string', default: '100000' } },
})
const server = process.env['DATABASE_URL'] ?? process.env['TEST_DATABASE_URL']
if (server === undefined) throw new Error('DATABASE_URL must name a PostgreSQL server to measure on')
const updates = whole('updates', options.updates, 1_000, 1_000_000_000)
const users = whole('users', options.users, 2 * TOGETHER, 10_000_000)

const rows = [await measure(server, 'as it is', true), await measure(server, 'without autovacuum', false)]
console.log(`${figure(updates)} updates of ${figure(users)} wallets of a purse\n`)
console.log(
  table(['autovacuum', 'MB at first', 'MB after', 'times', 'HOT, %', 'dead, %', 'vacuums', 'updates/s'], rows),
)

async function measure(url: string, name: string, isOn: boolean): Promise<string[]> {
  const database = await createOnServer(url, users)
  try {
    await reset(database)
    const { db } = database.connection
    if (!isOn) await sql`alter table wallets set (autovacuum_enabled = off)`.execute(db)
    await database.connection.withoutTimeout((long) => sql`vacuum full wallets`.execute(long))
    const before = await size()
    const start = performance.now()
    let left = Math.ceil(updates / TOGETHER)
    const write = async (): Promise<void> => {
      while (left-- > 0) {
        const from = Math.floor(Math.random() * (users - TOGETHER))
        const ids = database.users.slice(from, from + TOGETHER)
        await sql`update wallets set balance_micros = balance_micros + 1, version = version + 1
                   where user_id = any(${`{${ids.join(',')}}`}::uuid[]) and purse = 'main'`.execute(db)
      }
    }
    await Promise.all(Array.from({ length: WRITERS }, write))
    const seconds = (performance.now() - start) / 1_000
    await sql`select pg_stat_force_next_flush()`.execute(db).catch(() => undefined)
    const after = await size()
    const { rows: stats } = await sql<{ hot: number; dead: number; vacuums: number }>`
      select (100.0 * n_tup_hot_upd / greatest(n_tup_upd, 1))::float8 as hot,
             (100.0 * n_dead_tup / greatest(n_live_tup + n_dead_tup, 1))::float8 as dead, autovacuum_count as vacuums
        from pg_stat_user_tables where relname = 'wallets'`.execute(db)
    const { hot, dead, vacuums } = present(stats[0], 'statistics of the wallets')
    return [
      name,
      figure(before),
      figure(after),
      figure(after / before),
      hot.toFixed(0),
      dead.toFixed(0),
      String(vacuums),
      figure(updates / seconds),
    ]

    async function size(): Promise<number> {
      const { rows: found } = await sql<{ mb: number }>`
        select pg_total_relation_size('wallets')::float8 / 1e6 as mb`.execute(db)
      return present(found[0], 'size of the wallets').mb
    }
  } finally {
    await database.close()
  }
}
