/** Brings a database to this code's schema: the list of migrations, in order, and the one transaction that runs them. */
import { type Kysely, sql } from 'kysely'
import * as players from './migrations/0001-players.ts'
import * as market from './migrations/0002-market.ts'
import * as trading from './migrations/0003-trading.ts'
import * as sessions from './migrations/0004-sessions.ts'
import * as marketHistory from './migrations/0005-market-history.ts'
import * as community from './migrations/0006-community.ts'
import * as administration from './migrations/0007-administration.ts'
import * as ledgerAt from './migrations/0009-ledger-at.ts'
import type { Database } from './schema.ts'

export interface Migration {
  /** For ever: it is how a database remembers that it has run this one. */
  readonly name: string
  up(db: Kysely<unknown>): Promise<void>
}

/** Append only. A migration that has run anywhere is never edited or moved. */
export const MIGRATIONS: readonly Migration[] = [
  { name: '0001-players', up: players.up },
  { name: '0002-market', up: market.up },
  { name: '0003-trading', up: trading.up },
  { name: '0004-sessions', up: sessions.up },
  { name: '0005-market-history', up: marketHistory.up },
  { name: '0006-community', up: community.up },
  { name: '0007-administration', up: administration.up },
  { name: '0009-ledger-at', up: ledgerAt.up },
]

/** Any number will do, as long as everybody who migrates this database uses the same. */
const LOCK = 7_166_211_044

/**
 * Runs what is missing, all or nothing, and returns the names of what it ran. Processes that start together may all call
 * it: one works, the others wait and find nothing left to do. Throws, and changes nothing, when the database has
 * migrations this code does not know: it has been used by a newer version, whose data this one might damage.
 */
export async function migrate(
  db: Kysely<Database>,
  migrations: readonly Migration[] = MIGRATIONS,
): Promise<readonly string[]> {
  return db.transaction().execute(async (tx) => {
    await sql`set local statement_timeout = 0`.execute(tx) // a migration may take its time
    await locked(tx)
    await sql`
      create table if not exists schema_migrations (
        name text primary key,
        at timestamptz not null default now()
      )`.execute(tx)
    const { rows } = await sql<{ name: string }>`select name from schema_migrations order by name`.execute(tx)
    const applied = rows.map((row) => row.name)
    refuseForeign(applied, migrations)
    const missing = migrations.slice(applied.length)
    for (const migration of missing) {
      // Tables as they were on the day of the migration have no type any more.
      await migration.up(tx as unknown as Kysely<unknown>)
      await sql`insert into schema_migrations (name) values (${migration.name})`.execute(tx)
    }
    return missing.map((migration) => migration.name)
  })
}

/**
 * Waits for the lock, however long its holder migrates. It is asked for again and again: a connection gives up on a query
 * that does not answer for seconds, and waiting for a lock is one.
 */
async function locked(tx: Kysely<Database>): Promise<void> {
  for (;;) {
    const { rows } = await sql<{ taken: boolean }>`select pg_try_advisory_xact_lock(${sql.lit(LOCK)}) as taken`.execute(
      tx,
    )
    if (rows[0]?.taken === true) return
    await sql`select pg_sleep(0.2)`.execute(tx)
  }
}

/** What has run must be the beginning of the list. */
function refuseForeign(applied: readonly string[], migrations: readonly Migration[]): void {
  const foreign = applied.filter((name, i) => migrations[i]?.name !== name)
  if (foreign.length === 0) return
  throw new Error(
    `the database has been migrated by a newer or different version: ${foreign.join(', ')} unknown here. ` +
      'Start that version, or restore a backup from before it.',
  )
}
