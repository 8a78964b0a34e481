/**
 * Brings a database to this code's schema: the migrations, in order, and the one transaction that runs them.
 */
import { readdirSync, readFileSync } from 'node:fs'
import { type Kysely, sql, type Transaction } from 'kysely'
import { COMMIT_BATCH, COMMIT_BATCH_PROTECTED } from './commit-batch.ts'
import { RULES } from './rules.ts'
import { LEAGUE_TABLE } from './league-table.ts'
import { DISTRICT_TABLE, MATCH_TABLE } from './match-table.ts'
import { install, type Repeatable } from './repeatable.ts'
import type { Database } from './schema.ts'

export interface Migration {
  /** Permanent: a database remembers under this name that it has run the migration. */
  readonly name: string
  /**
   * The version before this migration cannot work on the schema that it leaves, so it must be stopped first and must
   * not start again. Without this both versions run side by side during a release: the migration only adds, and removes
   * only what the version before does not use.
   */
  readonly isBreaking?: true
  /** Raw SQL only: the type is that of the newest schema, not of the one the migration meets. */
  up(tx: Transaction<Database>): Promise<void>
}

const FOLDER = new URL('./migrations/', import.meta.url)

/** As one `do` statement a file runs whole on both drivers; PGlite takes no lists of statements. */
function fromFile(file: string): Migration {
  const statements = readFileSync(new URL(file, FOLDER), 'utf8')
  return {
    name: file.replace(/\.sql$/, ''),
    ...(statements.startsWith('-- breaking\n') ? { isBreaking: true } : {}),
    async up(tx) {
      await sql.raw(`do $migration$ begin\n${statements}\nend $migration$`).execute(tx)
    },
  }
}

/**
 * The files of SQL in `migrations/`, in the order of their names. One whose first line is `-- breaking` is. A file that
 * has run anywhere is never edited or renamed (`SHA256SUMS` beside it; test/db/migrate.pg.test.ts compares them).
 */
export const MIGRATIONS: readonly Migration[] = readdirSync(FOLDER)
  .filter((file) => file.endsWith('.sql'))
  .toSorted()
  .map(fromFile)

/** What is created again whenever its text changes. */
const REPEATABLES: readonly Repeatable[] = [
  RULES,
  COMMIT_BATCH,
  COMMIT_BATCH_PROTECTED,
  LEAGUE_TABLE,
  MATCH_TABLE,
  DISTRICT_TABLE,
]

/** Arbitrary, but the same for every process that migrates this database. */
const LOCK = 7_166_211_044

/**
 * Runs the missing migrations and repeatables, all or nothing, and returns their names. This may take minutes: see
 * `Connection.withoutTimeout`. Processes that start together may all call it: one works, the others wait and find
 * nothing left to do. Migrations of a newer version are tolerated as long as none of them is breaking. Otherwise, and
 * when the database has run different migrations, it throws `SchemaRefused` and changes nothing, because this version
 * might damage the data.
 */
export async function migrate(
  db: Kysely<Database>,
  migrations: readonly Migration[] = MIGRATIONS,
  repeatables: readonly Repeatable[] = REPEATABLES,
): Promise<readonly string[]> {
  return db.transaction().execute(async (tx) => {
    await lock(tx)
    const { missing, refusal, isNewer } = await schemaState(tx, migrations)
    if (refusal !== null) throw new SchemaRefused(refusal, isNewer)
    await sql`
      create table if not exists schema_migrations (
        name text primary key,
        at timestamptz not null default now(),
        is_breaking boolean not null default false
      )`.execute(tx)
    for (const migration of missing) {
      await migration.up(tx)
      await sql`
        insert into schema_migrations (name, is_breaking)
        values (${migration.name}, ${migration.isBreaking === true})`.execute(tx)
    }
    return [...missing.map((migration) => migration.name), ...(await install(tx, repeatables))]
  })
}

/**
 * Waits for the lock for as long as its holder migrates. It tries repeatedly: most connections give up on a query
 * that does not answer for seconds, and waiting for a lock is such a query.
 */
async function lock(tx: Transaction<Database>): Promise<void> {
  for (;;) {
    const { rows } = await sql<{ taken: boolean }>`select pg_try_advisory_xact_lock(${sql.lit(LOCK)}) as taken`.execute(
      tx,
    )
    if (rows[0]?.taken === true) return
    await sql`select pg_sleep(0.2)`.execute(tx)
  }
}

export interface SchemaState {
  /** The names of those that have run. */
  readonly applied: readonly string[]
  readonly missing: readonly Migration[]
  /** Those of a newer version, beside which this one can work. */
  readonly tolerated: readonly string[]
  /** Why this version must not use the database, and what to do; null when it may. */
  readonly refusal: string | null
  /** It must not because of a newer version alone; that version may. */
  readonly isNewer: boolean
}

/** What has run in a database, compared with what this version knows. Changes nothing. */
export async function schemaState(
  db: Kysely<Database>,
  migrations: readonly Migration[] = MIGRATIONS,
): Promise<SchemaState> {
  const applied = await appliedMigrations(db)
  const names = applied.map(({ name }) => name)
  const foreign = applied.filter(({ name }, n) => migrations[n]?.name !== name)
  const isOtherWay = names.slice(0, migrations.length).some((name, n) => migrations[n]?.name !== name)
  const isRefused = isOtherWay || foreign.some(({ isBreaking }) => isBreaking)
  const foreignNames = foreign.map(({ name }) => name)
  return {
    applied: names,
    missing: isRefused ? [] : migrations.slice(names.length),
    tolerated: isRefused ? [] : foreignNames,
    refusal: isRefused ? refusalOf(names, foreignNames) : null,
    isNewer: isRefused && !isOtherWay,
  }
}

/** The database has run what this version must not work with. */
class SchemaRefused extends Error {
  constructor(refusal: string, isNewer: boolean) {
    super(refusal)
    this.name = isNewer ? 'SchemaNewer' : 'SchemaRefused'
  }
}

/**
 * The first breaking migration that has run and that this version does not know; null if there is none. Reads only the
 * table of migrations, which no migration changes.
 */
export async function newerBreaking(
  db: Kysely<Database>,
  migrations: readonly Migration[] = MIGRATIONS,
): Promise<string | null> {
  const { rows } = await sql<{ name: string }>`
    select name from schema_migrations
     where is_breaking and name <> all(string_to_array(${migrations.map(({ name }) => name).join(',')}, ','))
     order by name limit 1`.execute(db)
  return rows[0]?.name ?? null
}

interface AppliedMigration {
  readonly name: string
  readonly isBreaking: boolean
}

/** In order. */
async function appliedMigrations(db: Kysely<Database>): Promise<readonly AppliedMigration[]> {
  const { rows: tables } = await sql<{ exists: boolean }>`
    select to_regclass('schema_migrations') is not null as exists`.execute(db)
  if (tables[0]?.exists !== true) return []
  // Through JSON, because the oldest unreleased versions had no such column.
  const { rows } = await sql<AppliedMigration>`
    select name, coalesce((to_jsonb(m) ->> 'is_breaking')::boolean, false) as "isBreaking"
      from schema_migrations m order by name`.execute(db)
  return rows
}

/** The first migrations of the versions before 0.1.0, which were never released. */
const UNRELEASED = ['0001-players', '0001-schema']

const refusalOf = (applied: readonly string[], foreign: readonly string[]): string =>
  UNRELEASED.some((name) => applied.includes(name))
    ? 'the database was made by an unreleased development version, whose data cannot be migrated. ' +
      'Delete the folder DATA_DIR, or point DATABASE_URL to an empty database.'
    : `the database has been migrated by a newer or different version: ${foreign.join(', ')} unknown here. ` +
      'Start that version, or restore a backup from before it.'
