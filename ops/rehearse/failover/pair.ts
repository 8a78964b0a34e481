/** Two PostgreSQL servers, a primary and its standby, which the rehearsal itself promotes and rewinds. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { performance } from 'node:perf_hooks'
import { present } from '../../../actors/kernel/assert.ts'
import { freePort } from '../rig/ports.ts'
import { OwnPostgres, type PostgresPrograms } from '../rig/postgres.ts'
import type { Settings } from '../rig/program.ts'
import type { Backend, Databases, Death } from './databases.ts'
import { RoleCheck } from './role-check.ts'

/** The log is kept for a standby that comes back. */
const SETTINGS: Settings = { wal_keep_size: '1GB', synchronous_standby_names: '' }
const PATIENCE_MS = 60_000
const LOOK_MS = 50
/** How long an asynchronous standby hears nothing before the kill. */
const DEAF_MS = 500
const DEATH: Death = { what: 'killed with all of its processes', silenceMaxMs: 10_000 }

interface Node {
  readonly name: string
  readonly postgres: OwnPostgres
  readonly check: RoleCheck
}

export interface PairOptions {
  readonly isSynchronous: boolean
  /** From the kill to the promotion. */
  readonly detectMs: number
}

export class Pair implements Databases {
  readonly backends: readonly Backend[]
  readonly #programs: PostgresPrograms
  readonly #options: PairOptions
  #primary: Node
  #standby: Node

  private constructor(programs: PostgresPrograms, options: PairOptions, primary: Node, standby: Node) {
    this.backends = [primary, standby].map(({ postgres, check }) => ({ port: postgres.port, checkPort: check.port }))
    this.#programs = programs
    this.#options = options
    this.#primary = primary
    this.#standby = standby
  }

  /** A primary, and a standby from a base backup of it. Their data is in this folder. */
  static async start(programs: PostgresPrograms, folder: string, options: PairOptions): Promise<Pair> {
    const node = async (name: string): Promise<Node> => {
      const postgres = new OwnPostgres(programs, join(folder, name), await freePort(), SETTINGS)
      return { name, postgres, check: await RoleCheck.of(postgres) }
    }
    const [primary, standby] = [await node('patroni_1'), await node('patroni_2')]
    const pair = new Pair(programs, options, primary, standby)
    try {
      await programs.initialise(primary.postgres.data)
      await primary.postgres.run()
      programs.makeFolder(standby.postgres.data)
      const from = ['-h', '127.0.0.1', '-p', String(primary.postgres.port), '-U', 'postgres']
      await programs.run('pg_basebackup', [...from, '-D', standby.postgres.data, '-X', 'stream', '-c', 'fast'])
      await pair.#follow()
      return pair
    } catch (error) {
      await pair.stop()
      throw error
    }
  }

  url(port: number): string {
    return `postgres://postgres@127.0.0.1:${port}/postgres`
  }

  death(): Death {
    return DEATH
  }

  async kill(): Promise<void> {
    if (!this.#options.isSynchronous) {
      // It gets nothing any more, and the primary does not notice: what a broken network does.
      this.#standby.postgres.configure({ primary_conninfo: '' })
      await pause(DEAF_MS)
    }
    await this.#primary.postgres.kill()
  }

  /** Makes the standby the primary. */
  async replaced(): Promise<void> {
    await pause(this.#options.detectMs)
    ;[this.#primary, this.#standby] = [this.#standby, this.#primary]
    const [row] = await this.#primary.postgres.query<{ done: boolean }>('select pg_promote(true, 30) as done')
    if (row?.done !== true) throw new Error('the standby was not promoted within 30 s')
  }

  /** The dead server takes back what only it has written, and follows the primary again. */
  async rejoined(): Promise<void> {
    const primary = this.#primary.postgres
    // Until then the control file of a promoted server says the old timeline, and the rewind finds nothing to do.
    await primary.query('checkpoint')
    const { data, file } = this.#standby.postgres
    const source = `host=127.0.0.1 port=${primary.port} user=postgres dbname=postgres`
    // Its recovery must keep the log as the server does, for the rewind to read.
    const target = ['--target-pgdata', data, '--config-file', file]
    await this.#programs.run('pg_rewind', [...target, '--source-server', source])
    await this.#follow()
  }

  async stop(): Promise<void> {
    for (const { postgres, check } of [this.#primary, this.#standby]) {
      await check.close()
      await postgres.stop()
    }
  }

  /** Starts the standby, and has the primary wait for it with every commit. */
  async #follow(): Promise<void> {
    const { name, postgres } = this.#standby
    writeFileSync(join(postgres.data, 'standby.signal'), '')
    postgres.configure({
      primary_conninfo: `host=127.0.0.1 port=${this.#primary.postgres.port} user=postgres application_name=${name}`,
      synchronous_standby_names: '',
    })
    await postgres.run()
    // Before it has caught up every commit would wait for it.
    await this.#until('streaming', `select count(*)::int as n from pg_stat_replication where state = 'streaming'`)
    if (!this.#options.isSynchronous) return
    this.#primary.postgres.configure({ synchronous_standby_names: name })
    await this.#until('synchronous', `select count(*)::int as n from pg_stat_replication where sync_state = 'sync'`)
  }

  async #until(what: string, counting: string): Promise<void> {
    const until = performance.now() + PATIENCE_MS
    for (;;) {
      const [row] = await this.#primary.postgres.query<{ n: number }>(counting)
      if (present(row, 'a count').n === 1) return
      if (performance.now() > until) throw new Error(`the standby is not ${what} after ${PATIENCE_MS} ms`)
      await pause(LOOK_MS)
    }
  }
}
