/** Two PostgreSQL servers, a primary and its standby, which change places as Patroni makes them do. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { performance } from 'node:perf_hooks'
import { present } from '../../../actors/kernel/assert.ts'
import { freePort } from '../rig/free-port.ts'
import { OwnPostgres, type PostgresPrograms } from '../rig/postgres.ts'
import type { Settings } from '../rig/program.ts'

/** The log is kept for a standby that comes back. */
const SETTINGS: Settings = { wal_keep_size: '1GB', synchronous_standby_names: '' }
const PATIENCE_MS = 60_000
const LOOK_MS = 50

interface Node {
  readonly name: string
  readonly postgres: OwnPostgres
}

export class Pair {
  readonly #programs: PostgresPrograms
  readonly #isSynchronous: boolean
  #primary: Node
  #standby: Node

  private constructor(programs: PostgresPrograms, isSynchronous: boolean, primary: Node, standby: Node) {
    this.#programs = programs
    this.#isSynchronous = isSynchronous
    this.#primary = primary
    this.#standby = standby
  }

  /** A primary, and a standby from a base backup of it that is synchronous or not. Their data is in this folder. */
  static async start(programs: PostgresPrograms, folder: string, isSynchronous: boolean): Promise<Pair> {
    const node = async (name: string): Promise<Node> => ({
      name,
      postgres: new OwnPostgres(programs, join(folder, name), await freePort(), SETTINGS),
    })
    const [primary, standby] = [await node('patroni_1'), await node('patroni_2')]
    const pair = new Pair(programs, isSynchronous, primary, standby)
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

  get primary(): OwnPostgres {
    return this.#primary.postgres
  }

  get both(): readonly OwnPostgres[] {
    return [this.#primary.postgres, this.#standby.postgres].toSorted((a, b) => (a.data < b.data ? -1 : 1))
  }

  /** The standby gets nothing any more, and the primary does not notice: what a broken network does. */
  deafen(): void {
    this.#standby.postgres.configure({ primary_conninfo: '' })
  }

  /** Makes the standby the primary. The former one must be dead. */
  async promote(): Promise<void> {
    ;[this.#primary, this.#standby] = [this.#standby, this.#primary]
    const [row] = await this.primary.query<{ done: boolean }>('select pg_promote(true, 30) as done')
    if (row?.done !== true) throw new Error('the standby was not promoted within 30 s')
  }

  /** The dead server takes back what only it has written, and follows the primary again. */
  async rejoin(): Promise<void> {
    // Until then the control file of a promoted server says the old timeline, and the rewind finds nothing to do.
    await this.primary.query('checkpoint')
    const { data, file } = this.#standby.postgres
    const source = `host=127.0.0.1 port=${this.primary.port} user=postgres dbname=postgres`
    // Its recovery must keep the log as the server does, for the rewind to read.
    const target = ['--target-pgdata', data, '--config-file', file]
    await this.#programs.run('pg_rewind', [...target, '--source-server', source])
    await this.#follow()
  }

  async stop(): Promise<void> {
    for (const postgres of this.both) await postgres.stop()
  }

  /** Starts the standby, and has the primary wait for it with every commit. */
  async #follow(): Promise<void> {
    const { name, postgres } = this.#standby
    writeFileSync(join(postgres.data, 'standby.signal'), '')
    postgres.configure({
      primary_conninfo: `host=127.0.0.1 port=${this.primary.port} user=postgres application_name=${name}`,
      synchronous_standby_names: '',
    })
    await postgres.run()
    // Before it has caught up every commit would wait for it.
    await this.#until('streaming', `select count(*)::int as n from pg_stat_replication where state = 'streaming'`)
    if (!this.#isSynchronous) return
    this.primary.configure({ synchronous_standby_names: name })
    await this.#until('synchronous', `select count(*)::int as n from pg_stat_replication where sync_state = 'sync'`)
  }

  async #until(what: string, counting: string): Promise<void> {
    const until = performance.now() + PATIENCE_MS
    for (;;) {
      const [row] = await this.primary.query<{ n: number }>(counting)
      if (present(row, 'a count').n === 1) return
      if (performance.now() > until) throw new Error(`the standby is not ${what} after ${PATIENCE_MS} ms`)
      await pause(LOOK_MS)
    }
  }
}
