/** A server with a standby: which of its routes read there. */
import pg from 'pg'
import { afterEach, expect, it, onTestFinished, vi } from 'vitest'
import { z } from 'zod'
import { present } from '../../actors/kernel/assert.ts'
import { onServers } from '../support/data-place.ts'
import { HttpClient } from '../support/http-client.ts'
import { killRemaining, PATIENCE, Program } from '../support/process.ts'
import { startPair } from '../support/standby.ts'
import { scratchFolder } from '../support/scratch-folder.ts'

afterEach(killRemaining)

const Page = z.looseObject({ nextCursor: z.string().nullable() })

onServers(() => {
  it('[D16] lists and histories are read from the standby, what a user has just written is not', async () => {
    const pair = present(await startPair(), 'a PostgreSQL that can be run')
    onTestFinished(() => pair.remove())
    const folder = scratchFolder()
    const program = new Program({
      DATA_DIR: folder,
      DATABASE_URL: pair.primary.url,
      DATABASE_REPLICA_URL: pair.standby.url,
      ADMIN_EMAILS: 'ann@synthetic.invalid',
      DEMO_TRADERS: '0',
    })
    const { url } = await program.listening
    onTestFinished(async () => void (await program.stop()))
    const standby = new pg.Client({ connectionString: pair.standby.url, application_name: 'the test' })
    await standby.connect()
    onTestFinished(() => standby.end())
    const metric = async (name: string): Promise<number> => {
      const text = await (await fetch(`${url}/metrics`)).text()
      return Number(new RegExp(`^${name} (.*)$`, 'm').exec(text)?.[1])
    }
    const isUsed = async (): Promise<boolean> => (await metric('touchline_replica_in_use')) === 1
    /** What the standby was asked since the last call, but where it is, which the server asks again and again. */
    let since = new Date(0)
    const asked = async (): Promise<string> => {
      const { rows } = await standby.query<{ query: string; at: Date }>(
        `select query, clock_timestamp() as at from pg_stat_activity
          where application_name = 'touchline' and query_start > $1 and query not like '%replay_lsn%'`,
        [since],
      )
      since = (await standby.query<{ at: Date }>('select clock_timestamp() as at')).rows[0]?.at ?? since
      return rows.map(({ query }) => query).join('\n')
    }

    const ann = await HttpClient.of(url, 'Ann')
    const player = await vi.waitUntil(
      async () => (await ann.instruments()).find(({ tradingStatus }) => tradingStatus === 'OPEN'),
      PATIENCE,
    )
    const [match] = await ann.matches()
    const order = {
      instrumentId: player.id,
      direction: 'long',
      lotSize: 0.1,
      clientPrice: player.currentPrice,
    } as const
    for (const key of ['one', 'two']) await ann.opens(order, key)
    const founded = { name: 'Standby', endsAt: new Date(Date.now() + 86_400_000).toISOString(), matches: 'all' }
    const league = z.looseObject({ id: z.string() }).parse((await ann.request('POST', '/api/leagues', founded)).body).id
    await vi.waitUntil(isUsed, PATIENCE)
    expect(await metric('touchline_replica_lag_seconds')).toBeLessThan(5)
    await pair.replayed()
    const cursorOf = async (path: string): Promise<string> =>
      encodeURIComponent((await ann.get(path, Page)).nextCursor ?? '')
    const ledger = await cursorOf('/api/wallet/ledger?limit=1')
    await ann.request('PUT', '/api/admin/settings/trading.mode', { value: 'reduce_only' })
    await ann.request('PUT', '/api/admin/settings/trading.mode', { value: 'open' })
    await pair.replayed()
    const audit = await cursorOf('/api/admin/audit?limit=1')

    const onStandby: readonly (readonly [string, RegExp])[] = [
      [`/api/instruments/${player.id}/price-history?period=all`, /"?ticks"?/],
      [`/api/instruments/${player.id}/recent-trades`, /recent_trades/],
      ['/api/instruments/movers', /from matches m/],
      ['/api/activity', /"activity"/],
      ['/api/trades', /legacy_trades/],
      [`/api/leagues/${league}`, /league_table/],
      [`/api/leagues/${league}/matches/${present(match, 'a match').id}`, /league_members/],
      [`/api/wallet/ledger?limit=1&cursor=${ledger}`, /ledger_entries/],
      // The last it asks: the names beside the ids.
      [`/api/admin/audit?limit=1&cursor=${audit}`, /username as name/],
      ['/api/admin/ledger/audit', /ledger_entries/],
      ['/api/admin/risk', /positions/],
    ]
    await asked()
    for (const [path, statement] of onStandby) {
      expect((await ann.request('GET', path)).status, path).toBe(200)
      expect(await asked(), path).toMatch(statement)
    }
    const onPrimary = ['/api/wallet', '/api/wallet/ledger?limit=1', '/api/positions?status=all', '/api/notifications']
    for (const path of [...onPrimary, '/api/admin/audit?limit=1', '/api/admin/users', '/api/leagues']) {
      expect((await ann.request('GET', path)).status, path).toBe(200)
      expect(await asked(), path).toBe('')
    }

    await standby.query('select pg_wal_replay_pause()')
    await vi.waitUntil(async () => !(await isUsed()), PATIENCE)
    await program.logs('"event":"replica_left"')
    for (const [path] of onStandby) expect((await ann.request('GET', path)).status, path).toBe(200)
    expect(await asked()).not.toMatch(/ticks|recent_trades|ledger/)
    await standby.query('select pg_wal_replay_resume()')
    await vi.waitUntil(isUsed, PATIENCE)
  })
})
