/**
 * What trades leave in the database: bytes of each table at rest, and after everything that is dropped has been.
 *
 *   DATABASE_URL=postgres://… npm run ops -- bench-growth [--trades 200000] [--json]
 *
 * Real matches open and close positions with keys, all reactions are done, and the tables are written anew, so that no
 * dead row counts. Then the clock is put forward by a year and a half, what is too old is dropped, and what is history
 * is archived. An open and a close are a trade each.
 */
import { performance } from 'node:perf_hooks'
import { parseArgs } from 'node:util'
import { sql } from 'kysely'
import { present } from '../../actors/kernel/assert.ts'
import { SETTINGS } from '../../actors/kernel/settings.ts'
import { HOUR_MS, instant } from '../../actors/kernel/world.ts'
import { Archive } from '../../db/archive.ts'
import { Outbox } from '../../db/outbox.ts'
import { Retention } from '../../db/retention.ts'
import { WalletCache } from '../../db/wallet-cache.ts'
import { react } from '../../src/reactions/react.ts'
import { systemWorld } from '../../src/system-world.ts'
import { whole } from '../rehearse/rig/options.ts'
import { audit, type BenchDatabase, createOnServer, reset } from './bench-database.ts'
import { BenchMatch } from './matches.ts'
import { figure, table } from './report.ts'

const USERS = 20_000
const MATCHES = 2
const UNDER_WAY = 500
/** Longer than anything is kept that is not kept for ever. */
const LATER_MS = 550 * 24 * HOUR_MS

const { values } = parseArgs({
  options: { trades: { type: 'string', default: '200000' }, json: { type: 'boolean', default: false } },
})
const trades = whole('trades', values.trades, 2_000, 100_000_000)
const server = process.env['DATABASE_URL'] ?? process.env['TEST_DATABASE_URL']
if (server === undefined) throw new Error('DATABASE_URL must name a PostgreSQL server to measure on')

const database = await createOnServer(server, USERS)
try {
  await reset(database)
  const before = await sizes(database)
  await trade(database)
  const fresh = await sizes(database)
  await forget(database)
  const kept = await sizes(database)
  const each = (now: ReadonlyMap<string, number>, name: string): number =>
    ((now.get(name) ?? 0) - (before.get(name) ?? 0)) / trades
  const rows = [...new Set([...fresh.keys(), ...kept.keys()])]
    .map((name) => ({ name, fresh: each(fresh, name), kept: each(kept, name) }))
    .filter((row) => Math.max(row.fresh, row.kept) >= 0.05)
    .toSorted((a, b) => b.fresh - a.fresh)
  const sum = (of: 'fresh' | 'kept'): number => rows.reduce((total, row) => total + row[of], 0)
  const all = [...rows, { name: 'all', fresh: sum('fresh'), kept: sum('kept') }]
  console.log(
    values.json
      ? JSON.stringify({ trades, tables: all })
      : `Bytes a trade, of ${trades.toLocaleString('en')}\n${table(
          ['table, indexes included', 'at first', 'for ever'],
          all.map((row) => [row.name, figure(row.fresh), figure(Math.max(0, row.kept))]),
        )}`,
  )
} finally {
  await database.close()
}

/** Half of the trades open a position, and half close it again. */
async function trade({ connection, users }: BenchDatabase): Promise<void> {
  const matches = await BenchMatch.start(connection, MATCHES)
  let left = trades / 2
  const caller = async (n: number): Promise<void> => {
    const match = present(matches[n % MATCHES], 'match')
    for (; left > 0;) {
      const user = present(users[--left % users.length], 'user')
      await match.close(user, await match.open(user))
    }
  }
  await Promise.all(Array.from({ length: UNDER_WAY }, (_, n) => caller(n)))
  for (const match of matches) await match.stop()
  const outbox = new Outbox(connection.db, new WalletCache(null, () => undefined), systemWorld())
  for (let reacted = await outbox.react(react); reacted !== null; reacted = await outbox.react(react)) {
    if (reacted.kind === 'failed') throw reacted.error
  }
  await audit(database, { opened: trades / 2, closed: trades / 2, keyed: trades })
}

async function forget({ connection: { db } }: BenchDatabase): Promise<void> {
  const later = { now: () => instant(Date.now() + LATER_MS) }
  const days = (key: 'retention.full_ticks_days' | 'retention.ticks_days' | 'retention.journal_days'): number =>
    SETTINGS[key].default
  await new Retention(db, later, () => ({
    fullDays: days('retention.full_ticks_days'),
    days: days('retention.ticks_days'),
    journalDays: days('retention.journal_days'),
  })).run({ whole: true })
  await sql`update matches set settled_at = now()`.execute(db)
  await sql`update outbox_cursors set finished = true`.execute(db)
  const start = performance.now()
  const { positions } = await new Archive(db, later, () => SETTINGS['retention.archive_days'].default).run(Infinity)
  const seconds = (performance.now() - start) / 1_000
  console.error(`${figure(positions)} positions archived, ${figure(positions / seconds)} a second`)
}

/** Bytes of each table with its indexes, without dead rows. */
async function sizes({ connection }: BenchDatabase): Promise<ReadonlyMap<string, number>> {
  return connection.withoutTimeout(async (db) => {
    await sql`vacuum full`.execute(db)
    const { rows } = await sql<{ name: string; bytes: number }>`
      select coalesce(pg_partition_root(oid), oid)::regclass::text as name,
             sum(pg_total_relation_size(oid))::bigint as bytes
        from pg_class where relkind = 'r' and relnamespace = 'public'::regnamespace group by 1`.execute(db)
    return new Map(rows.map(({ name, bytes }) => [name, bytes]))
  })
}
