import { sql } from 'kysely'
import { afterEach, expect, it, onTestFinished, vi } from 'vitest'
import { type FixtureId, fixtureId } from '../../actors/kernel/ids.ts'
import { DAY_MS, HOUR_MS, SECOND_MS } from '../../actors/kernel/world.ts'
import { connect } from '../../db/postgres/connect.ts'
import type { Connection } from '../../db/postgres/connection.ts'
import { SqlLeases } from '../../db/leases.ts'
import { leasesContract } from '../contract/records.ts'
import { createMigrated } from '../../ops/rehearse/rig/migrated.ts'
import { eachDatabase, onPostgres } from '../support/databases.ts'
import { recordsBench } from './records-bench.ts'

const leasesOf = ({ db }: Connection, owner: string) => new SqlLeases(db, { owner, ttlMs: 5 * SECOND_MS, alone: false })
const expireIn = ({ db }: Connection, id: FixtureId, secs = 0) =>
  sql`update match_leases set expires_at = clock_timestamp() + make_interval(secs => ${secs}::float8)
       where match_id = ${id}`.execute(db)

eachDatabase((open) => {
  leasesContract(() => recordsBench(open()))

  it('[Q1] an owner whose acquisition the database has lost takes nothing from the next one of the same epoch', async () => {
    const [ada, bob, id] = [leasesOf(open(), 'ada'), leasesOf(open(), 'bob'), fixtureId(2)]
    expect(await ada.acquire(id)).toBe(1)
    await open().db.deleteFrom('match_leases').where('match_id', '=', id).execute() // it failed over to a late standby
    expect(await bob.acquire(id)).toBe(1)
    expect(await ada.renew(id, 1)).toBe(false)
    await ada.release(id, 1)
    expect([await ada.ownerOf(id), await bob.renew(id, 1)]).toEqual(['bob', true])
  })
})

// The embedded database has no clock but the process's own.
onPostgres((server) => {
  afterEach(() => void vi.useRealTimers())

  it("[Q2][X15] the database's clock decides whether a lease runs, not those of the processes", async () => {
    const { url, drop } = await createMigrated(server)
    const connection = await connect({ databaseUrl: url, dataDir: null })
    onTestFinished(async () => {
      await connection.close()
      await drop()
    })
    const [ada, bob, id] = [leasesOf(connection, 'ada'), leasesOf(connection, 'bob'), fixtureId(1)]
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + HOUR_MS })
    expect(await ada.acquire(id)).toBe(1)
    vi.setSystemTime(Date.now() + HOUR_MS)
    expect(await bob.acquire(id)).toBeNull()
    vi.setSystemTime(Date.now() - 3 * HOUR_MS)
    expect(await bob.ownerOf(id)).toBe('ada')
    expect(await ada.renew(id, 1)).toBe(true)
    await expireIn(connection, id)
    expect(await bob.acquire(id)).toBe(2)

    // [X15] As if the database's clock had been put back by a day since.
    await expireIn(connection, id, DAY_MS / SECOND_MS)
    expect([await ada.ownerOf(id), await ada.elsewhere()]).toEqual([null, []])
    expect(await ada.acquire(id)).toBe(3)
    expect([await bob.ownerOf(id), await bob.acquire(id)]).toEqual(['ada', null])
  })
})
