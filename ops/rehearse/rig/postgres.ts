/** A private PostgreSQL server, which can be restarted under load without affecting others. */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, chownSync, existsSync, mkdirSync, readdirSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import pg from 'pg'
import { present } from '../../../actors/kernel/assert.ts'
import { freePort } from './free-port.ts'

/** Where Debian keeps each version's programs, which are not on the path. */
const DEBIAN = '/usr/lib/postgresql'
const START_MS = 60_000

/** The user a server runs as. */
interface Runner {
  readonly uid?: number
  readonly gid?: number
}

export class OwnPostgres {
  readonly url: string
  readonly #bin: string
  readonly #data: string
  readonly #runner: Runner
  readonly #port: number
  #child: ChildProcess | null = null

  private constructor(bin: string, data: string, runner: Runner, port: number) {
    this.#bin = bin
    this.#data = data
    this.#runner = runner
    this.#port = port
    this.url = `postgres://postgres@127.0.0.1:${port}/postgres`
  }

  /** A new server with its files in this folder; null if none can be run on this machine. */
  static async start(folder: string): Promise<OwnPostgres | null> {
    const bin = programs()
    const runner = ordinaryUser()
    if (bin === null || runner === null) return null
    const data = join(folder, 'postgres')
    mkdirSync(data)
    if (runner.uid !== undefined && runner.gid !== undefined) {
      chownSync(data, runner.uid, runner.gid)
      chmodSync(folder, 0o711) // the server's user must be able to enter it
    }
    const options = ['-D', data, '-U', 'postgres', '-A', 'trust', '-E', 'UTF8', '--no-instructions']
    execFileSync(join(bin, 'initdb'), options, { ...runner, cwd: '/', stdio: 'ignore' })
    const postgres = new OwnPostgres(bin, data, runner, await freePort())
    await postgres.#run()
    return postgres
  }

  /** `immediate` acts like a power failure: it recovers from its log. `fast` closes every connection in good order. */
  async restart(how: 'immediate' | 'fast'): Promise<void> {
    await this.stop(how)
    await this.#run()
  }

  async stop(how: 'immediate' | 'fast' = 'immediate'): Promise<void> {
    const child = this.#child
    this.#child = null
    if (child === null) return
    const exit = once(child, 'exit')
    child.kill(how === 'immediate' ? 'SIGQUIT' : 'SIGINT')
    await exit
  }

  async #run(): Promise<void> {
    const settings = ['listen_addresses=127.0.0.1', 'unix_socket_directories=', 'max_connections=200']
    const options = ['-D', this.#data, '-p', String(this.#port), ...settings.flatMap((one) => ['-c', one])]
    const child = spawn(join(this.#bin, 'postgres'), options, { ...this.#runner, cwd: '/', stdio: 'ignore' })
    await once(child, 'spawn')
    this.#child = child
    const until = performance.now() + START_MS
    while (!(await this.#answers())) {
      if (child.exitCode !== null || performance.now() > until) throw new Error('PostgreSQL did not start')
      await pause(50)
    }
  }

  async #answers(): Promise<boolean> {
    const client = new pg.Client({ connectionString: this.url })
    client.on('error', () => undefined)
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
}

/** The folder with a server's programs, the newest of several. */
function programs(): string | null {
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
