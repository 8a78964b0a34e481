/** Reads from a real standby: while it is fresh, and never otherwise. */
import { setInterval as every, setTimeout as pause } from 'node:timers/promises'
import { type Kysely, sql } from 'kysely'
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest'
import { present } from '../../actors/kernel/assert.ts'
import { connect } from '../../db/postgres/connect.ts'
import type { Connection } from '../../db/postgres/connection.ts'
import { STALE_MS } from '../../db/postgres/replica.ts'
import type { Database } from '../../db/postgres/schema.ts'
import { checkReplica } from '../../ops/tools/preflight/stores.ts'
import { readConfig } from '../../src/config.ts'
import { monotonicMs } from '../../src/system-world.ts'
import { Relay } from '../../ops/rehearse/chaos/relay.ts'
import { onPostgres } from '../support/databases.ts'
import { type Pair, startPair } from '../support/standby.ts'

const PATIENCE = { timeout: 20_000, interval: 50 }
/** As often as a server looks (src/compose/tasks.ts). */
const LOOK_MS = 1_039
/** A look that finds the standby silent: its period, the two seconds it waits, and a reserve for a busy machine. */
const SILENT_MS = LOOK_MS + 2_000 + 2_000

onPostgres(() =>
  describe('with a standby', () => {
    let pair: Pair
    const cleanUp: (() => Promise<unknown>)[] = []
    beforeAll(async () => {
      pair = present(await startPair(), 'a PostgreSQL that can be run')
      const connection = await connect({ databaseUrl: pair.primary.url, dataDir: null })
      await sql`create table written (at double precision)`.execute(connection.db)
      await connection.close()
    })
    afterAll(() => pair.remove())
    afterEach(async () => {
      for (const clean of cleanUp.splice(0).toReversed()) await clean()
    })

    /** A connection that looks at the standby as often as a server does. */
    async function reading(url = pair.standby.url): Promise<Connection> {
      const replica = { url, monotonicMs }
      const connection = await connect({ databaseUrl: pair.primary.url, replica, dataDir: null })
      cleanUp.push(() => connection.close())
      await connection.replica?.look()
      const over = new AbortController()
      const look = async () => {
        for await (const _ of every(LOOK_MS, null, { signal: over.signal })) await connection.replica?.look()
      }
      const looking = look().catch(() => undefined) // it was aborted
      cleanUp.push(async () => {
        over.abort()
        await looking
      })
      return connection
    }
    const stateOf = ({ replica }: Connection) => present(replica, 'a replica').state
    const isStandby = async (db: Kysely<Database>): Promise<boolean | undefined> =>
      (await sql<{ it: boolean }>`select pg_is_in_recovery() as it`.execute(db)).rows[0]?.it
    const onStandby = async (statement: string): Promise<void> => {
      const standby = await connect({ databaseUrl: pair.standby.url, dataDir: null })
      await sql.raw(statement).execute(standby.db)
      await standby.close()
    }
    async function pauseReplay(): Promise<void> {
      cleanUp.push(() => onStandby('select pg_wal_replay_resume()'))
      await onStandby('select pg_wal_replay_pause()')
    }
    /** Writes the time on the primary, over and over. */
    function writing({ db }: Connection): void {
      let isOver = false
      const write = async () => {
        while (!isOver) {
          await sql`insert into written values (${performance.now()}::double precision)`.execute(db)
          await pause(20)
        }
      }
      const written = write()
      cleanUp.push(async () => {
        isOver = true
        await written
      })
    }
    const newest = async (db: Kysely<Database>): Promise<number> =>
      (await sql<{ at: number }>`select coalesce(max(at), 0) as at from written`.execute(db)).rows[0]?.at ?? 0

    it('a server that takes no writes is not ready, though it answers', async () => {
      const standby = await connect({ databaseUrl: pair.standby.url, dataDir: null })
      cleanUp.push(() => standby.close())
      await expect(standby.ping()).rejects.toThrow('takes no writes')
    })

    it('[D16] reads go to it, writes and all other reads do not', async () => {
      const connection = await reading()
      await vi.waitUntil(() => stateOf(connection).isInUse, PATIENCE)
      expect(await isStandby(connection.reads)).toBe(true)
      expect(await isStandby(connection.db)).toBe(false)
      await expect(sql`insert into written values (0)`.execute(connection.reads)).rejects.toThrow('read-only')
      expect(stateOf(connection)).toMatchObject({ why: null, lagMs: expect.any(Number) })
    })

    it('[D16] replay is paused: no read is older than five seconds, and reads are back on it when it resumes', async () => {
      const connection = await reading()
      writing(connection)
      await vi.waitUntil(async () => stateOf(connection).isInUse && (await newest(connection.reads)) > 0, PATIENCE)
      await pauseReplay()
      const paused = performance.now()
      let [oldest, reads] = [0, 0]
      while (stateOf(connection).isInUse) {
        const asked = performance.now()
        oldest = Math.max(oldest, asked - (await newest(connection.reads)))
        reads++
        await pause(10)
      }
      const left = performance.now() - paused
      expect(reads).toBeGreaterThan(50)
      expect(left).toBeGreaterThan(STALE_MS / 2)
      expect(left).toBeLessThan(STALE_MS + 1_000)
      // A write is missing for as long as it takes to be committed, and the next one is 20 ms later.
      expect(oldest).toBeLessThan(STALE_MS + 1_000)
      expect(stateOf(connection)).toMatchObject({ isInUse: false, why: expect.stringContaining('behind') })
      expect(await isStandby(connection.reads)).toBe(false)
      expect(performance.now() - (await newest(connection.reads))).toBeLessThan(1_000)
      await onStandby('select pg_wal_replay_resume()')
      await vi.waitUntil(() => stateOf(connection).isInUse, PATIENCE)
      expect(await isStandby(connection.reads)).toBe(true)
    })

    it('[D16] it dies under reads: none fails; it is used again when it is back', async () => {
      const connection = await reading()
      await vi.waitUntil(() => stateOf(connection).isInUse, PATIENCE)
      let isOver = false
      const asked = Array.from({ length: 8 }, () => 0)
      const readers = asked.map(async (_, n) => {
        while (!isOver) {
          // Under way when the server ends.
          await sql`select pg_sleep(0.05)`.execute(connection.reads)
          asked[n] = (asked[n] ?? 0) + 1
        }
      })
      const untilAllAskedAgain = () => {
        const before = [...asked]
        return vi.waitUntil(() => asked.every((times, n) => times >= (before[n] ?? 0) + 3), PATIENCE)
      }
      await untilAllAskedAgain()
      const killed = performance.now()
      await pair.standby.stop('immediate')
      await vi.waitUntil(() => !stateOf(connection).isInUse, PATIENCE)
      expect(performance.now() - killed).toBeLessThan(SILENT_MS)
      await untilAllAskedAgain()
      isOver = true
      await Promise.all(readers)
      expect(await isStandby(connection.reads)).toBe(false)
      await pair.standby.restart('fast')
      await vi.waitUntil(() => stateOf(connection).isInUse, PATIENCE)
      expect(await isStandby(connection.reads)).toBe(true)
    })

    it('[D16] it falls silent under reads: they are answered by the primary within seconds', async () => {
      const relay = await Relay.to(pair.standby.url)
      cleanUp.push(() => relay.close())
      const connection = await reading(relay.url)
      await vi.waitUntil(() => stateOf(connection).isInUse, PATIENCE)
      // Under way on connections that are open.
      const sleeping = Array.from({ length: 8 }, () => sql`select pg_sleep(0.1)`.execute(connection.reads))
      await pause(50)
      relay.silence()
      const silent = performance.now()
      const answers = await Promise.all(Array.from({ length: 8 }, () => isStandby(connection.reads)))
      expect(new Set(answers)).toEqual(new Set([false]))
      await Promise.all(sleeping)
      await vi.waitUntil(() => !stateOf(connection).isInUse, PATIENCE)
      expect(performance.now() - silent).toBeLessThan(SILENT_MS)
      relay.mend()
      await vi.waitUntil(() => stateOf(connection).isInUse, PATIENCE)
      expect(await isStandby(connection.reads)).toBe(true)
    })

    it('[D16] what the standby has not replayed yet is read from the primary', async () => {
      const connection = await reading()
      await vi.waitUntil(() => stateOf(connection).isInUse, PATIENCE)
      await pauseReplay()
      await sql`create table fresh as select 7 as x`.execute(connection.db)
      expect((await sql`select x from fresh`.execute(connection.reads)).rows).toEqual([{ x: 7 }])
      expect(stateOf(connection).isInUse).toBe(true)
    })

    it('preflight says whether it would be read', async () => {
      const found = (replica: string) =>
        checkReplica(readConfig({ DATABASE_URL: pair.primary.url, DATABASE_REPLICA_URL: replica }))
      expect(await checkReplica(readConfig({ DATABASE_URL: pair.primary.url }))).toEqual([])
      expect(await found(pair.standby.url)).toMatchObject([
        { what: 'replica', verdict: 'warned', says: expect.stringMatching(/ms behind.*hot_standby_feedback = on/) },
      ])
      expect(await found(pair.primary.url)).toMatchObject([
        { verdict: 'failed', says: expect.stringContaining('not in recovery') },
      ])
    })

    it('[D16] a server that is no standby of this primary is never read', async () => {
      const own = await reading(pair.primary.url)
      expect(stateOf(own)).toEqual({ isInUse: false, lagMs: null, why: 'it is not in recovery' })
      const other = new URL(pair.standby.url)
      other.pathname = '/template1'
      expect(stateOf(await reading(other.href))).toMatchObject({ isInUse: false, why: 'it is another database' })
      const stranger = present(await startPair(), 'another pair')
      cleanUp.push(() => stranger.remove())
      // Until both have written as much, either of them is caught by its system as well.
      const state = stateOf(await reading(stranger.standby.url))
      expect(state).toMatchObject({ isInUse: false, why: 'it is another system' })
      const nowhere = await reading('postgres://postgres@127.0.0.1:1/postgres')
      expect(stateOf(nowhere)).toMatchObject({ isInUse: false, why: expect.stringContaining('ECONNREFUSED') })
      expect(await isStandby(nowhere.reads)).toBe(false)
      // Promoted, it has a history of its own.
      const connection = await reading()
      await vi.waitUntil(() => stateOf(connection).isInUse, PATIENCE)
      await onStandby('select pg_promote()')
      await vi.waitUntil(() => !stateOf(connection).isInUse, PATIENCE)
      expect(stateOf(connection).why).toBe('it is not in recovery')
      expect(await isStandby(connection.reads)).toBe(false)
    })
  }),
)
