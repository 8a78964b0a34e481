/** Matches that are history: their rows move to the archive, and readers see no difference. */
import { sql } from 'kysely'
import { beforeAll, expect, it, onTestFinished, vi } from 'vitest'
import { present } from '../../actors/kernel/assert.ts'
import { positionId, type UserId } from '../../actors/kernel/ids.ts'
import { DAY_MS, instant } from '../../actors/kernel/world.ts'
import { chanceFrom } from '../../actors/replay/chance.ts'
import type { Position } from '../../actors/position/position.ts'
import { AccountLog } from '../../db/account-log.ts'
import { Archive } from '../../db/archive.ts'
import { DataExport } from '../../db/data-export.ts'
import { EventStream } from '../../db/event-stream.ts'
import { LedgerClosings } from '../../db/ledger-closings.ts'
import { Months } from '../../db/months.ts'
import { connect } from '../../db/postgres/connect.ts'
import type { Connection } from '../../db/postgres/connection.ts'
import { PositionVoids } from '../../src/features/integrity/store.ts'
import { Positions } from '../../db/positions.ts'
import { WalletCache } from '../../db/wallet-cache.ts'
import { Wallets } from '../../db/wallets.ts'
import { Voids } from '../../src/features/integrity/voids.ts'
import { systemWorld } from '../../src/system-world.ts'
import { BALANCED } from '../support/books.ts'
import { createMigrated } from '../../ops/rehearse/rig/migrated.ts'
import { crowd, eachDatabase, onPostgres } from '../support/databases.ts'
import { type Fixture, openSeason, seasonOn } from '../support/season.ts'

const KEPT_DAYS = 35
const ALL = 1_000_000
const PATIENCE = { timeout: 60_000, interval: 20 }

eachDatabase((open) => {
  const clock = { now: Date.UTC(2026, 7, 22, 15) }
  const world = systemWorld(() => clock.now)
  const season = seasonOn(open, world)
  let admin: UserId

  beforeAll(async () => {
    admin = await season.user('Archive admin')
  })

  const archive = () => new Archive(open().db, world, () => KEPT_DAYS)
  const positions = () => new Positions(open().db)
  const wallets = () => new Wallets(open().db, season.cache)
  const count = async (table: string, where = sql`true`): Promise<number> =>
    present(
      (await sql<{ n: number }>`select count(*) as n from ${sql.table(table)} where ${where}`.execute(open().db))
        .rows[0],
      'count',
    ).n
  const settle = async (match: Fixture) => {
    await match.settle()
    await season.reactor.drain()
  }
  /** Positions of these users in a match that settles at once. */
  async function played(users: readonly UserId[], each: number, seed = 1): Promise<readonly Position[]> {
    const chance = chanceFrom(seed)
    const match = await season.match()
    const made: Position[] = []
    for (let n = 0; n < each; n++) {
      for (const user of users) {
        const position = await match.open(user, { direction: chance.happens(0.5) ? 'long' : 'short' })
        await match.close(position, 190 + chance.below(20), chance.happens(0.2) ? 'take_profit' : 'user')
        made.push(position)
      }
    }
    await settle(match)
    return made
  }
  const query = { purse: 'main', limit: 100, offset: 0 } as const
  /** All that a user, and a reader of the event stream, can see. */
  async function seen(users: readonly UserId[], some: readonly Position[]) {
    const stream = new EventStream(open().db, 0)
    await stream.sweep()
    const exported: unknown[] = []
    for (const user of users) {
      for await (const { section, rows } of new DataExport(open().db, []).pages(user)) {
        // The stored answers of openings under a key are not archived; these have none.
        exported.push([section, rows])
      }
    }
    return {
      closed: await Promise.all(users.map((user) => positions().list(user, { ...query, status: 'closed' }))),
      all: await Promise.all(users.map((user) => positions().list(user, { ...query, status: 'all' }))),
      page: await Promise.all(
        users.map((user) => positions().list(user, { ...query, status: 'all', before: 4, limit: 2 })),
      ),
      found: await Promise.all(some.map(({ userId, id }) => positions().find(userId, id))),
      ledger: await Promise.all(
        users.map((user) => wallets().ledger(user, { ...query, matchId: present(some[0], 'position').fixtureId })),
      ),
      events: await stream.after([1, 0, 0], ALL),
      exported,
    }
  }

  it('[D18] what is history moves in any number of steps, and every reader sees the same between them', async () => {
    const users = [await season.player(), await season.player()]
    const past = await played(users, 5)
    clock.now += (KEPT_DAYS - 1) * DAY_MS
    const recent = await played(users, 2, 2)
    const live = await season.match()
    const held = await live.open(present(users[0], 'user'))
    const before = await seen(users, [...past, ...recent, held])
    expect(await archive().run(ALL)).toEqual({ positions: 0, events: 0 })

    clock.now += 2 * DAY_MS
    let moved = { positions: 0, events: 0 }
    for (let n = 0; ; n++) {
      expect(await seen(users, [...past, ...recent, held]), `after ${n} steps`).toEqual(before)
      const step = await archive().run(1)
      if (step.positions + step.events === 0) break
      moved = { positions: moved.positions + step.positions, events: moved.events + step.events }
    }
    // An opening and a close are a commit each; the last of the match, its end, stays.
    expect(moved).toEqual({ positions: past.length, events: 2 * past.length })
    const of = sql`match_id = ${present(past[0], 'position').fixtureId}::bigint`
    expect([await count('positions', of), await count('outbox', of)]).toEqual([0, 1])
    expect(await count('positions_archive', of)).toBe(past.length)
    expect((await positions().find(held.userId, held.id))?.position.close).toBeNull()
    expect(await wallets().auditLedger({ whole: true })).toMatchObject(BALANCED)
  })

  it(
    '[D18] the positions of a crowd move once, whichever processes move them at the same time',
    { timeout: 240_000 },
    async () => {
      const users = await Promise.all(Array.from({ length: 100 }, (_, n) => season.user(`Crowd ${n}`)))
      const match = await season.match()
      const made = Array.from({ length: crowd(open(), 10_000) }, (_, n) =>
        match.position(present(users[n % users.length], 'user'), { lots: 0.01 }),
      )
      for (let from = 0; from < made.length; from += 500) {
        const some = made.slice(from, from + 500)
        await match.commit(some.map((position) => ({ kind: 'position_opened', position })))
        await match.commit(some.map((position) => match.closed(position, 200)))
      }
      await settle(match)
      const others = await played(users.slice(0, 1), 3)
      clock.now += (KEPT_DAYS + 1) * DAY_MS
      const moved = await Promise.all(Array.from({ length: 4 }, () => archive().run(ALL)))
      const rest = await archive().run(ALL)
      const total = [...moved, rest].reduce((sum, one) => sum + one.positions, 0)
      expect(total).toBeGreaterThanOrEqual(made.length + others.length)
      const ids = sql`user_id in (select id from users where username like 'crowd%')`
      expect(await count('positions', ids)).toBe(0)
      expect(await count('positions_archive', ids)).toBe(made.length + others.length)
      const { rows } = await sql<{ n: number }>`
      select count(distinct id) as n from positions_archive where ${ids}`.execute(open().db)
      expect(rows[0]?.n).toBe(made.length + others.length)
    },
  )

  it('[D18] waits for reactions, for what was set aside, and for pay that waits for an operator', async () => {
    const user = await season.player()
    const match = await season.match()
    const [paid, unpaid] = [await match.open(user), await match.open(user)]
    await match.close(paid, 201)
    await match.close(unpaid, 201)
    await match.settle()
    clock.now += (KEPT_DAYS + 1) * DAY_MS
    expect(await archive().run(ALL)).toMatchObject({ positions: 0 })
    await season.reactor.drain()
    const { db } = open()
    await sql`insert into outbox_failures values (${match.id}::bigint, 1, 'e', 5, now())`.execute(db)
    expect(await archive().run(ALL)).toMatchObject({ positions: 0 })
    await sql`delete from outbox_failures`.execute(db)
    await sql`insert into unpaid_closes values (${unpaid.id}::uuid, ${user}::uuid, 'main', 1, now())`.execute(db)
    expect(await archive().run(ALL)).toMatchObject({ positions: 1 })
    expect(await count('positions', sql`user_id = ${user}::uuid`)).toBe(1)
    expect(await positions().list(user, { ...query, status: 'closed' })).toHaveLength(2)
    await sql`delete from unpaid_closes`.execute(db)
  })

  it('[D18] a match is history though an operator has voided a position since it was settled', async () => {
    const user = await season.player()
    const match = await season.match()
    const won = await match.open(user)
    await match.close(won, 215)
    await settle(match)
    const voids = new PositionVoids(open().db, season.cache, world)
    await voids.begin({ positionId: won.id, commandId: null, by: admin, reason: 'late' })
    expect(await voids.rebook(won.id)).toBe(true)
    await season.reactor.drain()
    expect(await count('outbox_cursors', sql`match_id = ${match.id}::bigint and finished`)).toBe(1)
    clock.now += (KEPT_DAYS + 1) * DAY_MS
    expect(await archive().run(ALL)).toMatchObject({ positions: 1 })
  })

  it('[D18] an archived position can still be void, and a rebuild reads archived events', async () => {
    const user = await season.player()
    const match = await season.match()
    const [won, kept] = [await match.open(user), await match.open(user)]
    await match.close(won, 215)
    await match.close(kept, 205)
    await settle(match)
    clock.now += (KEPT_DAYS + 1) * DAY_MS
    await archive().run(ALL)
    const desk = { ask: async () => 'closed' as const }
    const voids = new Voids({ voids: new PositionVoids(open().db, season.cache, world), desk })
    const request = { positionId: won.id, commandId: null, by: admin, reason: 'late' }
    expect(await voids.void(request)).toMatchObject({ kind: 'voided' })
    expect(await new AccountLog(open().db, world).changes(user, 4, 9)).toMatchObject({
      kind: 'events',
      marker: 5,
      events: [{ marker: 5, kind: 'corrected', position: { id: won.id, close: { by: 'void', pnl: 0 } } }],
    })
    expect((await positions().find(user, won.id))?.position.close).toMatchObject({ by: 'void', pnl: 0 })
    expect(await count('positions', sql`user_id = ${user}::uuid`)).toBe(0)
    expect(await positions().list(user, { ...query, status: 'closed' })).toHaveLength(2)
    await season.reactor.drain()
    const career = await season.careers.find(user)
    expect(career).toMatchObject({ main: { closed: 1, wins: 1 } })
    expect(await wallets().auditLedger()).toMatchObject(BALANCED)

    await season.outbox.forget()
    await season.reactor.drain()
    expect(await season.careers.find(user)).toEqual(career)
    expect(await count('outbox_archive')).toBe(0)
  })

  it('[D18] a key that is used again after so long opens another position, and both are listed once', async () => {
    const user = await season.player()
    const id = positionId(world.newId())
    const opened: number[] = []
    for (const price of [210, 190]) {
      const match = await season.match()
      const position = { ...match.position(user), id }
      await match.commit([{ kind: 'position_opened', position }])
      await match.close(position, price)
      await settle(match)
      opened.push(position.openedAt)
      const found = await positions().find(user, id)
      expect(found?.position.openedAt).toBe(position.openedAt)
      clock.now += (KEPT_DAYS + 1) * DAY_MS
      await archive().run(ALL)
    }
    const listed = await positions().list(user, { ...query, status: 'all' })
    expect(listed.map(({ position }) => position.openedAt)).toEqual(opened.toReversed().map(instant))
    expect((await positions().find(user, id))?.position.openedAt).toBe(opened[1])
  })

  it('[D19] the ledger has a partition for each month to come, and books nothing in a month without one', async () => {
    const months = new Months(open().db, world)
    await months.make()
    expect(await months.make()).toBe(0)
    const later = new Date(Math.max(clock.now, Date.now()))
    later.setUTCDate(1)
    later.setUTCMonth(later.getUTCMonth() + 14)
    const book = () =>
      sql`insert into ledger_entries (tx, account, purse, amount_micros, kind, reference, at)
            select tx, 'house', 'main', 0, 'batch', tx, ${later}::timestamptz from (select gen_random_uuid() as tx) t`.execute(
        open().db,
      )
    await expect(book()).rejects.toThrow(/no partition/)
    const then = new Months(open().db, { now: () => instant(later.getTime()) })
    const made = await Promise.all([then.make(), then.make(), then.make()])
    expect(made.reduce((sum, n) => sum + n, 0)).toBeGreaterThanOrEqual(13)
    expect(await then.make()).toBe(0)
    await book()
    expect(await wallets().auditLedger({ whole: true })).toMatchObject(BALANCED)
  })
})

const MONTH = '2026-03'

/** Play in March 2026 and in May, with a ledger that has had months since. */
async function longAgo(connection: Connection) {
  const { db } = connection
  const clock = { now: Date.UTC(2026, 2, 10, 15) }
  const world = systemWorld(() => clock.now)
  await sql`alter table ledger_trades detach partition ledger_trades_first`.execute(db)
  await sql`select add_month('ledger_trades', m::date)
              from generate_series('2026-03-01', date_trunc('month', now() at time zone 'UTC'), interval '1 month') m
  `.execute(db)
  const season = await openSeason(connection, world)
  const users = [await season.user('March One'), await season.user('March Two')]
  for (const week of [0, 1, 9]) {
    clock.now = Date.UTC(2026, 2, 10 + 7 * week, 15)
    const match = await season.match()
    for (const user of users) await match.close(await match.open(user), 200 + week)
    await match.settle()
    await season.reactor.drain()
  }
  clock.now = Date.now()
  const positions = new Positions(db)
  const list = () =>
    Promise.all(users.map((user) => positions.list(user, { purse: 'main', status: 'all', limit: 100, offset: 0 })))
  const closeAndArchive = async () => {
    await new LedgerClosings(db).closeAll(1_000_000)
    await new Archive(db, world, () => KEPT_DAYS).run(1_000)
  }
  return { season, world, user: present(users[0], 'user'), list, closeAndArchive, months: new Months(db, world) }
}

eachDatabase((open) => {
  it('[D20] a month is detached once all of it is history, and comes back as it was', async () => {
    const { db } = open()
    const { season, world, user, list, closeAndArchive, months } = await longAgo(open())
    const wallets = () => new Wallets(db, new WalletCache(null, () => undefined))
    const audits = async () => [await wallets().auditLedger(), await wallets().auditLedger({ whole: true })] as const
    const before = await list()
    expect(await months.obstacle(MONTH)).toMatch(/not closed/)
    await expect(months.detach(MONTH)).rejects.toThrow(/not closed/)
    await new LedgerClosings(db).closeAll(1_000_000)
    expect(await months.obstacle(MONTH)).toMatch(/2 matches .* not archived/)
    await closeAndArchive()
    expect(await months.obstacle(MONTH)).toBeNull()
    expect(await months.obstacle('2026-01')).toMatch(/no month/)
    expect(await list()).toEqual(before)

    // One of them is void since.
    const [old] = before[0]?.slice(-1) ?? []
    const { id } = present(old, 'a position of March').position
    const voids = new PositionVoids(db, season.cache, world)
    await voids.begin({ positionId: id, commandId: null, by: user, reason: 'late' })
    expect(await voids.rebook(id)).toBe(true)
    await season.reactor.drain()
    const log = new AccountLog(db, world)
    expect(await log.changes(user, 6, 9)).toMatchObject({ kind: 'events', events: [{ kind: 'corrected' }] })

    const tables = ['ledger_trades_2026_03', 'positions_archive_2026_03', 'outbox_archive_2026_03']
    expect(await months.detach(MONTH)).toEqual(tables.toReversed())
    expect((await list()).map((rows) => rows.length)).toEqual([1, 1])
    expect((await months.list()).map(({ table }) => table)).not.toContain(tables[0])
    let [byClosings, whole] = await audits()
    expect(byClosings).toMatchObject(BALANCED)
    expect(whole).toEqual(byClosings)
    await expect(season.outbox.forget()).rejects.toThrow('attach 2026-03')
    expect(await log.changes(user, 6, 9)).toMatchObject({ kind: 'snapshot', marker: 7 })

    // A wallet that is lost meanwhile is summed up again, with the detached month.
    const held = present((await wallets().find(user)) ?? undefined, 'wallet')
    const match = await season.match()
    const position = await match.open(user)
    await sql`delete from wallets where user_id = ${user}::uuid and purse = 'main'`.execute(db)
    await match.close(position, 200)
    expect((await wallets().find(user))?.balance).toBe(held.balance)

    // Without its table there is nothing to attach, and the sums stay.
    await sql`alter table ledger_trades_2026_03 rename to dropped`.execute(db)
    await expect(months.attach(MONTH)).rejects.toThrow('no table ledger_trades_2026_03')
    expect(await wallets().auditLedger()).toMatchObject(BALANCED)
    await sql`alter table dropped rename to ledger_trades_2026_03`.execute(db)

    const notes = async () => (await sql`select from positions_archive where void_note is not null`.execute(db)).rows
    await sql`update users set erased_at = now() where id = ${user}::uuid`.execute(db)
    expect(await months.attach(MONTH)).toEqual(tables)
    expect(await notes(), 'the user has been erased meanwhile').toEqual([])
    expect((await list())[1]).toEqual(before[1])
    ;[byClosings, whole] = await audits()
    expect(byClosings).toMatchObject(BALANCED)
    expect(whole).toEqual(byClosings)
  })
})

eachDatabase((open) => {
  it('[D20] what is of a detached month stays where it is, and holds up the archive of nothing else', async () => {
    const { db } = open()
    const { season, user, closeAndArchive, months } = await longAgo(open())
    await closeAndArchive()
    const begun = Date.UTC(2026, 2, 31)
    const [late, other] = [await season.match(), await season.match()]
    for (const match of [late, other]) {
      for (let n = 0; n < 5; n++) await match.close(await match.open(user), 201)
      await match.settle()
      await season.reactor.drain()
      await sql`update matches set settled_at = now() - interval '40 days' - make_interval(secs => ${late.id - match.id}::integer)
                 where id = ${match.id}::bigint`.execute(db)
    }
    // The first of them was open for a long time.
    await sql`update positions set opened_at = ${new Date(begun)}::timestamptz where id = (
      select id from positions where match_id = ${late.id}::bigint order by opened_marker limit 1)`.execute(db)
    expect(await months.obstacle(MONTH)).toMatch(/^1 matches .* not archived/)
    await sql`update matches set archived_at = now() where id = ${late.id}::bigint`.execute(db)
    expect(await months.obstacle(MONTH)).toBeNull()
    // One that is put off holds up a month only if it has been traded in it.
    const putOff = await season.match()
    const held = await putOff.open(user)
    await sql`update matches set starts_at = ${new Date(begun)}::timestamptz where id = ${putOff.id}::bigint`.execute(
      db,
    )
    expect(await months.obstacle(MONTH)).toBeNull()
    const openedAt = (at: number) =>
      sql`update positions set opened_at = ${new Date(at)}::timestamptz where id = ${held.id}::uuid`.execute(db)
    await openedAt(begun)
    expect(await months.obstacle(MONTH)).toMatch(/^1 matches .* not archived/)
    await openedAt(held.openedAt)
    await months.detach(MONTH)
    await sql`update matches set archived_at = null where id = ${late.id}::bigint`.execute(db)
    await sql`update outbox set at = ${new Date(begun)}::timestamptz
               where match_id = ${late.id}::bigint and seq = 2`.execute(db)
    await closeAndArchive()
    const left = await sql<{ match_id: number; seq: number }>`
      select match_id, seq from outbox where match_id in (${late.id}::bigint, ${other.id}::bigint) order by 1, 2`.execute(
      db,
    )
    // The last row of a match stays in any case.
    expect(left.rows.map(({ match_id: match, seq }) => [match, seq])).toEqual([
      [late.id, 2],
      [late.id, 11],
      [other.id, 11],
    ])
    const kept = await sql`select from positions where match_id in (${late.id}::bigint, ${other.id}::bigint)`.execute(
      db,
    )
    expect(kept.rows).toHaveLength(1)
  })
})

onPostgres((server) => {
  it('[D20] detaching waits for a reader of the month, and trading waits for neither', async () => {
    const database = await createMigrated(server)
    const connection = await connect({ databaseUrl: database.url, dataDir: null })
    onTestFinished(async () => {
      await connection.close()
      await database.drop()
    })
    const { season, user, list, closeAndArchive, months } = await longAgo(connection)
    await closeAndArchive()
    const wallets = new Wallets(connection.db, new WalletCache(null, () => undefined))
    const reading = (work: () => Promise<void>) =>
      connection.db.transaction().execute(async (reader) => {
        // The ledger is detached last.
        await sql`select count(*) from ledger_entries`.execute(reader)
        await work()
      })
    let isDetached = false
    let detaching: Promise<unknown> = Promise.resolve()
    await reading(async () => {
      detaching = months.detach(MONTH).then(() => (isDetached = true))
      const match = await season.match()
      for (let n = 0; n < 20; n++) await match.close(await match.open(user), 201)
      await match.settle()
      expect(isDetached).toBe(false)
    })
    await detaching
    expect((await list())[0]).toHaveLength(1 + 20)
    expect(await wallets.auditLedger({ whole: true })).toMatchObject(BALANCED)

    await months.attach(MONTH)
    // The statement is cancelled while it waits for the reader: the month is half detached.
    const interrupted = async () => {
      let attempt: Promise<string> = Promise.resolve('')
      await reading(async () => {
        attempt = months.detach(MONTH).then(
          () => 'done',
          () => 'cancelled',
        )
        await vi.waitUntil(async () => {
          const { rows } = await sql`
            select pg_cancel_backend(a.pid) from pg_stat_activity a
             where a.datname = current_database() and a.wait_event_type = 'Lock' and a.query like '%detach partition%'
               and exists (select from pg_inherits where inhdetachpending and inhparent = 'ledger_trades'::regclass)`.execute(
            connection.db,
          )
          return rows.length > 0
        }, PATIENCE)
      })
      expect(await attempt).toBe('cancelled')
    }
    await interrupted()
    expect(await wallets.auditLedger({ whole: true })).toMatchObject(BALANCED)
    expect(await months.detach(MONTH)).toEqual(['ledger_trades_2026_03'])
    expect(await wallets.auditLedger({ whole: true })).toMatchObject(BALANCED)

    await months.attach(MONTH)
    await interrupted()
    expect(await months.attach(MONTH)).toHaveLength(3)
    expect(await wallets.auditLedger({ whole: true })).toMatchObject(BALANCED)
    // The events go first: had that been interrupted after them, they would be missed.
    await sql`insert into detached_months values (${MONTH}, 0, 0, 0, 0)`.execute(connection.db)
    await sql`alter table outbox_archive detach partition outbox_archive_2026_03`.execute(connection.db)
    await expect(season.outbox.forget()).rejects.toThrow('attach 2026-03')
    expect(await months.attach(MONTH)).toEqual(['outbox_archive_2026_03'])
    expect((await list())[0]).toHaveLength(3 + 20)
  })
})
