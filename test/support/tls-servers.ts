/** PostgreSQL and Redis of one test, which speak TLS alone, with certificates of an authority of their own. */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmod, chown, copyFile, mkdtemp, rm, stat, writeFile } from 'node:fs/promises'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { vi } from 'vitest'
import { present } from '../../actors/kernel/assert.ts'
import { freePort } from '../../ops/rehearse/rig/ports.ts'
import { OwnPostgres, PostgresPrograms } from '../../ops/rehearse/rig/postgres.ts'
import { hasTool } from './tool.ts'

/** True if all programs are installed, and always in CI, where a missing one fails the tests. */
export const hasTlsServers =
  process.env['CI'] === 'true' || (PostgresPrograms.find() !== null && ['openssl', 'redis-server'].every(hasTool))

const PASSWORD = 'p@ss/word'
const EC_KEY = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes']

export class TlsServers {
  /** The certificate of the authority, which no machine knows. */
  readonly authority: string
  /** Their addresses by a name that their certificate has, with the passwords that they demand. */
  readonly databaseUrl: string
  readonly redisUrl: string
  readonly #folder: string
  readonly #postgres: OwnPostgres
  readonly #redis: ChildProcess

  private constructor(folder: string, postgres: OwnPostgres, redis: ChildProcess, redisPort: number) {
    const secret = encodeURIComponent(PASSWORD)
    this.authority = join(folder, 'authority.pem')
    this.databaseUrl = `postgres://postgres@localhost:${postgres.port}/postgres?sslmode=verify-full`
    this.redisUrl = `rediss://:${secret}@localhost:${redisPort}`
    this.#folder = folder
    this.#postgres = postgres
    this.#redis = redis
  }

  static async start(): Promise<TlsServers> {
    const folder = await mkdtemp(join(tmpdir(), 'touchline-tls-'))
    await certify(folder)
    const file = (name: string): string => join(folder, name)
    const port = await freePort()
    const redis = await runRedis(folder, port, [file('server.pem'), file('server.key')])
    const postgres = await startPostgres(folder)
    await vi.waitUntil(() => accepts(port), { timeout: 20_000, interval: 50 })
    return new TlsServers(folder, postgres, redis, port)
  }

  async stop(): Promise<void> {
    const ended = once(this.#redis, 'exit')
    this.#redis.kill('SIGKILL')
    await ended
    await this.#postgres.stop()
    await rm(this.#folder, { recursive: true })
  }
}

/** An authority, and a certificate of it for `localhost`. */
async function certify(folder: string): Promise<void> {
  const openssl = (...args: readonly string[]) => execFileSync('openssl', args, { cwd: folder, stdio: 'ignore' })
  await writeFile(join(folder, 'names'), 'subjectAltName=DNS:localhost\n')
  openssl(
    'req',
    '-x509',
    ...EC_KEY,
    '-days',
    '2',
    '-subj',
    '/CN=Test',
    '-keyout',
    'authority.key',
    '-out',
    'authority.pem',
  )
  openssl('req', ...EC_KEY, '-subj', '/CN=localhost', '-keyout', 'server.key', '-out', 'request')
  const authority = ['-CA', 'authority.pem', '-CAkey', 'authority.key', '-CAcreateserial']
  openssl('x509', '-req', '-in', 'request', ...authority, '-days', '2', '-extfile', 'names', '-out', 'server.pem')
}

/** It takes no connection without TLS. */
async function startPostgres(folder: string): Promise<OwnPostgres> {
  const programs = present(PostgresPrograms.find(), "PostgreSQL's programs")
  const data = join(folder, 'postgres')
  await programs.initialise(data)
  const { uid, gid } = await stat(data)
  for (const [from, to] of [
    ['server.pem', 'server.crt'],
    ['server.key', 'server.key'],
  ] as const) {
    await copyFile(join(folder, from), join(data, to))
    await chmod(join(data, to), 0o600)
    await chown(join(data, to), uid, gid)
  }
  const postgres = new OwnPostgres(programs, data, await freePort(), { ssl: 'on' })
  await postgres.run()
  await writeFile(join(data, 'pg_hba.conf'), 'hostssl all all 127.0.0.1/32 trust\n')
  postgres.configure({})
  return postgres
}

type Certificate = readonly [certificate: string, key: string]

async function runRedis(folder: string, port: number, [certificate, key]: Certificate): Promise<ChildProcess> {
  const place = ['--port', '0', '--tls-port', String(port), '--bind', '127.0.0.1', '--save', '', '--dir', folder]
  const authority = ['--tls-ca-cert-file', join(folder, 'authority.pem'), '--tls-auth-clients', 'no']
  const keys = ['--tls-cert-file', certificate, '--tls-key-file', key, '--requirepass', PASSWORD]
  const redis = spawn('redis-server', [...place, ...authority, ...keys], { stdio: 'ignore' })
  await once(redis, 'spawn')
  return redis
}

const accepts = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1')
    socket.once('connect', () => resolve(true)).once('error', () => resolve(false))
    socket.once('connect', () => socket.destroy())
  })
