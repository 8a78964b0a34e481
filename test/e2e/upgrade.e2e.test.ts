/** A running process and a database that a newer version migrates. */
import { sql } from 'kysely'
import { afterEach, expect, it, onTestFinished, vi } from 'vitest'
import { z } from 'zod'
import { type Migration, migrate, MIGRATIONS } from '../../db/postgres/migrate.ts'
import { audit, BALANCED } from '../support/books.ts'
import { type DataPlace, onServers } from '../support/data-place.ts'
import { HttpClient } from '../support/http-client.ts'
import { killRemaining, PATIENCE, Program } from '../support/process.ts'

afterEach(killRemaining)

/** Longer than two looks at the schema, and than stopping may take. */
const BOUND_MS = 2_100 + 10_000
const step = (name: string, statement: string): Migration => ({
  name,
  async up(tx) {
    await sql.raw(statement).execute(tx)
  },
})
const ADDED = step('9998-adds', 'create table later (x integer)')
const BREAKING: Migration = { ...step('9999-breaks', 'drop table later'), isBreaking: true }
const run = (place: DataPlace, ...planted: readonly Migration[]) =>
  place.look(({ db }) => migrate(db, [...MIGRATIONS, ...planted]))
const owners = (place: DataPlace) =>
  place.look(async ({ db }) => {
    const held = await sql<{ owner: string }>`select owner from match_leases where expires_at > now()`.execute(db)
    return held.rows
  })

/** How often anybody has read the list of migrations, as the server counts it. */
const looks = (place: DataPlace) =>
  place.look(async ({ db }) => {
    const counted = await sql<{ scans: number }>`
      select (seq_scan + coalesce(idx_scan, 0))::int as scans
        from pg_stat_user_tables where relname = 'schema_migrations'`.execute(db)
    return counted.rows[0]?.scans ?? 0
  })

const Unready = z.object({ code: z.literal('NOT_READY'), checks: z.record(z.string(), z.string()) })

onServers((settle) => {
  it('[D15] a tolerated migration changes nothing; after a breaking one the process says so, hands over and ends with 75', async () => {
    const place = await settle()
    onTestFinished(() => place.remove())
    const settings = { ...place.env, DEMO_TRADERS: '0', DEMO_SPEED: '2', DRAIN_SECS: '2' }
    const program = new Program(settings)
    const { url } = await program.listening
    const ada = await HttpClient.of(url, 'Ada')
    const player = await vi.waitUntil(
      async () => (await ada.instruments()).find(({ tradingStatus }) => tradingStatus === 'OPEN'),
      PATIENCE,
    )
    const order = { instrumentId: player.id, direction: 'long', lotSize: 0.1, clientPrice: player.currentPrice }
    const { position } = await ada.opens({ ...order, direction: 'long' }, 'kept')

    expect(await run(place, ADDED)).toEqual([ADDED.name])
    const before = await looks(place)
    await vi.waitUntil(async () => (await looks(place)) > before + 1, PATIENCE)
    expect((await fetch(`${url}/ready`)).status).toBe(200)
    expect(await owners(place)).toHaveLength(1)

    expect(await run(place, ADDED, BREAKING)).toEqual([BREAKING.name])
    const begun = performance.now()
    await program.logs('"event":"schema_newer"')
    const unready = await fetch(`${url}/ready`)
    expect(unready.status).toBe(503)
    expect(Unready.parse(await unready.json()).checks).toMatchObject({ schema: 'failed', database: 'ok' })
    const { code, stdout, stderr } = await program.ended
    expect(performance.now() - begun).toBeLessThan(BOUND_MS)
    expect({ code, stderr }).toEqual({ code: 75, stderr: '' })
    const seen = stdout.split('\n').filter((line) => line.includes('schema_newer'))
    expect(seen.map((line) => JSON.parse(line))).toMatchObject([{ level: 'warn', name: BREAKING.name }])
    expect(stdout).toContain('"event":"shutdown_completed"')
    // Its match waits for no lease to expire.
    expect(await owners(place)).toEqual([])

    const again = await new Program(settings).ended
    expect(again.code).toBe(75)
    expect(again.stderr).toMatch(/^Touchline cannot start: the database .* 9998-adds, 9999-breaks unknown here.*\n$/)
    expect(await audit(place)).toMatchObject(BALANCED)
    const open = await place.look(({ db }) =>
      db.selectFrom('positions').select('id').where('closed_at', 'is', null).execute(),
    )
    expect(open).toContainEqual({ id: position.id })
  })
})
