/** Private PostgreSQL servers, which can be killed, promoted and restored without affecting others. */
import { type ChildProcess, execFile, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, chownSync, closeSync, existsSync, mkdirSync, openSync, readdirSync, writeFileSync } from 'node:fs'
import { delimiter, dirname, join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { promisify } from 'node:util'
import pg from 'pg'
import { present } from '../../../actors/kernel/assert.ts'
import { freePort } from './ports.ts'
import type { Settings } from './program.ts'

/** Where Debian keeps each version's programs, which are not on the path. */
const DEBIAN = '/usr/lib/postgresql'
const START_MS = 60_000
const ANSWER_MS = 2_000
const OUTPUT_MAX = 16 * 1024 * 1024

const COMMON: Settings = {
  listen_addresses: '127.0.0.1',
  unix_socket_directories: '',
  max_connections: '200',
}

const execute = promisify(execFile)

/** The user a server runs as. */
interface Runner {
  readonly uid?: number
  readonly gid?: number
}

/** PostgreSQL's programs on this machine, and a user to run them, because the server refuses root. */
export class PostgresPrograms {
  /** The folder that they are in. */
  readonly bin: string
  readonly #runner: Runner
  readonly #env: Settings

  private constructor(bin: string, runner: Runner, env: Settings) {
    this.bin = bin
    this.#runner = runner
    this.#env = env
  }

  /** Null if no server can be run on this machine. The servers' environment has these variables too. */
  static find(env: Settings = {}): PostgresPrograms | null {
    const bin = folderOfPrograms()
    const runner = ordinaryUser()
    return bin === null || runner === null ? null : new PostgresPrograms(bin, runner, env)
  }

  /** Makes an empty folder that only the servers' user can read. */
  makeFolder(folder: string): void {
    mkdirSync(folder, { mode: 0o700 })
    const { uid, gid } = this.#runner
    if (uid === undefined || gid === undefined) return
    chownSync(folder, uid, gid)
    chmodSync(dirname(folder), 0o711) // the servers' user must be able to enter it
  }

  /** A new cluster, which trusts everybody on this machine. Its pages have checksums: `pg_rewind` needs them. */
  async initialise(data: string): Promise<void> {
    this.makeFolder(data)
    const how = ['-U', 'postgres', '-A', 'trust', '-E', 'UTF8', '--data-checksums', '--no-instructions']
    await this.run('initdb', ['-D', data, ...how])
  }

  /** Runs a program of PostgreSQL, or another, to its end. Rejects with what it complained about if it fails. */
  async run(program: string, args: readonly string[], env: Settings = {}): Promise<string> {
    const file = existsSync(join(this.bin, program)) ? join(this.bin, program) : program
    const options = { ...this.#runner, cwd: '/', env: { ...this.#environment, ...env }, maxBuffer: OUTPUT_MAX }
    return (await execute(file, args, options)).stdout
  }

  /** Starts the server, or another program that runs servers. What it prints goes to the file `log`. */
  async serve(program: string, args: readonly string[], env: Settings = {}, log?: string): Promise<ChildProcess> {
    const output = log === undefined ? 'ignore' : openSync(log, 'a')
    const options = { ...this.#runner, cwd: '/', env: { ...this.#environment, ...env } }
    const child = spawn(program, args, { ...options, stdio: ['ignore', output, output] })
    if (output !== 'ignore') closeSync(output)
    await once(child, 'spawn')
    return child
  }

  get #environment(): NodeJS.ProcessEnv {
    const path = [this.bin, present(process.env['PATH'], 'PATH')].join(delimiter)
    return { ...process.env, ...this.#env, PATH: path }
  }
}

export class OwnPostgres {
  readonly url: string
  readonly port: number
  readonly data: string
  readonly #programs: PostgresPrograms
  #settings: Settings
  #child: ChildProcess | null = null

  /** A server over a folder that `initialise` or a backup has made. It does not run yet. */
  constructor(programs: PostgresPrograms, data: string, port: number, settings: Settings = {}) {
    this.#programs = programs
    this.data = data
    this.port = port
    this.url = `postgres://postgres@127.0.0.1:${port}/postgres`
    this.#settings = { ...COMMON, ...settings }
  }

  /** A new server with its files in this folder; null if none can be run on this machine. */
  static async start(folder: string): Promise<OwnPostgres | null> {
    const found = PostgresPrograms.find()
    if (found === null) return null
    const data = join(folder, 'postgres')
    await found.initialise(data)
    const postgres = new OwnPostgres(found, data, await freePort())
    await postgres.run()
    return postgres
  }

  /** A streaming standby of this server, with its files in this folder. */
  async standby(folder: string): Promise<OwnPostgres> {
    const data = join(folder, 'standby')
    this.#programs.makeFolder(data)
    const how = ['-d', this.url, '--write-recovery-conf', '--wal-method=stream', '--checkpoint=fast']
    await this.#programs.run('pg_basebackup', ['-D', data, ...how])
    const standby = new OwnPostgres(this.#programs, data, await freePort())
    await standby.run()
    return standby
  }

  /** Starts it, and waits until it answers. Rejects if it ends before. */
  async run(): Promise<void> {
    this.#write()
    const args = ['-D', this.data, '-p', String(this.port), '-c', `config_file=${this.file}`]
    const child = await this.#programs.serve(join(this.#programs.bin, 'postgres'), args)
    this.#child = child
    const until = performance.now() + START_MS
    while (!(await this.#answers())) {
      if (child.exitCode !== null || performance.now() > until) throw new Error('PostgreSQL did not start')
      await pause(50)
    }
  }

  /** `immediate` acts like a power failure: it recovers from its log. `fast` closes every connection in good order. */
  async restart(how: 'immediate' | 'fast'): Promise<void> {
    await this.stop(how)
    await this.run()
  }

  async stop(how: 'immediate' | 'fast' = 'immediate'): Promise<void> {
    const child = this.#child
    this.#child = null
    if (child === null || child.exitCode !== null) return
    const exit = once(child, 'exit')
    child.kill(how === 'immediate' ? 'SIGQUIT' : 'SIGINT')
    await exit
  }

  /** `kill -9` of the server and of each process it has started, all at once, as when its machine dies. */
  async kill(): Promise<void> {
    const child = present(this.#child, 'running server')
    this.#child = null
    const exit = once(child, 'exit')
    killServer(present(child.pid, 'process id'))
    await exit
  }

  /** Changes settings that need no restart; a server that runs reads them at once. */
  configure(changes: Settings): void {
    this.#settings = { ...this.#settings, ...changes }
    this.#write()
    this.#child?.kill('SIGHUP')
  }

  /** The rows of one statement, on a connection of its own. */
  async query<Row extends object>(text: string): Promise<Row[]> {
    const client = new pg.Client({
      connectionString: this.url,
      connectionTimeoutMillis: ANSWER_MS,
      query_timeout: START_MS,
    })
    client.on('error', () => undefined)
    try {
      await client.connect()
      return (await client.query<Row>(text)).rows
    } finally {
      await client.end().catch(() => undefined)
    }
  }

  /** The file with its settings. */
  get file(): string {
    return `${this.data}.conf`
  }

  #write(): void {
    const lines = Object.entries(this.#settings).map(([name, value]) => `${name} = '${value.replaceAll("'", "''")}'\n`)
    writeFileSync(this.file, lines.join(''))
  }

  #answers(): Promise<boolean> {
    return this.query('select 1').then(
      () => true,
      () => false,
    )
  }
}

/** `kill -9` of a server with this process id and of each process it has started, all at once. */
export function killServer(pid: number): void {
  signalIfThere(pid, 'SIGSTOP') // it starts no more of them
  for (const each of [pid, ...childrenOf(pid)]) signalIfThere(each, 'SIGKILL')
}

/** The processes that this one has started. */
export function childrenOf(parent: number): number[] {
  const lines = execFileSync('ps', ['-A', '-o', 'pid=,ppid='], { encoding: 'utf8' }).trim().split('\n')
  const pairs = lines.map((line) => line.trim().split(/\s+/).map(Number))
  return pairs.flatMap(([pid = 0, ppid]) => (ppid === parent ? [pid] : []))
}

export function signalIfThere(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal)
  } catch {
    // it has ended by itself
  }
}

/** The folder with a server's programs, the newest of several. */
function folderOfPrograms(): string | null {
  const versions = existsSync(DEBIAN) ? readdirSync(DEBIAN).toSorted((a, b) => Number(b) - Number(a)) : []
  const folders = [
    ...versions.map((version) => join(DEBIAN, version, 'bin')),
    ...present(process.env['PATH'], 'PATH').split(delimiter),
  ]
  return folders.find((folder) => ['initdb', 'postgres'].every((name) => existsSync(join(folder, name)))) ?? null
}

/** The user to run PostgreSQL as, which refuses root; null if there is none. */
function ordinaryUser(): Runner | null {
  if (process.getuid?.() !== 0) return {}
  for (const name of ['postgres', 'nobody']) {
    try {
      const id = (what: string): number =>
        Number(execFileSync('id', [what, name], { stdio: ['ignore', 'pipe', 'ignore'] }))
      return { uid: id('-u'), gid: id('-g') }
    } catch {
      continue
    }
  }
  return null
}
