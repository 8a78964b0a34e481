import { createHash, randomUUID } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Kysely, PostgresDialect, sql } from 'kysely'
import pg from 'pg'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { COMMIT_BATCH, COMMIT_BATCH_PROTECTED } from '../../db/postgres/commit-batch.ts'
import { RULES, withRules } from '../../db/postgres/rules.ts'
import { LEAGUE_TABLE } from '../../db/postgres/league-table.ts'
import { DISTRICT_TABLE, MATCH_TABLE } from '../../db/postgres/match-table.ts'
import { connect } from '../../db/postgres/connect.ts'
import type { Connection } from '../../db/postgres/connection.ts'
import { connectEmbedded } from '../../db/postgres/embedded.ts'
import { type Migration, migrate, MIGRATIONS, newerBreaking } from '../../db/postgres/migrate.ts'
import { type Repeatable, repeatable } from '../../db/postgres/repeatable.ts'
import type { Database } from '../../db/postgres/schema.ts'
import { copyDatabase, unlessThere } from '../../ops/rehearse/rig/scratch-database.ts'
import { createDatabase, eachDatabase, onPostgres } from '../support/databases.ts'

/** Of a second transaction for a lock. */
const WAITS = { timeout: 60_000, interval: 20 }

const ROOT = join(import.meta.dirname, '../..')
const FOLDER = join(ROOT, 'db/postgres/migrations')

/** Every migration with its digest, made by `sha256sum *.sql > SHA256SUMS` in the folder. */
const SUMS = readFileSync(join(FOLDER, 'SHA256SUMS'), 'utf8')

const names = MIGRATIONS.map((migration) => migration.name)

async function onEmpty(work: (connection: Connection) => Promise<void>) {
  const connection = await connectEmbedded(null)
  try {
    await work(connection)
  } finally {
    await connection.close()
  }
}

const step = (name: string, statement: string): Migration => ({
  name,
  async up(tx) {
    await sql.raw(statement).execute(tx)
  },
})

describe('migrations', () => {
  it('have not been edited since they were checked in, and each file is in the list', () => {
    const sums = names.map((name) => {
      const digest = createHash('sha256')
        .update(readFileSync(join(FOLDER, `${name}.sql`)))
        .digest('hex')
      return `${digest}  ${name}.sql\n`
    })
    expect(sums.join(''), 'databases that have run a migration will not run it again: add a new one').toBe(SUMS)
  })

  it('[D6] run once each, in order, all or nothing', () =>
    onEmpty(async ({ db }) => {
      const one = step('1', 'create table a (x integer)')
      const two = step('2', 'alter table a add column y integer')
      expect(await migrate(db, [one], [])).toEqual(['1'])
      expect(await migrate(db, [one, two], [])).toEqual(['2'])
      expect(await migrate(db, [one, two], [])).toEqual([])
      await sql`insert into a (x, y) values (1, 2)`.execute(db)

      // A failing migration rolls back what ran before it in the same call.
      const half = step('3', 'create table b (x integer)')
      const broken = step('4', 'create table b (x integer)')
      await expect(migrate(db, [one, two, half, broken], [])).rejects.toThrow('already exists')
      expect(await migrate(db, [one, two, half], [])).toEqual(['3'])

      await expect(migrate(db, [one, half, two], [])).rejects.toThrow('2, 3 unknown here')
    }))

  it('refuse a database of an unreleased version, in one line that says what to do', () =>
    onEmpty(async ({ db }) => {
      // As the oldest of them left it.
      await sql`create table schema_migrations (name text primary key, at timestamptz not null default now())`.execute(
        db,
      )
      await sql`insert into schema_migrations (name) values ('0001-players'), ('0002-market')`.execute(db)
      const refused = migrate(db)
      await expect(refused).rejects.toThrow(/unreleased development version.* Delete .* DATA_DIR, or .* DATABASE_URL/)
      await expect(refused).rejects.not.toThrow(/\n/)
      const { rows } = await sql`select to_regclass('wallets') as wallets`.execute(db)
      expect(rows).toEqual([{ wallets: null }])
    }))
})

describe('a function whose text is edited', () => {
  const answering = (n: number): Repeatable =>
    repeatable('answer', `-- ${n}\ncreate function answer(x integer) returns integer language sql as 'select x + ${n}'`)
  const [one, two, three] = [answering(1), answering(2), answering(3)]

  it('has the edit after the next start, and an older process keeps its own', () =>
    onEmpty(async (connection) => {
      const { db } = connection
      const answers = async (): Promise<(number | null)[]> =>
        Promise.all(
          [one, two, three].map(async ({ installedAs }) => {
            const [row] = await connection
              .call<Record<string, number>>(() => ({ name: installedAs, args: { x: 10 } }))
              .catch(() => [])
            return row?.[installedAs] ?? null
          }),
        )
      expect(await migrate(db, [], [one])).toEqual([one.installedAs])
      expect(await migrate(db, [], [one])).toEqual([])
      expect(await migrate(db, [], [two])).toEqual([two.installedAs])
      expect(await answers()).toEqual([11, 12, null])
      // The older version restarts. Of the two, it is now the one that started last; the next version drops neither it…
      expect(await migrate(db, [], [one])).toEqual([])
      expect(await migrate(db, [], [three])).toEqual([three.installedAs])
      expect(await answers()).toEqual([11, null, 13])
      // …nor is a dropped one missing when its version is started again.
      expect(await migrate(db, [], [two])).toEqual([two.installedAs])
      expect(await answers()).toEqual([null, 12, 13])
    }))

  it('must be created by its text exactly once', () => {
    expect(() => repeatable('answer', 'create function other() …')).toThrow('not exactly once')
  })
})

eachDatabase((open) => {
  it("[D6] has this code's schema", async () => {
    expect(await migrate(open().db)).toEqual([])
    const { rows } = await sql<{ name: string }>`select name from schema_migrations order by name`.execute(open().db)
    expect(rows.map((row) => row.name)).toEqual(names)
  })

  it('finds an edit of commit_batch in a database that was migrated before the edit', async () => {
    const { db } = open()
    const textOf = async (name: string) =>
      (await sql<{ prosrc: string }>`select prosrc from pg_proc where proname = ${name}`.execute(db)).rows
    const text = withRules(readFileSync(join(ROOT, 'db/postgres/commit-batch.sql'), 'utf8'))
    const edited = repeatable('commit_batch', text.replace("verdict := 'committed'", "verdict := 'edited'"))
    expect(await migrate(db, MIGRATIONS, [edited])).toEqual([edited.installedAs])
    expect(await textOf(edited.installedAs)).toEqual([{ prosrc: expect.stringContaining("verdict := 'edited'") }])
    // A process of the version before the edit still runs what it was built with.
    expect(await textOf(COMMIT_BATCH.installedAs)).toEqual([{ prosrc: expect.not.stringContaining('edited') }])
  })

  it('[D7] accepts a database migrated by a newer version, unless that migration was breaking', async () => {
    const { db } = open()
    const added = step('9998-adds', 'create table later (x integer)')
    const breaking: Migration = { ...step('9999-breaks', 'drop table later'), isBreaking: true }
    onTestFinished(async () => void (await sql`delete from schema_migrations where name > '9'`.execute(db)))
    expect(await migrate(db, [...MIGRATIONS, added])).toEqual(['9998-adds'])
    expect(await migrate(db)).toEqual([])
    expect(await newerBreaking(db)).toBeNull()
    expect(await migrate(db, [...MIGRATIONS, added, breaking])).toEqual(['9999-breaks'])
    await expect(migrate(db)).rejects.toThrow(/newer or different version: 9998-adds, 9999-breaks unknown here/)
    await expect(migrate(db, [...MIGRATIONS, added])).rejects.toThrow(/9999-breaks unknown here/)
    expect(await newerBreaking(db)).toBe('9999-breaks')
    expect(await newerBreaking(db, [...MIGRATIONS, added, breaking])).toBeNull()
  })
})

onPostgres((server) => {
  it('processes that start together migrate together: one works, the others wait', async () => {
    const url = await createDatabase(server)
    const starters = await Promise.all(Array.from({ length: 5 }, () => connect({ databaseUrl: url, dataDir: null })))
    for (const starter of starters) onTestFinished(() => starter.close())
    const ran = await Promise.all(starters.map(({ db }) => migrate(db)))
    expect(ran.flat()).toEqual([
      ...names,
      RULES.installedAs,
      COMMIT_BATCH.installedAs,
      COMMIT_BATCH_PROTECTED.installedAs,
      LEAGUE_TABLE.installedAs,
      MATCH_TABLE.installedAs,
      DISTRICT_TABLE.installedAs,
    ])
    expect(ran.filter((one) => one.length > 0)).toHaveLength(1)
  })

  it("a process that waits for another's migration polls, so that none of its queries times out", async () => {
    const url = await createDatabase(server)
    const one = await connect({ databaseUrl: url, dataDir: null })
    const [begun, asked] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    let questions = 0
    const two = new Kysely<Database>({
      dialect: new PostgresDialect({ pool: new pg.Pool({ connectionString: url }) }),
      log: ({ query }) => {
        if (query.sql.includes('pg_try_advisory_xact_lock') && ++questions === 3) asked.resolve()
      },
    })
    const slow: Migration = {
      name: '1',
      up: async () => {
        begun.resolve()
        await asked.promise
      },
    }
    onTestFinished(() => one.close())
    onTestFinished(() => two.destroy())
    const first = migrate(one.db, [slow], [])
    await begun.promise
    expect(await Promise.all([first, migrate(two, [slow], [])])).toEqual([['1'], []])
  })
  it('what copies are made of is made once, whichever database of the server they are asked for by', async () => {
    const name = `touchline_test_${randomUUID().replaceAll('-', '')}`
    const begun = Promise.withResolvers<void>()
    let filled = 0
    const open = await connect({ databaseUrl: server, dataDir: null })
    onTestFinished(() => open.close())
    const fill = async () => {
      filled++
      begun.resolve()
      await vi.waitUntil(async () => {
        const { rows } = await sql`select from pg_locks where locktype = 'advisory' and not granted`.execute(open.db)
        return rows.length > 0
      }, WAITS)
    }
    const other = await createDatabase(server)
    await Promise.all([unlessThere(server, name, fill), begun.promise.then(() => unlessThere(other, name, fill))])
    const copy = await copyDatabase(server, name)
    onTestFinished(async () => {
      await copy.drop()
      await sql.raw(`drop database ${name}`).execute(open.db)
    })
    expect(filled).toBe(1)
    // By these the gate tells a copy from what it is made of, and its own from those of others.
    expect(copy.name).toMatch(/^touchline_copy_/)
    const { rows } = await sql<{ maker: string; own: string }>`
      select shobj_description(oid, 'pg_database') as maker, current_database() as own
        from pg_database where datname = ${copy.name}`.execute(open.db)
    expect(rows).toEqual([{ maker: rows[0]?.own, own: rows[0]?.own }])
  })
})
