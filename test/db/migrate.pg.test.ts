import { Kysely, PostgresDialect, sql } from 'kysely'
import pg from 'pg'
import { describe, expect, it } from 'vitest'
import { userId } from '../../actors/kernel/ids.ts'
import type { KeyedRoute } from '../../actors/match/messages.ts'
import { commandId } from '../../src/http/command-ids.ts'
import { findResult } from '../../db/command-results.ts'
import { type Connection, connect, connectEmbedded } from '../../db/postgres/connect.ts'
import { type Migration, migrate, MIGRATIONS } from '../../db/postgres/migrate.ts'
import type { Database } from '../../db/postgres/schema.ts'
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
  it('[D6] gets every migration once, in order, and remembers them', { timeout: 60_000 }, () =>
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

        // One that went another way is refused.
        await expect(migrate(db, [one, half, two])).rejects.toThrow('2, 3 unknown here')
      },
    ),
  )

  it('keeps the books of the version before: every entry, and what it was for', { timeout: 60_000 }, () =>
    onEmpty(
      () => connectEmbedded(null),
      async ({ db }) => {
        const id = (n: number): string => `00000000-0000-4000-8000-00000000000${n}`
        const [ada, position, tx] = [id(1), id(2), id(3)]
        const before = MIGRATIONS.findIndex((migration) => migration.name === '0012-cheaper-trades')
        await migrate(db, MIGRATIONS.slice(0, before))
        await sql`
          insert into ledger_entries (tx, account, user_id, amount_micros, kind, reference, position_id, at) values
            (${ada}, 'user', ${ada}, 9, 'grant', ${`grant:${ada}`}, null, now()),
            (${ada}, 'house', null, -9, 'grant', ${`grant:house:${ada}`}, null, now()),
            (${tx}, 'user', ${ada}, -4, 'margin', ${`open:${position}`}, ${position}, now()),
            (${tx}, 'user', ${ada}, 5, 'release', ${`close:${position}`}, ${position}, now()),
            (${tx}, 'house', null, -1, 'batch', ${`batch:${tx}`}, null, now()),
            (${tx}, 'user', ${ada}, 2, 'external_adjustment', ${`external:user:${ada}:7`}, null, now()),
            (${tx}, 'house', null, -2, 'external_adjustment', ${`external:house:${ada}:7`}, null, now())`.execute(db)
        await sql`insert into outbox (match_id, seq, at, replay, events) values (1, 1, now(), false, '[{"kind": "x"}]')`.execute(
          db,
        )
        expect(await migrate(db)).toContain('0012-cheaper-trades')
        const { rows } = await sql<{ kind: string; reference: string; amount: number }>`
          select kind, reference, amount_micros as amount from ledger_entries where kind <> 'external_adjustment'
           order by amount_micros`.execute(db)
        expect(rows.map((row) => [row.kind, row.reference, row.amount])).toEqual([
          ['grant', ada, -9],
          ['margin', position, -4],
          ['batch', tx, -1],
          ['release', position, 5],
          ['grant', ada, 9],
        ])
        const { rows: books } = await sql<{ sum: number; entries: number }>`
          select sum(amount_micros)::bigint as sum, count(*) as entries from ledger_entries`.execute(db)
        expect(books).toEqual([{ sum: 0, entries: 7 }])
        expect((await db.selectFrom('outbox').select('events').execute())[0]?.events).toEqual([{ kind: 'x' }])
      },
    ),
  )

  it('numbers the entries of the version before, and keeps what its keys were answered with', { timeout: 60_000 }, () =>
    onEmpty(
      () => connectEmbedded(null),
      async ({ db }) => {
        const id = (n: number): string => `00000000-0000-4000-8000-00000000000${n}`
        const [ada, open, closed] = [userId(id(1)), id(2), id(3)]
        const before = MIGRATIONS.findIndex((migration) => migration.name === '0013-numbered-entries')
        await migrate(db, MIGRATIONS.slice(0, before))
        await sql`
          insert into positions (id, user_id, match_id, instrument_id, sign, lots_micros, open_micros, margin_micros,
                                 opened_at, closable_at, opened_marker, close_micros, pnl_micros, closed_at, closed_by,
                                 closed_marker) values
            (${open}, ${ada}, 1, ${id(4)}, 1, 1, 1, 4, now(), now(), 1, null, null, null, null, null),
            (${closed}, ${ada}, 1, ${id(4)}, 1, 1, 1, 4, now(), now(), 2, 10000, 1, now(), 'user', 4)`.execute(db)
        await sql`
          insert into ledger_entries (tx, account, user_id, amount_micros, kind, reference, at) values
            (${id(5)}, 'user', ${ada}, 9, 'grant', ${ada}, now()),
            (${id(5)}, 'user', ${ada}, -4, 'margin', ${open}, now()),
            (${id(5)}, 'user', ${ada}, -4, 'margin', ${closed}, now()),
            (${id(5)}, 'user', ${ada}, 5, 'release', ${closed}, now()),
            (${id(5)}, 'house', null, -6, 'batch', ${id(5)}, now())`.execute(db)
        const quote = '"quote":{"price":7,"base":1,"imbalance":2,"slope":3}'
        await sql`
          insert into command_results (user_id, route, key, fingerprint, result, balance_micros, margin_micros,
                                       unrealized_micros, at) values
            (${ada}, 'open', 'k 1', 'a', ${`{"opened":"${open}",${quote}}`}, 1, 2, 3, now()),
            (${ada}, 'close', 'k 1', 'b', ${`{"closed":"${closed}",${quote}}`}, 4, 5, 6, now()),
            (${ada}, 'open', '"k" {2}', 'c', '{"refusal":{"code":"price_moved"}}', 7, 8, 9, now())`.execute(db)
        expect(await migrate(db)).toContain('0013-numbered-entries')

        const { rows } = await sql<{ kind: string; reference: string; marker: number | null }>`
          select kind, reference, marker from ledger_entries order by marker, kind`.execute(db)
        expect(rows.map((row) => [row.marker, row.kind, row.reference])).toEqual([
          [1, 'margin', open],
          [2, 'margin', closed],
          [4, 'release', closed],
          [null, 'batch', id(5)],
          [null, 'grant', ada],
        ])
        const stored = async (route: KeyedRoute, key: string) =>
          findResult(db, ada, { id: commandId(ada, route, key), fingerprint: '' })
        expect(await stored('open', 'k 1')).toMatchObject({
          fingerprint: 'a',
          result: { position: { id: open, close: null }, price: 7 },
          wallet: { balance: 1, marginUsed: 2, unrealizedPnl: 3 },
        })
        expect(await stored('close', 'k 1')).toMatchObject({
          fingerprint: 'b',
          result: { position: { id: closed, close: { by: 'user' } }, price: 7 },
        })
        expect(await stored('open', '"k" {2}')).toMatchObject({ result: { refusal: { code: 'price_moved' } } })
        expect(await stored('close', '"k" {2}')).toBeNull()
      },
    ),
  )
})

eachDatabase((open) => {
  it('[D6] is at the schema of this code', async () => {
    expect(await migrate(open().db)).toEqual([])
    const { rows } = await sql<{ name: string }>`select name from schema_migrations order by name`.execute(open().db)
    expect(rows.map((row) => row.name)).toEqual(names)
  })

  it('[D7] takes a database that a newer version has migrated, unless that was breaking', async () => {
    const { db } = open()
    const added = step('9998-adds', 'create table later (x integer)')
    const breaking: Migration = { ...step('9999-breaks', 'drop table later'), isBreaking: true }
    try {
      expect(await migrate(db, [...MIGRATIONS, added])).toEqual(['9998-adds'])
      expect(await migrate(db)).toEqual([])
      expect(await migrate(db, [...MIGRATIONS, added, breaking])).toEqual(['9999-breaks'])
      await expect(migrate(db)).rejects.toThrow(/newer or different version: 9998-adds, 9999-breaks unknown here/)
      await expect(migrate(db, [...MIGRATIONS, added])).rejects.toThrow(/9999-breaks unknown here/)
    } finally {
      await sql`delete from schema_migrations where name > '9'`.execute(db)
    }
  })
})

onPostgres((server) => {
  it('lets processes that start together migrate together: one works, the others wait', async () => {
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

  it('a process that waits for another to migrate asks again and again, so that no query of it times out', async () => {
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
