/** Three processes of the real program: one serves clients, two run matches. An ended process is replaced. */
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import pg from 'pg'
import { present } from '../../../actors/kernel/assert.ts'
import { Violation } from '../rig/account.ts'
import { THIS_TREE } from '../rig/bare-environment.ts'
import { Program, type Settings } from '../rig/program.ts'
import { freePort } from '../rig/ports.ts'
import type { Machine, Network } from './network.ts'
import { Relay } from './relay.ts'

const ROOMS = 2
/** A process that ends during its start, because a store is still down, is started again, as by a supervisor. */
const STARTS_MAX = 3
const CLOCK = join(import.meta.dirname, './clock.ts')

type Role = 'api' | 'rooms'

interface Routes {
  readonly redis: Relay
  readonly database: Relay
  /** The machine that it runs on, whose packets can be lost; null if there are only relays. */
  readonly machine: Machine | null
}

/** A process and its own routes to the stores. */
export class Member {
  readonly program: Program
  readonly redis: Relay
  readonly database: Relay
  readonly machine: Machine | null
  #isDismissed = false

  constructor(program: Program, { redis, database, machine }: Routes) {
    this.program = program
    this.redis = redis
    this.database = database
    this.machine = machine
  }

  get wires(): readonly Relay[] {
    return [this.redis, this.database]
  }

  /** Whether it ended without being asked to. */
  get hasFallen(): boolean {
    return this.program.isGone && !this.#isDismissed
  }

  async kill(): Promise<void> {
    this.#isDismissed = true
    await this.program.kill()
  }

  /** Asks it to end, and waits until it has. Its exit code; null if it had to be killed. */
  async stop(): Promise<number | null> {
    this.#isDismissed = true
    return (await this.program.stop()).code
  }

  /** Every packet between it and the stores is lost until it is healed. */
  drop(): void {
    if (this.machine === null) for (const wire of this.wires) wire.silence()
    else this.machine.drop(['stores'])
  }

  /** It is gone from the network until it is healed. Without a machine of its own, clients still reach it. */
  leave(): void {
    if (this.machine === null) this.drop()
    else this.machine.drop(['clients', 'stores'])
  }

  /** Its connections to the stores pass nothing from now on, for ever, and do not break; new ones work. */
  swallow(): void {
    for (const wire of this.wires) wire.swallow()
  }

  /** The same, with packets that are never acknowledged. */
  forget(): void {
    if (this.machine === null) this.swallow()
    else this.machine.forget()
  }

  /** Makes it awake and reconnects it to the stores. */
  heal(): void {
    this.program.wake()
    this.machine?.mend()
    for (const wire of this.wires) wire.mend()
  }

  async close(): Promise<void> {
    await this.kill()
    for (const wire of this.wires) await wire.close()
  }
}

export class Cluster {
  readonly #settings: Settings
  readonly #database: string
  readonly #redis: string
  readonly #network: Network | null
  #api: Member | null = null
  #apiHost = '127.0.0.1'
  #apiPort = 0
  #rooms: Member[] = []

  /** With a network, each process is a machine of its own there. */
  constructor(settings: Settings, network: Network | null = null) {
    this.#settings = settings
    this.#network = network
    this.#database = present(settings['DATABASE_URL'], 'address of the database')
    this.#redis = present(settings['REDIS_URL'], 'address of Redis')
  }

  /** The address for clients; it does not change. */
  get url(): string {
    return `http://${this.#apiHost}:${this.#apiPort}`
  }

  /** The processes that run. */
  get running(): readonly Member[] {
    return this.#members().filter(({ program }) => !program.isGone)
  }

  get api(): Member {
    return present(this.#api, 'api process')
  }

  /** Repairs and starts what is down, and waits until all of it listens. Throws if a process ended unasked. */
  async makeWhole(): Promise<void> {
    for (const member of this.#members()) {
      if (member.hasFallen) throw new Violation(`a process ended unasked: ${member.program.complaint}`)
      if (member.program.isGone) await this.#close(member)
      else member.heal()
    }
    this.#rooms = this.#rooms.filter(({ program }) => !program.isGone)
    // The first process makes the schema and the signing key.
    if (this.#api === null || this.#api.program.isGone) this.#api = await this.#start('api', 0)
    const missing = Array.from({ length: ROOMS - this.#rooms.length }, () => this.#start('rooms', 0))
    this.#rooms.push(...(await Promise.all(missing)))
  }

  /** The process that runs the match; any live one if none does. */
  async owner(): Promise<Member> {
    if (this.#living().length === 0) await this.makeWhole()
    const owners = await this.#ask<{ owner: string }>(
      `select l.owner from match_leases l join matches m on m.id = l.match_id
        where m.settled_at is null and l.expires_at > clock_timestamp()`,
    )
    const owner = this.#living().find(({ program }) => owners.some((row) => row.owner === program.processId))
    return owner ?? present(this.#living()[0], 'a process with rooms')
  }

  async bystander(): Promise<Member> {
    const owner = await this.owner()
    return this.#living().find((member) => member !== owner) ?? owner
  }

  /** Kills a process, and replaces it with one whose clock is off by this much. */
  async replace(member: Member, skewMs: number): Promise<void> {
    await this.#close(member)
    if (member === this.#api) this.#api = await this.#start('api', skewMs)
    else this.#rooms = [...this.#rooms.filter((one) => one !== member), await this.#start('rooms', skewMs)]
  }

  /** Breaks every connection to the database, as a failover does. */
  async cutDatabase(): Promise<void> {
    await this.#ask(
      `select pg_terminate_backend(pid) from pg_stat_activity
        where datname = current_database() and pid <> pg_backend_pid()`,
    )
  }

  async end(): Promise<void> {
    for (const member of this.#members()) {
      member.heal()
      await this.#close(member)
    }
    this.#api = null
    this.#rooms = []
  }

  #living(): Member[] {
    return this.#rooms.filter(({ program }) => !program.isGone)
  }

  #members(): Member[] {
    return [...(this.#api === null ? [] : [this.#api]), ...this.#rooms]
  }

  async #start(role: Role, skewMs: number): Promise<Member> {
    this.#apiPort ||= await freePort()
    for (let starts = 1; ; starts++) {
      const member = await this.#launch(role, skewMs)
      try {
        await member.program.listening
        return member
      } catch (error) {
        await this.#close(member)
        if (starts === STARTS_MAX) throw error
      }
    }
  }

  async #launch(role: Role, skewMs: number): Promise<Member> {
    // The machine of the process for clients always has the same address.
    const machine = this.#network?.machine(role === 'api' ? 0 : 1) ?? null
    const relayTo = (server: string): Promise<Relay> => Relay.to(server, machine?.storesAddress)
    const [redis, database] = await Promise.all([relayTo(this.#redis), relayTo(this.#database)])
    const serving = { DEMO_REPLAY: 'none', PORT: String(this.#apiPort) }
    const stores = { REDIS_URL: redis.url, DATABASE_URL: database.url }
    const settings = {
      ...this.#settings,
      ...stores,
      ROLES: role,
      ...(role === 'api' ? serving : {}),
      ...(machine === null ? {} : { HOST: machine.address }),
    }
    if (role === 'api' && machine !== null) this.#apiHost = machine.address
    const options = skewMs === 0 ? [] : ['--import', `${pathToFileURL(CLOCK).href}?ms=${skewMs}`]
    const program = new Program(settings, options, THIS_TREE, machine?.runs)
    return new Member(program, { redis, database, machine })
  }

  async #close(member: Member): Promise<void> {
    await member.close()
    if (member.machine !== null) this.#network?.remove(member.machine)
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
