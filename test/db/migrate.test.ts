import { Kysely, PostgresDialect, sql } from 'kysely'
import pg from 'pg'
import { describe, expect, it } from 'vitest'
import { type Connection, connect, connectEmbedded } from '../../db/connect.ts'
import { type Migration, migrate, MIGRATIONS } from '../../db/migrate.ts'
import type { Database } from '../../db/schema.ts'
import { createDatabase, eachDatabase, onPostgres } from '../support/databases.ts'

const names = MIGRATIONS.map((migration) => migration.name)

async function onEmpty(open: () => Promise<Connection>, work: (connection: Connection) => Promise<void>) {
  const connection = await open()
  try {
    await work(connection)
  } finally {
    await connection.close()
  }
}

const step = (name: string, statement: string): Migration => ({
  name,
  async up(db) {
    await sql.raw(statement).execute(db)
  },
})

describe('an empty database', () => {
  it('[D20] gets every migration once, in order, and remembers them', { timeout: 60_000 }, () =>
    onEmpty(
      () => connectEmbedded(null),
      async ({ db }) => {
        const one = step('1', 'create table a (x integer)')
        const two = step('2', 'alter table a add column y integer')
        expect(await migrate(db, [one])).toEqual(['1'])
        expect(await migrate(db, [one, two])).toEqual(['2'])
        expect(await migrate(db, [one, two])).toEqual([])
        await sql`insert into a (x, y) values (1, 2)`.execute(db)

        // A failing migration takes back what ran before it in the same call.
        const half = step('3', 'create table b (x integer)')
        const broken = step('4', 'create table b (x integer)')
        await expect(migrate(db, [one, two, half, broken])).rejects.toThrow('already exists')
        expect(await migrate(db, [one, two, half])).toEqual(['3'])

        // A newer database is refused, and so is one that went another way.
        await expect(migrate(db, [one, two])).rejects.toThrow('newer or different version: 3 unknown here')
        await expect(migrate(db, [one, half, two])).rejects.toThrow('2, 3 unknown here')
      },
    ),
  )
})

eachDatabase((open) => {
  it('[D20] is at the schema of this code', async () => {
    expect(await migrate(open().db)).toEqual([])
    const { rows } = await sql<{ name: string }>`select name from schema_migrations order by name`.execute(open().db)
    expect(rows.map((row) => row.name)).toEqual(names)
  })

  it('[D21] refuses a database that a newer version has migrated', async () => {
    const { db } = open()
    await sql`insert into schema_migrations (name) values ('9999-from-the-future')`.execute(db)
    await expect(migrate(db)).rejects.toThrow(/newer or different version: 9999-from-the-future/)
    await sql`delete from schema_migrations where name = '9999-from-the-future'`.execute(db)
  })
})

onPostgres((server) => {
  it('[D22] lets processes that start together migrate together: one works, the others wait', async () => {
    const { url, drop } = await createDatabase(server)
    const starters = await Promise.all(Array.from({ length: 5 }, () => connect({ databaseUrl: url, dataDir: null })))
    try {
      const ran = await Promise.all(starters.map(({ db }) => migrate(db)))
      expect(ran.flat()).toEqual(names)
      expect(ran.filter((one) => one.length > 0)).toHaveLength(1)
    } finally {
      await Promise.all(starters.map((starter) => starter.close()))
      await drop()
    }
  })

  it('[J33] a process that waits for another to migrate asks again and again, so that no query of it times out', async () => {
    const { url, drop } = await createDatabase(server)
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
    try {
      const first = migrate(one.db, [slow])
      await begun.promise
      expect(await Promise.all([first, migrate(two, [slow])])).toEqual([['1'], []])
    } finally {
      await Promise.all([one.close(), two.destroy()])
      await drop()
    }
  })
})
