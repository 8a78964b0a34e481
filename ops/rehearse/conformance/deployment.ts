/** The suite's own deployments: the program as an operator starts it, with a private database and Redis. */
import { type ChildProcess, spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { PGlite } from '@electric-sql/pglite'
import pg from 'pg'
import { listen } from './listen.ts'
import type { Environment } from './trust.ts'

export const MODES = ['embedded', 'servers', 'cluster'] as const
export type Mode = (typeof MODES)[number]
export const isMode = (text: string | undefined): text is Mode => MODES.some((mode) => mode === text)

export interface Deployment {
  readonly description: string
  /** REST addresses; all are equivalent. */
  readonly urls: readonly string[]
  /** WebSocket addresses in the same order. */
  readonly wsUrls: readonly string[]
  readonly production: boolean
  readonly stores: Stores
  stop(): Promise<void>
}

/** What an operator can do to the data of a deployment. */
export interface Stores {
  /** What the program runs with. Without DATABASE_URL only one process at a time can use its data. */
  readonly environment: Environment
  /**
   * Stops every process, and starts them again at the same addresses when `work` is done. Nobody else may use the
   * deployment meanwhile.
   */
  whileStopped(work: (sql: (statement: string) => Promise<void>) => Promise<unknown>): Promise<void>
}

const MAIN = join(import.meta.dirname, '../../../src/main.ts')
/** Without it each start of the program compiles the same files again, which is half of its processor time. */
const COMPILED = join(import.meta.dirname, '../../../node_modules/.cache/touchline/compiled')
const START_MS = 120_000
const STOP_MS = 20_000
const LOOK_MS = 50

/** The roles of the processes: in the cluster every process has one, and two share each. */
const ROLES: Readonly<Record<Mode, readonly string[]>> = {
  embedded: ['api,rooms'],
  servers: ['api,rooms'],
  cluster: ['api', 'rooms', 'api', 'rooms'],
}

/** Starts what the mode names, and waits until all of it is ready. On servers it is in production mode. */
export async function startDeployment(mode: Mode, trusted: Environment): Promise<Deployment> {
  const folder = mkdtempSync(join(tmpdir(), 'touchline-conformance-'))
  const undo: (() => Promise<unknown>)[] = [async () => rmSync(folder, { recursive: true })]
  const stop = async (): Promise<void> => {
    for (const step of undo.splice(0).toReversed()) await step()
  }
  try {
    const settings: Record<string, string> = { ...trusted, DATA_DIR: folder, LOG_LEVEL: 'error' }
    if (mode !== 'embedded') {
      const database = await createDatabase()
      undo.push(database.drop)
      const redis = await startRedis(folder)
      undo.push(redis.stop)
      Object.assign(settings, { DATABASE_URL: database.url, REDIS_URL: redis.url })
    }
    const production = mode !== 'embedded'
    if (production)
      Object.assign(settings, { NODE_ENV: 'production', HOST: '127.0.0.1', COOKIE_DOMAIN: 'conformance.example' })
    const programs: Program[] = []
    for (const roles of ROLES[mode]) {
      const program = new Program({ ...settings, ROLES: roles }, await freePort(), await freePort())
      undo.push(() => program.stop())
      programs.push(program)
      await program.start() // one after the other: the first makes the schema
    }
    const whileStopped: Stores['whileStopped'] = async (work) => {
      await Promise.all(programs.map((program) => program.stop()))
      try {
        await work((statement) => onDatabase(settings, statement))
      } finally {
        for (const program of programs) await program.start()
      }
    }
    const serving = programs.filter(({ roles }) => roles.includes('api'))
    return {
      description: DESCRIPTIONS[mode],
      urls: serving.map(({ url }) => url),
      wsUrls: serving.map(({ wsUrl }) => wsUrl),
      production,
      stores: { environment: settings, whileStopped },
      stop,
    }
  } catch (error) {
    await stop()
    throw error
  }
}

export const DESCRIPTIONS: Readonly<Record<Mode, string>> = {
  embedded: 'one process with the embedded database',
  servers: 'one process in production on PostgreSQL and Redis',
  cluster: 'four processes in production on PostgreSQL and Redis, two for the API and two for the matches',
}

/** A process of the deployment, which can be stopped and started again. */
class Program {
  readonly roles: string
  readonly url: string
  readonly wsUrl: string
  readonly #environment: NodeJS.ProcessEnv
  #child: ChildProcess | null = null
  #said = ''

  constructor(settings: Environment, port: number, wsPort: number) {
    this.roles = settings['ROLES'] ?? ''
    this.url = `http://127.0.0.1:${port}`
    this.wsUrl = `ws://127.0.0.1:${wsPort}`
    const own = { PORT: String(port), WS_PORT: String(wsPort), PUBLIC_WS_URL: this.wsUrl }
    this.#environment = {
      PATH: process.env['PATH'],
      NODE_COMPILE_CACHE: COMPILED,
      ...settings,
      ...own,
    }
  }

  async start(): Promise<void> {
    const child = spawn(process.execPath, [MAIN], {
      cwd: tmpdir(),
      env: this.#environment,
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    this.#child = child
    for (const stream of [child.stdout, child.stderr]) {
      stream.on('data', (data) => (this.#said = (this.#said + String(data)).slice(-10_000)))
    }
    for (const until = Date.now() + START_MS; Date.now() < until; await pause(LOOK_MS)) {
      if (child.exitCode !== null) throw new Error(`the deployment ended: ${this.#said}`)
      if (await this.#isReady()) return
    }
    await this.stop()
    throw new Error(`the deployment was not ready in time: ${this.#said}`)
  }

  async stop(): Promise<void> {
    const child = this.#child
    if (child === null || child.exitCode !== null || child.signalCode !== null) return
    const gone = once(child, 'close')
    child.kill('SIGTERM')
    const late = setTimeout(() => child.kill('SIGKILL'), STOP_MS)
    await gone
    clearTimeout(late)
  }

  async #isReady(): Promise<boolean> {
    try {
      return (await fetch(`${this.url}/ready`, { signal: AbortSignal.timeout(2_000) })).ok
    } catch {
      return false
    }
  }
}

/** A statement on the database of a deployment that is stopped. */
async function onDatabase(settings: Environment, statement: string): Promise<void> {
  const url = settings['DATABASE_URL']
  if (url === undefined) {
    const embedded = await PGlite.create(join(settings['DATA_DIR'] ?? '', 'pg'))
    await embedded.exec(statement)
    await embedded.close()
    return
  }
  await onServer(url, statement)
}

async function onServer(url: string, statement: string): Promise<void> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    await client.query(statement)
  } finally {
    await client.end()
  }
}

/** A database on the server that DATABASE_URL or TEST_DATABASE_URL names. */
async function createDatabase(): Promise<{ readonly url: string; readonly drop: () => Promise<void> }> {
  const server = process.env['DATABASE_URL'] ?? process.env['TEST_DATABASE_URL']
  if (server === undefined)
    throw new Error('DATABASE_URL must name a PostgreSQL server on which a database can be made')
  const name = `touchline_conformance_${randomUUID().replaceAll('-', '')}`
  await onServer(server, `create database ${name}`)
  const url = new URL(server)
  url.pathname = `/${name}`
  return { url: url.href, drop: () => onServer(server, `drop database ${name} with (force)`) }
}

/** A private Redis: messages on a shared one reach every deployment there. */
async function startRedis(folder: string): Promise<{ readonly url: string; readonly stop: () => Promise<void> }> {
  const port = await freePort()
  const options = ['--port', String(port), '--bind', '127.0.0.1', '--save', '', '--dir', folder]
  const child = spawn('redis-server', options, { stdio: 'ignore' })
  await once(child, 'spawn')
  const stop = async (): Promise<void> => {
    const gone = once(child, 'close')
    child.kill('SIGKILL')
    await gone
  }
  return { url: `redis://127.0.0.1:${port}`, stop }
}

/** A free port. */
async function freePort(): Promise<number> {
  const server = createServer()
  const port = await listen(server, 0)
  server.close()
  await once(server, 'close')
  return port
}
