/**
 * Pools of connections to PostgreSQL that notice a connection which is silent without being broken, as behind a proxy
 * or a balancer that hangs. Its query would wait for its timeout, and every other query that the pool gives it as well.
 */
import { Socket } from 'node:net'
import pg from 'pg'

/** Looks at which a connection has waited for an answer until the server is asked about it. */
const WAITED_LOOKS = 6
/** For the question whether the server still works for a connection. */
const ASK_MS = 2_000

/** A client whose socket can be cut. */
class Client extends pg.Client {
  readonly #socket: Socket
  /** False while an answer is due (of `pg`, which does not declare it). */
  declare readonly readyForQuery: boolean
  /** The server's process for this connection, once it is connected (of `pg` as well). */
  declare readonly processID: number | null

  constructor(config?: pg.ClientConfig | string) {
    const socket = new Socket()
    super({ ...(typeof config === 'string' ? { connectionString: config } : config), stream: () => socket })
    this.#socket = socket
  }

  cut(): void {
    this.#socket.destroy(new Error('Connection terminated: the server does not work for it'))
  }
}

interface Waiting {
  looks: number
  /** Whether the server did not work for it when it was last asked. */
  isIdle: boolean
}

/** Connections of a pool that work, at most `max`, and the queries that wait for one. */
export interface PoolUse<Name extends string = string> {
  readonly name: Name
  readonly max: number
  readonly inUse: number
  readonly waiting: number
}

export function openPool(options: pg.PoolConfig): pg.Pool {
  const pool = new pg.Pool(options)
  // A connection may break while it is idle, in the pool or between two queries. The pool drops it, or the next query
  // fails. Without these listeners either would end the process.
  pool.on('error', () => {})
  pool.on('connect', (client) => client.on('error', () => {}))
  return pool
}

export class Pools<Name extends string> {
  readonly #options: Readonly<Record<Name, pg.PoolConfig>>
  readonly #pools = new Map<Name, pg.Pool>()
  readonly #held = new Map<Client, Waiting>()

  constructor(options: Readonly<Record<Name, pg.PoolConfig>>) {
    this.#options = options
  }

  /** The pool of this name, which another replaces when connections were silent: do not keep it. */
  of(name: Name): pg.Pool {
    const pool = this.#pools.get(name) ?? this.#open(this.#options[name])
    this.#pools.set(name, pool)
    return pool
  }

  /** How each pool is used at this moment. */
  use(): readonly PoolUse<Name>[] {
    return Object.entries<pg.PoolConfig>(this.#options).map(([name, { max = 10 }]) => {
      const pool = this.#pools.get(name as Name)
      const [open, idle] = [pool?.totalCount ?? 0, pool?.idleCount ?? 0]
      return { name: name as Name, max, inUse: open - idle, waiting: pool?.waitingCount ?? 0 }
    })
  }

  /**
   * To be called about twice a second. Asks the server, on a connection of its own, about the connections that have
   * waited for three seconds, and cuts those it does not work for. Their queries fail as on any broken connection. The
   * pools then open new connections, since the idle ones came the same way. A slow query may go on. Returns how many
   * were cut.
   */
  async cutSilent(): Promise<number> {
    const suspects = [...this.#held].flatMap(([client, waiting]) => {
      if (client.readyForQuery) Object.assign(waiting, { looks: 0, isIdle: false })
      return ++waiting.looks > WAITED_LOOKS && client.processID !== null ? [{ client, waiting }] : []
    })
    if (suspects.length === 0) return 0
    const atWork = await this.#atWork(suspects.map(({ client }) => client.processID ?? 0))
    // Twice: an answer may be on its way.
    const silent = suspects.filter(({ client, waiting }) => {
      const wasIdle = waiting.isIdle
      waiting.isIdle = !client.readyForQuery && !atWork.has(client.processID ?? 0)
      return wasIdle && waiting.isIdle
    })
    if (silent.length > 0) this.#beginAnew(silent.map(({ client }) => client))
    return silent.length
  }

  /** Cuts every connection. Their queries fail as on any broken connection. The pools then open new ones. */
  cutAll(): void {
    this.#beginAnew([...this.#held.keys()])
  }

  async end(): Promise<void> {
    for (const pool of this.#pools.values()) if (!pool.ended) await pool.end()
  }

  #beginAnew(cut: readonly Client[]): void {
    const former = [...this.#pools.values()]
    this.#pools.clear()
    for (const client of cut) client.cut()
    for (const pool of former) void pool.end().catch(() => undefined)
  }

  #open(options: pg.PoolConfig): pg.Pool {
    const pool = openPool({ ...options, Client })
    pool.on('acquire', (client) => {
      if (client instanceof Client) this.#held.set(client, { looks: 0, isIdle: false })
    })
    const letGo = (client: pg.PoolClient): void => {
      if (client instanceof Client) this.#held.delete(client)
    }
    pool.on('release', (_, client) => letGo(client))
    pool.on('remove', letGo)
    return pool
  }

  /** Which of these server processes are running a query, as far as the server says. */
  async #atWork(pids: readonly number[]): Promise<ReadonlySet<number>> {
    const [options] = Object.values<pg.PoolConfig>(this.#options)
    const client = new Client({ ...options, connectionTimeoutMillis: ASK_MS, query_timeout: ASK_MS })
    client.on('error', () => {})
    try {
      await client.connect()
      const { rows } = await client.query<{ own: number; active: number[] }>(
        `select pg_backend_pid() as own, array(
           select pid from pg_stat_activity where pid = any($1::int[]) and state = 'active') as active`,
        [pids],
      )
      // A pooler makes up the processes of its clients: nothing is known of them, so all may be at work.
      return new Set(rows[0]?.own === client.processID ? rows[0]?.active : pids)
    } finally {
      await client.end().catch(() => undefined)
    }
  }
}
