/** A PgBouncer of one test, in transaction mode, in front of the PostgreSQL of the tests. */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import { vi } from 'vitest'
import { freePort } from '../../ops/rehearse/rig/ports.ts'

/** `TEST_PGBOUNCER` names another program, of another version. */
const PROGRAM = process.env['TEST_PGBOUNCER'] ?? '/usr/sbin/pgbouncer'
/** True if it is installed, and always in CI, where a missing one fails the tests. */
export const hasPgBouncer = existsSync(PROGRAM) || process.env['CI'] === 'true'

/** Whether it passes prepared statements on, as from 1.21. */
export function keepsPrepared(): boolean {
  const version = /^PgBouncer (\d+)\.(\d+)/.exec(execFileSync(PROGRAM, ['--version'], { encoding: 'utf8' }))
  const [major, minor] = [Number(version?.[1]), Number(version?.[2])]
  return major > 1 || minor >= 21
}

/** What a pooler needs to be told when `DATABASE_PREPARED` is on. */
const forPrepared = (): readonly string[] => [
  ...(keepsPrepared() ? ['max_prepared_statements = 200'] : []),
  'ignore_startup_parameters = options,statement_timeout,idle_in_transaction_session_timeout',
]

export interface PgBouncer {
  /** The database behind it. */
  readonly url: string
  stop(): Promise<void>
}

/** Few connections to the server, so that clients have to share them. */
const SERVER_CONNECTIONS = 6

export async function startPgBouncer(database: string, prepared: 'on' | 'off'): Promise<PgBouncer> {
  const { hostname, port, username, password, pathname } = new URL(database)
  const folder = await mkdtemp(join(tmpdir(), 'touchline-pgbouncer-'))
  const ownPort = await freePort()
  const name = pathname.slice(1)
  const secret = password === '' ? '' : ` password=${decodeURIComponent(password)}`
  const settings = join(folder, 'pgbouncer.ini')
  await writeFile(
    settings,
    [
      '[databases]',
      `${name} = host=${hostname} port=${port === '' ? 5432 : port} user=${username}${secret}`,
      '[pgbouncer]',
      `listen_addr = 127.0.0.1`,
      `listen_port = ${ownPort}`,
      'unix_socket_dir =',
      'auth_type = any',
      'pool_mode = transaction',
      `default_pool_size = ${SERVER_CONNECTIONS}`,
      ...(prepared === 'on' ? forPrepared() : []),
      '',
    ].join('\n'),
  )
  await chmod(folder, 0o755)
  // It refuses to run as root.
  const asNobody = process.getuid?.() === 0 ? ['-u', 'nobody'] : []
  const child: ChildProcess = spawn(PROGRAM, [...asNobody, settings], { stdio: 'ignore' })
  const url = `postgres://any@127.0.0.1:${ownPort}/${name}`
  await vi.waitUntil(() => answers(url), { timeout: 20_000, interval: 100 })
  return {
    url,
    async stop() {
      const ended = once(child, 'exit')
      child.kill('SIGKILL')
      await ended
      await rm(folder, { recursive: true })
    },
  }
}

async function answers(url: string): Promise<boolean> {
  const client = new pg.Client({ connectionString: url })
  try {
    await client.connect()
    await client.query('select 1')
    return true
  } catch {
    return false
  } finally {
    await client.end().catch(() => undefined)
  }
}
