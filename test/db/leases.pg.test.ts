import { sql } from 'kysely'
import { afterEach, expect, it, vi } from 'vitest'
import { type FixtureId, fixtureId } from '../../actors/kernel/ids.ts'
import { HOUR_MS, SECOND_MS } from '../../actors/kernel/world.ts'
import { type Connection, connect } from '../../db/postgres/connect.ts'
import { SqlLeases } from '../../db/leases.ts'
import { migrate } from '../../db/postgres/migrate.ts'
import { createDatabase, eachDatabase, onPostgres } from '../support/databases.ts'
import { record } from '../support/fixtures.ts'
import { insertMatch } from '../support/rows.ts'

const leasesOf = ({ db }: Connection, owner: string) => new SqlLeases(db, { owner, ttlMs: 5 * SECOND_MS, alone: false })
const expireIn = ({ db }: Connection, id: FixtureId) =>
  sql`update match_leases set expires_at = clock_timestamp() where match_id = ${id}`.execute(db)

eachDatabase((open) => {
  let matches = 500
  const match = (): FixtureId => fixtureId(++matches)
  const [ada, bob] = [() => leasesOf(open(), 'ada'), () => leasesOf(open(), 'bob')]
  const expire = (id: FixtureId) => expireIn(open(), id)

  it('[Q1] a running lease cannot be taken; an expired or released one can, under a greater epoch', async () => {
    const id = match()
    expect(await ada().ownerOf(id)).toBeNull()
    expect(await ada().acquire(id)).toBe(1)
    expect(await bob().acquire(id)).toBeNull()
    expect(await bob().ownerOf(id)).toBe('ada')
    expect(await ada().acquire(id)).toBe(2)
    await expire(id)
    expect(await bob().ownerOf(id)).toBeNull()
    expect(await bob().acquire(id)).toBe(3)
    // A former owner cannot release a lease it has lost.
    await ada().release(id, 2)
    expect(await ada().acquire(id)).toBeNull()
    await bob().release(id, 3)
    expect(await ada().acquire(id)).toBe(4)
  })

  it('[Q3] every process finds the unsettled matches without a running owner, and its own that do not run', async () => {
    const [never, ended, alices, bobs, here, over] = [match(), match(), match(), match(), match(), match()]
    const { info } = record()
    for (const matchId of [never, ended, alices, bobs, here]) await insertMatch(open().db, { ...info, matchId })
    await insertMatch(open().db, { ...info, matchId: over, settledAt: info.startsAt })
    await bob().acquire(ended)
    await expire(ended)
    await ada().acquire(alices)
    await bob().acquire(bobs)
    expect(await ada().orphans([here])).toEqual([never, ended, alices])
  })
})

// The embedded database has no clock but the process's own.
onPostgres((server) => {
  afterEach(() => void vi.useRealTimers())

  it("[Q2] the database's clock decides whether a lease runs, not those of the processes", async () => {
    const { url, drop } = await createDatabase(server)
    const connection = await connect({ databaseUrl: url, dataDir: null })
    try {
      await migrate(connection.db)
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
    } finally {
      await connection.close()
      await drop()
    }
  })
})
