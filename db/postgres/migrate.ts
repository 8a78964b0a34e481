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
import * as cheaperTrades from './migrations/0012-cheaper-trades.ts'
import * as numberedEntries from './migrations/0013-numbered-entries.ts'
import type { Database } from './schema.ts'

export interface Migration {
  /** For ever: it is how a database remembers that it has run this one. */
  readonly name: string
  /**
   * The version before this migration could not work on what it leaves, so it must not start again, and is stopped first.
   * Without it both versions run side by side during a release: it adds, and removes only what the version before does not use.
   */
  readonly isBreaking?: true
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
  { name: '0012-cheaper-trades', isBreaking: true, up: cheaperTrades.up },
  { name: '0013-numbered-entries', isBreaking: true, up: numberedEntries.up },
]

/** Any number will do, as long as everybody who migrates this database uses the same. */
const LOCK = 7_166_211_044

/**
 * Runs what is missing, all or nothing, and returns the names of what it ran. That may take minutes: see
 * `Connection.withoutTimeout`. Processes that start together may all call it: one works, the others wait and find nothing left to
 * do. Migrations of a newer version are fine as long as none of them is breaking. Throws, and changes nothing, when one is, or
 * when the database went another way: this version might damage it.
 */
export async function migrate(
  db: Kysely<Database>,
  migrations: readonly Migration[] = MIGRATIONS,
): Promise<readonly string[]> {
  return db.transaction().execute(async (tx) => {
    await locked(tx)
    await sql`
      create table if not exists schema_migrations (
        name text primary key,
        at timestamptz not null default now()
      )`.execute(tx)
    await sql`alter table schema_migrations add column if not exists is_breaking boolean not null default false`.execute(
      tx,
    )
    const applied = await appliedMigrations(tx)
    const foreign = foreignMigrations(applied, migrations)
    if (foreign.refused.length > 0) throw new Error(refusal(foreign.refused))
    const missing = migrations.slice(applied.length)
    for (const migration of missing) {
      // Tables as they were on the day of the migration have no type any more.
      await migration.up(tx as unknown as Kysely<unknown>)
      await sql`
        insert into schema_migrations (name, is_breaking)
        values (${migration.name}, ${migration.isBreaking === true})`.execute(tx)
    }
    return missing.map((migration) => migration.name)
  })
}

/**
 * Waits for the lock, however long its holder migrates. It is asked for again and again: most connections give up on a query
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

export interface AppliedMigration {
  readonly name: string
  readonly isBreaking: boolean
}

/** What has run in this database, in order. Throws where nothing ever has. */
export async function appliedMigrations(db: Kysely<Database>): Promise<readonly AppliedMigration[]> {
  const { rows } = await sql<AppliedMigration>`
    select name, is_breaking as "isBreaking" from schema_migrations order by name`.execute(db)
  return rows
}

/** Migrations that this code does not know: those it can live with, and those that keep it from starting. */
export function foreignMigrations(
  applied: readonly AppliedMigration[],
  migrations: readonly Migration[] = MIGRATIONS,
): { readonly tolerated: readonly string[]; readonly refused: readonly string[] } {
  const foreign = applied.filter(({ name }, i) => migrations[i]?.name !== name)
  const isOtherWay = applied.slice(0, migrations.length).some(({ name }, i) => migrations[i]?.name !== name)
  const isRefused = isOtherWay || foreign.some(({ isBreaking }) => isBreaking)
  const names = foreign.map(({ name }) => name)
  return isRefused ? { tolerated: [], refused: names } : { tolerated: names, refused: [] }
}

const refusal = (foreign: readonly string[]): string =>
  `the database has been migrated by a newer or different version: ${foreign.join(', ')} unknown here. ` +
  'Start that version, or restore a backup from before it.'
