/** The real HAProxy with the configuration of `ops/deploy/proxy`, in front of databases on this machine. */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { performance } from 'node:perf_hooks'
import pg from 'pg'
import { present } from '../../../actors/kernel/assert.ts'
import { freePort } from '../rig/ports.ts'
import type { Backend, Databases } from './databases.ts'

const CONFIGURATION = join(import.meta.dirname, '../../deploy/proxy/haproxy.cfg')
const PATIENCE_MS = 15_000
/** Connections in a row that must lead to the primary. */
const LOOKS = 20
const LOOK_MS = 100

export class Balancer {
  /** A database of the primary. */
  readonly url: string
  readonly #child: ChildProcess
  readonly #gone: Promise<unknown>

  private constructor(url: string, child: ChildProcess) {
    this.url = url
    this.#child = child
    this.#gone = once(child, 'exit')
  }

  /** Throws if HAProxy is not installed or does not start. `HAPROXY_BINARY` names it if it is not on the path. */
  static async start(folder: string, databases: Databases): Promise<Balancer> {
    const port = await freePort()
    const file = join(folder, 'haproxy.cfg')
    writeFileSync(file, localConfiguration(port, databases.backends))
    const program = process.env['HAPROXY_BINARY'] ?? 'haproxy'
    const child = spawn(program, ['-db', '-q', '-f', file], { stdio: ['ignore', 'ignore', 'inherit'] })
    await once(child, 'spawn')
    const balancer = new Balancer(databases.url(port), child)
    try {
      await balancer.#knowsPrimary()
    } catch (error) {
      await balancer.stop()
      throw error
    }
    return balancer
  }

  async stop(): Promise<void> {
    if (this.#child.exitCode !== null) return
    this.#child.kill('SIGKILL')
    await this.#gone
  }

  /** A new HAProxy sends to any server, until its first checks say which is the primary. */
  async #knowsPrimary(): Promise<void> {
    const until = performance.now() + PATIENCE_MS
    for (let inARow = 0; inARow < LOOKS;) {
      if (this.#child.exitCode !== null) throw new Error(`HAProxy ended with ${this.#child.exitCode}`)
      inARow = (await this.#isAtPrimary()) ? inARow + 1 : 0
      if (performance.now() > until) throw new Error('HAProxy does not lead to the primary')
      await pause(LOOK_MS)
    }
  }

  async #isAtPrimary(): Promise<boolean> {
    const client = new pg.Client({ connectionString: this.url, connectionTimeoutMillis: 1_000 })
    client.on('error', () => undefined)
    try {
      await client.connect()
      const { rows } = await client.query<{ standby: boolean }>('select pg_is_in_recovery() as standby')
      return rows[0]?.standby === false
    } catch {
      return false
    } finally {
      await client.end().catch(() => undefined)
    }
  }
}

/** The deployed configuration, with only addresses replaced. */
function localConfiguration(port: number, backends: readonly Backend[]): string {
  const text = readFileSync(CONFIGURATION, 'utf8')
  return text
    .replace('bind :5432', `bind 127.0.0.1:${port}`)
    .replaceAll(/server (patroni-(\d)) \S+ port \d+/g, (_, name: string, n: string) => {
      const backend = present(backends[Number(n) - 1], name)
      return `server ${name} 127.0.0.1:${backend.port} port ${backend.checkPort}`
    })
}
