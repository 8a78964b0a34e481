/** Three processes of the real program: one that serves clients, two that run matches. Whatever ends is replaced. */
import pg from 'pg'
import { present } from '../../actors/kernel/assert.ts'
import { Program, type Settings } from '../crash/program.ts'
import { freePort } from './redis.ts'

const ROOMS = 2

export class Cluster {
  readonly #settings: Settings
  readonly #database: string
  #api: Program | null = null
  #apiPort = 0
  #rooms: Program[] = []

  constructor(settings: Settings, database: string) {
    this.#settings = settings
    this.#database = database
  }

  /** Where clients go; the same for as long as the cluster lives. */
  get url(): string {
    return `http://127.0.0.1:${this.#apiPort}`
  }

  get api(): Program {
    return present(this.#api, 'api process')
  }

  get rooms(): readonly Program[] {
    return this.#rooms
  }

  /** Starts what is not there, and waits until all of it listens. */
  async makeWhole(): Promise<void> {
    this.#rooms = this.#rooms.filter((program) => !program.isGone)
    if (this.#api === null || this.#api.isGone) {
      this.#apiPort ||= await freePort()
      this.#api = new Program({ ...this.#settings, ROLES: 'api', DEMO_REPLAY: 'none', PORT: String(this.#apiPort) })
      await this.#api.listening // the first of all makes schema and signing key
    }
    while (this.#rooms.length < ROOMS) this.#rooms.push(new Program({ ...this.#settings, ROLES: 'rooms' }))
    for (const program of this.#rooms) {
      program.wake()
      await program.listening
    }
  }

  /** The process that has the match under way; one of them when nobody has. */
  async owner(): Promise<Program> {
    const owners = await this.#ask<{ owner: string }>(
      `select l.owner from match_leases l join matches m on m.id = l.match_id
        where m.settled_at is null and l.expires_at > clock_timestamp()`,
    )
    const owner = this.#rooms.find(({ processId }) => owners.some((row) => row.owner === processId))
    return owner ?? present(this.#rooms[0], 'a process with rooms')
  }

  async bystander(): Promise<Program> {
    const owner = await this.owner()
    return this.#rooms.find((program) => program !== owner) ?? owner
  }

  /** Every connection to the database breaks, as when another server takes over. */
  async cutDatabase(): Promise<void> {
    await this.#ask(
      `select pg_terminate_backend(pid) from pg_stat_activity
        where datname = current_database() and pid <> pg_backend_pid()`,
    )
  }

  async end(): Promise<void> {
    for (const program of [...this.#rooms, ...(this.#api === null ? [] : [this.#api])]) {
      program.wake()
      await program.kill()
    }
  }

  async #ask<Row extends object>(text: string): Promise<Row[]> {
    const client = new pg.Client({ connectionString: this.#database })
    await client.connect()
    try {
      return (await client.query<Row>(text)).rows
    } finally {
      await client.end()
    }
  }
}
