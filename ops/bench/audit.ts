/**
 * Measures the audit of a ledger most of which is closed, against adding up every entry:
 *
 *   npm run ops -- bench-audit [--entries 1000000,4000000] [--users 20000] [--rounds 5] [--by-closings]
 *
 * `--by-closings` leaves out adding up every entry, which takes minutes for a hundred million.
 * DATABASE_URL (or TEST_DATABASE_URL) names a PostgreSQL server; a database is made there and dropped. A day of trades
 * ends an hour ago, so all but the last stretch is closed; 100,000 more entries are of the last hour.
 */
import { performance } from 'node:perf_hooks'
import { parseArgs } from 'node:util'
import { type Kysely, sql } from 'kysely'
import { LedgerClosings } from '../../db/ledger-closings.ts'
import type { Database } from '../../db/postgres/schema.ts'
import { WalletCache } from '../../db/wallet-cache.ts'
import { Wallets } from '../../db/wallets.ts'
import { whole } from '../rehearse/rig/options.ts'
import { createOnServer, reset } from './bench-database.ts'
import { figure, spreadOf, table, withSpread } from './report.ts'

const OPEN_ENTRIES = 100_000
/** Rows of one insert: more would exceed the statement timeout. */
const CHUNK = 100_000
const DAY_SECS = 86_400
const HOUR_SECS = 3_600

const { values: options } = parseArgs({
  options: {
    entries: { type: 'string', default: '1000000,4000000' },
    users: { type: 'string', default: '20000' },
    rounds: { type: 'string', default: '5' },
    'by-closings': { type: 'boolean', default: false },
  },
})
const server = process.env['DATABASE_URL'] ?? process.env['TEST_DATABASE_URL']
if (server === undefined) throw new Error('DATABASE_URL must name a PostgreSQL server to measure on')
const sizes = options.entries.split(',').map((text) => whole('entries', text, 1_000, 1_000_000_000))
const users = whole('users', options.users, 1, 10_000_000)
const rounds = whole('rounds', options.rounds, 1, 1_000)

const rows: string[][] = []
for (const size of sizes) rows.push(await measure(server, size))
console.log(table(['closed entries', 'audit, ms', 'every entry, ms', 'closing, s'], rows))

async function measure(url: string, size: number): Promise<string[]> {
  const database = await createOnServer(url, users)
  try {
    const { connection } = database
    const { db } = connection
    await reset(database)
    const closings = new LedgerClosings(db)
    await sql`update ledger_entries set at = now() - interval '26 hours'`.execute(db)
    // An audit reads no index by user, and keeping them would take most of the time.
    await sql`drop index ledger_trades_first_user, ledger_trades_first_once`.execute(db)
    await add(db, size, { from: HOUR_SECS + DAY_SECS, secs: DAY_SECS - 1 })
    await add(db, OPEN_ENTRIES, { from: HOUR_SECS - 60, secs: HOUR_SECS - 120 })
    // The wallets as their entries have them.
    await connection.withoutTimeout((long) =>
      sql`update wallets w set balance_micros = e.total from (
            select user_id, purse, sum(amount_micros) as total from ledger_entries where user_id is not null group by 1, 2
          ) e where w.user_id = e.user_id and w.purse = e.purse and w.balance_micros <> e.total`.execute(long),
    )
    await connection.withoutTimeout((long) => sql`vacuum analyze`.execute(long))
    // As a migration does in a large ledger.
    await connection.withoutTimeout((long) =>
      sql`update ledger_closed set until = (select min(at) from ledger_entries)`.execute(long),
    )
    const start = performance.now()
    while ((await closings.closeNext()) !== null);
    const closing = (performance.now() - start) / 1_000
    const took = async (every: boolean): Promise<readonly number[]> => {
      const times: number[] = []
      for (let round = 0; round < rounds; round++) {
        const from = performance.now()
        const found = await connection.withoutTimeout((long) =>
          new Wallets(long, new WalletCache(null, () => undefined)).auditLedger({ whole: every }),
        )
        times.push(performance.now() - from)
        const { mismatchedWallets, unbalancedTransactions, imbalanceMicros } = found
        if (mismatchedWallets !== 0 || unbalancedTransactions !== 0 || imbalanceMicros !== 0) {
          throw new Error(`the books of the benchmark do not balance: ${JSON.stringify(found)}`)
        }
      }
      return times
    }
    const byClosings = withSpread(spreadOf(await took(false)))
    const all = options['by-closings'] ? '–' : withSpread(spreadOf(await took(true)))
    return [figure(size), byClosings, all, figure(closing)]
  } finally {
    await database.close()
  }
}

/**
 * Adds `count` entries, spread evenly over `secs` seconds that begin `from` seconds ago. Each entry of a user has one
 * of the house that cancels it. A user loses with their next entry what they have won.
 */
async function add(db: Kysely<Database>, count: number, { from, secs }: { from: number; secs: number }): Promise<void> {
  for (let done = 0; done < count; done += CHUNK) {
    await sql`
      with ids as materialized (select array_agg(user_id) as of from wallets where purse = 'main')
      insert into ledger_entries (tx, account, user_id, purse, amount_micros, kind, reference, at, marker)
        select t.tx, e.account, e.user_id, 'main', e.amount, e.kind, t.tx, t.at, e.marker
          from (select n, gen_random_uuid() as tx, ids.of[1 + n / 2 % cardinality(ids.of)] as user_id,
                       1000 * (1 - 2 * (n / 2 / cardinality(ids.of) % 2)) as amount,
                       now() - (${from}::float8 - ${secs}::float8 * n / ${count}::float8) * interval '1 second' as at
                  from ids, generate_series(${done}::integer, ${Math.min(done + CHUNK, count) - 1}::integer, 2) n) t,
               lateral (values ('user', t.user_id, t.amount, 'release', 1 + t.n + ${from}::bigint * 1000000000),
                               ('house', null, -t.amount, 'batch', null)) e (account, user_id, amount, kind, marker)`.execute(
      db,
    )
  }
}
