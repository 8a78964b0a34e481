import { spawn } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Kysely, sql, type Transaction } from 'kysely'
import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest'
import { connect } from '../../db/postgres/connect.ts'
import { connectEmbedded } from '../../db/postgres/embedded.ts'
import { isAway } from '../../db/faults.ts'
import { migrate } from '../../db/postgres/migrate.ts'
import type { Database } from '../../db/postgres/schema.ts'
import { checkSession } from '../../db/postgres/session.ts'
import { lockFolder, lockFolderSoon } from '../../db/postgres/folder-lock.ts'
import { Relay } from '../../ops/rehearse/chaos/relay.ts'
import { createDatabase, eachDatabase, onPostgres } from '../support/databases.ts'

eachDatabase((open) => {
  it('gives bigint as an exact number, and refuses one that is not', async () => {
    const { db } = open()
    const { rows } = await sql`select 9007199254740991::bigint as max, -1::bigint as less, sum(x)::bigint as six
      from generate_series(1, 3) x`.execute(db)
    expect(rows).toEqual([{ max: Number.MAX_SAFE_INTEGER, less: -1, six: 6 }])
    await expect(sql`select 9007199254740993::bigint as x`.execute(db)).rejects.toThrow('not exact')
    const arrays = await sql`select array[1, null, 2]::bigint[] as some, '{}'::bigint[] as none`.execute(db)
    expect(arrays.rows).toEqual([{ some: [1, null, 2], none: [] }])
    await expect(sql`select array[9007199254740993::bigint] as x`.execute(db)).rejects.toThrow('not exact')
  })

  it('takes and gives instants to the millisecond', async () => {
    const at = new Date(1_787_000_000_123)
    const { rows } = await sql<{ at: Date }>`select ${at}::timestamptz as at`.execute(open().db)
    expect(rows[0]?.at).toEqual(at)
  })

  it('a wrong query does not count as an unavailable database', async () => {
    const wrong = ['select nonsense', 'select 1 / 0', 'selekt 1', 'insert into districts values (null, null)']
    for (const statement of wrong) {
      const error = await sql
        .raw(statement)
        .execute(open().db)
        .catch((e: unknown) => e)
      expect(error).toBeInstanceOf(Error)
      expect(isAway(error), statement).toBe(false)
    }
  })

  it('lets the event loop turn between queries', async () => {
    const { db } = open()
    const queries = Promise.all(Array.from({ length: 50 }, () => sql`select 1`.execute(db))).then(() => 'queries')
    const turn = new Promise((resolve) => {
      setImmediate(() => setImmediate(() => resolve('turn')))
    })
    expect(await Promise.race([queries, turn])).toBe('turn')
    await queries
  })
})

describe('the embedded database', () => {
  let folder = ''
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'touchline-'))
  })
  afterEach(() => rmSync(folder, { recursive: true }))

  it('keeps its rows from one start to the next, and its folder to itself', async () => {
    const first = await connect({ databaseUrl: null, dataDir: folder })
    await sql`create table kept (x integer)`.execute(first.db)
    await sql`insert into kept values (7)`.execute(first.db)
    await expect(connectEmbedded(folder)).rejects.toThrow(`in use by process ${process.pid}`)
    await first.close()

    const second = await connectEmbedded(folder)
    expect((await sql`select x from kept`.execute(second.db)).rows).toEqual([{ x: 7 }])
    await second.close()
  })

  it('waits for an owner that is on its way out', async () => {
    const neighbour = spawn(process.execPath, ['-e', 'process.stdin.resume()'], { stdio: ['pipe', 'ignore', 'ignore'] })
    writeFileSync(join(folder, 'pg.lock'), String(neighbour.pid))
    const locked = lockFolderSoon(folder)
    neighbour.kill('SIGKILL')
    ;(await locked).release()
  })

  it.runIf(process.platform === 'linux')('takes over the lock of an unreaped zombie process', async () => {
    // The shell becomes a program that never waits for the child it inherits.
    const parent = spawn('sh', ['-c', 'sleep 0.3 & echo $!; exec sleep 60'], { stdio: ['ignore', 'pipe', 'ignore'] })
    onTestFinished(() => void parent.kill('SIGKILL'))
    const pid = await new Promise<string>((resolve) =>
      parent.stdout.once('data', (data) => resolve(String(data).trim())),
    )
    writeFileSync(join(folder, 'pg.lock'), pid)
    await expect.poll(() => readFileSync(`/proc/${pid}/stat`, 'utf8')).toContain(') Z ')
    lockFolder(folder).release()
  })

  it('takes over the lock of a process that died, not of one that lives', async () => {
    const neighbour = spawn(process.execPath, ['-e', 'process.stdin.resume()'], { stdio: ['pipe', 'ignore', 'ignore'] })
    try {
      writeFileSync(join(folder, 'pg.lock'), String(neighbour.pid))
      expect(() => lockFolder(folder)).toThrow(`in use by process ${neighbour.pid}`)
    } finally {
      const died = new Promise((resolve) => neighbour.once('exit', resolve))
      neighbour.stdin?.end()
      await died
    }
    const lock = lockFolder(folder)
    expect(readFileSync(join(folder, 'pg.lock'), 'utf8')).toBe(String(process.pid))
    lock.release()
    lockFolder(folder).release()

    // In a container the predecessor often had the same pid.
    writeFileSync(join(folder, 'pg.lock'), String(process.pid))
    lockFolder(folder).release()
  })
})

/** The least call that there is. */
const PID = () => ({ name: 'pg_backend_pid', args: {} })

const isGone = async (db: Kysely<Database>, pid = 0): Promise<boolean> => {
  const { rows } = await sql`select from pg_stat_activity where pid = ${pid}`.execute(db)
  return rows.length === 0
}

onPostgres((server) => {
  it('runs work withoutTimeout that exceeds the statement timeout', async () => {
    const slow = {
      name: '9999-slow',
      up: async (db: Transaction<Database>) => void (await sql`select pg_sleep(3)`.execute(db)),
    }
    const url = await createDatabase(server)
    const connection = await connect({ databaseUrl: url, dataDir: null, statementTimeoutMs: 100 })
    onTestFinished(() => connection.close())
    await expect(sql`select pg_sleep(1)`.execute(connection.db)).rejects.toThrow('statement timeout')
    // Neither the server nor this side of the connection gives up.
    expect(await connection.withoutTimeout((db) => migrate(db, [slow], []))).toEqual(['9999-slow'])
    // The idle-in-transaction timeout still applies, so an interrupted caller does not keep its locks.
    const frozen = connection.withoutTimeout((db) =>
      db.transaction().execute(async (tx) => {
        const session = await sql<{ pid: number }>`select pg_backend_pid() as pid`.execute(tx)
        await vi.waitUntil(() => isGone(connection.db, session.rows[0]?.pid), { timeout: 60_000 })
        await sql`select 1`.execute(tx)
      }),
    )
    await expect(frozen).rejects.toThrow()
  })

  it('[D21] unusual settings of a database change nothing, or are refused in one line', async () => {
    const url = await createDatabase(server)
    const name = new URL(url).pathname.slice(1)
    const operator = await connect({ databaseUrl: server, dataDir: null })
    const unusual: readonly (readonly [string, string])[] = [
      ['datestyle', "'German, DMY'"],
      ['timezone', "'Asia/Kathmandu'"],
      ['intervalstyle', "'sql_standard'"],
      ['bytea_output', "'escape'"],
      ['default_transaction_isolation', "'serializable'"],
      ['standard_conforming_strings', 'off'],
    ]
    const set = (setting: string, to: string) =>
      sql.raw(`alter database ${name} set ${setting} to ${to}`).execute(operator.db)
    onTestFinished(() => operator.close())
    for (const [setting, to] of unusual) await set(setting, to)
    const ours = await connect({ databaseUrl: url, dataDir: null })
    await ours.withoutTimeout(checkSession)
    const at = new Date(1_787_000_000_123)
    const { rows } = await sql`select ${at}::timestamptz as at, '\\x01'::bytea as bytes,
      current_setting('transaction_isolation') as isolation`.execute(ours.db)
    expect(rows).toEqual([{ at, bytes: Buffer.from([1]), isolation: 'read committed' }])
    await ours.close()
    // A pooler sets nothing.
    const pooled = await connect({ databaseUrl: url, dataDir: null, isPrepared: false })
    await expect(checkSession(pooled.db)).rejects.toThrow(/datestyle is German, DMY, not ISO; [^\n]*$/)
    await pooled.close()
    await set('lc_time', "'C'")
    await set('search_path', 'elsewhere')
    const lost = await connect({ databaseUrl: url, dataDir: null })
    await expect(checkSession(lost.db)).rejects.toThrow('search_path is empty, not public')
    await lost.close()
  })

  it('survives broken connections, and soon has new ones', async () => {
    const url = await createDatabase(server)
    const ours = await connect({ databaseUrl: url, dataDir: null })
    const operator = await connect({ databaseUrl: server, dataDir: null })
    onTestFinished(() => ours.close())
    onTestFinished(() => operator.close())
    await ours.ping()
    await sql`select pg_terminate_backend(pid) from pg_stat_activity
      where datname = ${new URL(url).pathname.slice(1)}`.execute(operator.db)
    // A query or two may still use the broken connection and fail, until it is replaced.
    await vi.waitUntil(
      async () => {
        const error = await ours.ping().catch((e: unknown) => e)
        expect(error === undefined || isAway(error), String(error)).toBe(true)
        return error === undefined
      },
      { timeout: 60_000 },
    )
  })

  it('[Q20] cuts connections that are silent without being broken, makes others, and waits for slow queries', async () => {
    const url = await createDatabase(server)
    const relay = await Relay.to(url)
    const ours = await connect({ databaseUrl: relay.url, dataDir: null })
    onTestFinished(() => relay.close())
    onTestFinished(() => ours.close())
    await ours.ping()
    await ours.call(PID)
    let slowIsDone = false
    const slow = sql`select pg_sleep(1)`.execute(ours.db).then(() => (slowIsDone = true))
    // An idle one holds its connection between two queries: it waits for no answer.
    const idle = ours.db.transaction().execute(async (tx) => {
      await sql`select 1`.execute(tx)
      await vi.waitUntil(() => slowIsDone, { interval: 10, timeout: 10_000 })
      await sql`select 1`.execute(tx)
    })
    await vi.waitUntil(async () => (await ours.cutSilent()) > 0 || slowIsDone, { interval: 10, timeout: 10_000 })
    expect(slowIsDone).toBe(true)
    await Promise.all([slow, idle])

    relay.swallow()
    const lost = Promise.allSettled([
      ours.ping(),
      ours.call(PID),
      ours.db.transaction().execute((tx) => sql`select 1`.execute(tx)),
    ])
    let cut = 0
    await vi.waitUntil(async () => (cut += await ours.cutSilent()) >= 2, { interval: 10, timeout: 10_000 })
    await ours.ping()
    await ours.call(PID)
    for (const each of await lost) {
      if (each.status === 'rejected') expect(isAway(each.reason), String(each.reason)).toBe(true)
    }
    expect((await lost).filter(({ status }) => status === 'rejected').length).toBeGreaterThanOrEqual(2)
  })

  it('matches commit on few connections, and on new ones when those broke', async () => {
    const url = await createDatabase(server)
    const ours = await connect({ databaseUrl: url, dataDir: null })
    const pidOf = async () => {
      const [row] = await ours.call<{ pg_backend_pid: number }>(PID)
      return row?.pg_backend_pid
    }
    onTestFinished(() => ours.close())
    const pids = new Set(await Promise.all(Array.from({ length: 100 }, pidOf)))
    expect(pids.size).toBeLessThan(10)
    for (const pid of pids) await sql`select pg_terminate_backend(${pid}::integer)`.execute(ours.db)
    await expect.poll(async () => pids.has(await pidOf().catch(() => [...pids][0]))).toBe(false)
  })
})

it("an unavailable database is distinguished from a program error, also by an error's cause", async () => {
  const nowhere = await connect({ databaseUrl: 'postgres://user@127.0.0.1:1/missing', dataDir: null })
  const refused = await nowhere.ping().catch((error: unknown) => error)
  await nowhere.close()
  expect(isAway(refused)).toBe(true)
  expect(isAway(new Error('reading the wallet failed', { cause: refused }))).toBe(true)

  expect(isAway('ECONNREFUSED')).toBe(false)
})
