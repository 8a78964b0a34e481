/** Opens the SQL database, PostgreSQL or the embedded PGlite, behind one interface. */
import { setImmediate as nextTurn } from 'node:timers/promises'
import { join } from 'node:path'
import { PGlite, types as oids } from '@electric-sql/pglite'
import { Kysely, PGliteDialect, PostgresDialect, sql } from 'kysely'
import pg from 'pg'
import { type ArrayFormat, LITERALS, safeInteger } from './arrays.ts'
import { BINARY } from './binary-arrays.ts'
import { CallLimit, type CallLimitOptions } from './call-limit.ts'
import { openPool, type PoolUse, Pools } from './pools.ts'
import { copyTemplate, PGLITE } from './embedded-template.ts'
import { type FolderLock, lockFolderSoon } from './folder-lock.ts'
import { Replica } from './replica.ts'
import type { Database } from './schema.ts'
import { SESSION_OPTIONS } from './session.ts'

export interface ConnectOptions {
  /** PostgreSQL's address; null chooses the embedded database. */
  readonly databaseUrl: string | null
  /** A standby of that PostgreSQL for reads that may be seconds old; none by default. */
  readonly replica?: StandbyOptions | null
  /** Where the embedded database keeps its files; null keeps it in memory. */
  readonly dataDir: string | null
  /** False behind a pooler in transaction mode: nothing may be kept on a connection. True by default. */
  readonly isPrepared?: boolean
  /** After this time PostgreSQL cancels a statement. Ten seconds by default. */
  readonly statementTimeoutMs?: number
}

interface StandbyOptions {
  readonly url: string
  /** Milliseconds of a clock that never jumps. */
  readonly monotonicMs: () => number
}

export type NamedArguments = Readonly<Record<string, unknown>>

/** A call of a function with a single signature. Every call of it names the same arguments. */
export interface Call {
  readonly name: string
  readonly args: NamedArguments
}

export interface Connection {
  readonly db: Kysely<Database>
  /**
   * For reads alone that may be five seconds old, and older than what the same user has just read: the standby while it
   * is that fresh, else `db`. A read that the standby fails is repeated on the primary.
   */
  readonly reads: Kysely<Database>
  /** The standby; null without one. */
  readonly replica: Pick<Replica, 'look' | 'state'> | null
  readonly kind: 'postgres' | 'pglite'
  /**
   * The rows of `select * from name(argument => …)`. Runs beside readers, on connections of its own; a slow call does
   * not delay the others. `next` is asked when a connection is free; after null nothing is called: there are no rows.
   */
  call<Row extends object>(next: () => Call | null): Promise<readonly Row[]>
  /** The encoding that `call` expects for array arguments. */
  readonly arrays: ArrayFormat
  /** Does work of any length, such as a migration, on a connection of its own. */
  withoutTimeout<T>(work: (db: Kysely<Database>) => Promise<T>): Promise<T>
  /** Resolves when the database answers and takes writes, rejects when it does not. */
  ping(): Promise<void>
  /**
   * Ends connections that are silent without being broken, and returns how many. To be called about twice a second; the
   * queries on them would otherwise wait for their timeout.
   */
  cutSilent(): Promise<number>
  /** How the pools of connections are used at this moment; none for the embedded database. */
  pools(): readonly PoolUse[]
  /** Waits for running queries, then releases sockets, files and the folder's lock. */
  close(): Promise<void>
}

/** A query that takes longer is cancelled by PostgreSQL: a stuck one must not hold a connection for ever. */
const STATEMENT_TIMEOUT_MS = 10_000
/** How long a query waits for a free connection, or a new one for PostgreSQL to answer. */
const CONNECT_TIMEOUT_MS = 5_000
/** Connections of one process for readers. */
const POOL_MAX = 10
/**
 * Concurrent commits of one process: one computes while another waits for the disk. Matches that find none free commit
 * together (commit-groups.ts), so more would make each of them dearer. A commit takes 1 to 30 ms; one that takes ten
 * times as long is waiting for a lock and lets others pass.
 */
const COMMITS = { together: 3, slowAfterMs: 250, atMost: 32 }

/** The embedded database does one thing at a time. */
const ONE_CALL: CallLimitOptions = { ...COMMITS, together: 1, atMost: 1 }

/** The most connections of one process: its readers, and the commits of the matches that it runs. */
export const CONNECTIONS_MAX = { api: POOL_MAX, rooms: POOL_MAX + COMMITS.atMost } as const

/**
 * The database that the options choose. PostgreSQL is contacted by the first query, so a server may start before its
 * database; the embedded one is open when this resolves. Throws when another process has the folder.
 */
export async function connect(options: ConnectOptions): Promise<Connection> {
  const { databaseUrl, dataDir } = options
  return databaseUrl === null ? connectEmbedded(dataDir) : connectPostgres(databaseUrl, options)
}

function connectPostgres(databaseUrl: string, options: ConnectOptions): Connection {
  const { replica: standby = null, isPrepared = true, statementTimeoutMs = STATEMENT_TIMEOUT_MS } = options
  // A connection that is idle in a transaction holds its locks for nothing, for example in a frozen process. A pooler
  // takes no such settings: behind one they are those of the role.
  const lasting: pg.PoolConfig = isPrepared
    ? { idle_in_transaction_session_timeout: statementTimeoutMs, options: SESSION_OPTIONS }
    : {}
  const limits: pg.PoolConfig = {
    ...lasting,
    ...(isPrepared ? { statement_timeout: statementTimeoutMs } : {}),
    // A server that is silent, not slow, cancels nothing, so the client gives up.
    query_timeout: statementTimeoutMs + 2_000,
  }
  const pools = new Pools({
    readers: poolOf(databaseUrl, { ...limits, max: POOL_MAX }),
    commits: poolOf(databaseUrl, { ...limits, max: COMMITS.atMost }),
  })
  const limit = new CallLimit(COMMITS)
  const calls = new Calls()
  const db = new Kysely<Database>({
    dialect: new PostgresDialect({
      pool: {
        connect: () => pools.of('readers').connect(),
        end: () => pools.end(),
        options: pools.of('readers').options,
      },
    }),
  })
  const replica =
    standby === null
      ? null
      : new Replica({
          pool: poolOf(standby.url, { ...limits, max: POOL_MAX }),
          primary: () => pools.of('readers'),
          now: standby.monotonicMs,
        })
  return {
    db,
    reads: replica === null ? db : readsOf(replica),
    replica,
    kind: 'postgres',
    arrays: BINARY,
    call: <Row extends object>(next: () => Call | null) =>
      limit.run(async () => {
        const call = next()
        if (call === null) return []
        // Named, so that each connection parses and plans it once.
        const query = isPrepared ? { name: call.name, ...calls.of(call) } : calls.of(call)
        const { rows } = await pools.of('commits').query<Row>(query)
        return rows
      }),
    ping: () => ping(db),
    // A pooler does not say which connection of the server works for one of ours.
    async cutSilent() {
      if (!isPrepared) return 0
      const cut = await Promise.all([pools.cutSilent(), replica?.cutSilent() ?? 0])
      return cut[0] + cut[1]
    },
    // Commits wait before they ask for a connection.
    pools: () => [
      ...pools.use().map((use) => (use.name === 'commits' ? { ...use, waiting: limit.waiting } : use)),
      ...(replica?.use() ?? []),
    ],
    async withoutTimeout(work) {
      const unlimited = new Kysely<Database>({
        dialect: new PostgresDialect({ pool: openPool(poolOf(databaseUrl, { ...lasting, max: 1 })) }),
      })
      try {
        return await work(unlimited)
      } finally {
        await unlimited.destroy()
      }
    },
    async close() {
      await db.destroy()
      await replica?.end()
      await pools.end()
    },
  }
}

const readsOf = (replica: Replica): Kysely<Database> =>
  new Kysely<Database>({
    dialect: new PostgresDialect({ pool: { connect: () => replica.connect(), end: () => replica.end(), options: {} } }),
  })

const poolOf = (connectionString: string, options: pg.PoolConfig): pg.PoolConfig => ({
  ...options,
  connectionString,
  application_name: 'touchline',
  connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
  keepAlive: true,
  types: {
    getTypeParser: (oid, format) =>
      oid === pg.types.builtins.INT8 ? safeInteger : pg.types.getTypeParser(oid, format),
  },
})

/**
 * Statements that call functions. The first call of each function fixes the order in which its arguments are passed.
 */
class Calls {
  readonly #known = new Map<string, { readonly text: string; readonly names: readonly string[] }>()

  of({ name, args }: Call): { readonly text: string; readonly values: unknown[] } {
    const { text, names } = this.#known.get(name) ?? this.#learn(name, Object.keys(args))
    return { text, values: names.map((argument) => args[argument]) }
  }

  #learn(name: string, names: readonly string[]) {
    const list = names.map((argument, n) => `${argument} => $${n + 1}`)
    const call = { text: `select * from ${name}(${list.join(', ')})`, names }
    this.#known.set(name, call)
    return call
  }
}

/**
 * The embedded database in a folder or in memory, as a copy of `template` (a dumped data folder) when one is given. A
 * new folder begins with a copy of the kept one, if there is one.
 * It survives the death of the process, not of the machine: PGlite never syncs its files.
 */
export async function connectEmbedded(dataDir: string | null, template?: Blob): Promise<Connection> {
  const lock: FolderLock | null = dataDir === null ? null : await lockFolderSoon(dataDir)
  try {
    const isCopy = dataDir !== null && template === undefined && copyTemplate(dataDir)
    const pglite = await PGlite.create({
      ...(dataDir === null ? {} : { dataDir: join(dataDir, PGLITE) }),
      ...(template === undefined ? {} : { loadDataDir: template }),
      parsers: { [oids.INT8]: safeInteger },
      // A server's defaults would cost this process 200 MB.
      postgresqlconf: ['shared_buffers=8MB', 'jit=off'],
    })
    const client = polite(pglite)
    const db = new Kysely<Database>({ dialect: new PGliteDialect({ pglite: client }) })
    if (isCopy) await sql`update installation set id = default`.execute(db)
    const calls = new Calls()
    const limit = new CallLimit(ONE_CALL)
    const call = <Row extends object>(next: () => Call | null) =>
      limit.run(async () => {
        const one = next()
        if (one === null) return []
        const { text, values } = calls.of(one)
        return (await client.query<Row>(text, values)).rows
      })
    return {
      db,
      reads: db,
      replica: null,
      kind: 'pglite',
      arrays: LITERALS,
      call,
      ping: () => ping(db),
      cutSilent: async () => 0,
      pools: () => [],
      withoutTimeout: (work) => work(db), // PGlite cancels nothing
      async close() {
        await db.destroy()
        if (!pglite.closed) await pglite.close()
        lock?.release()
      },
    }
  } catch (error) {
    lock?.release()
    throw error
  }
}

/** Whether PostgreSQL has answered that what was asked failed: nothing of it was written. */
export const wasRolledBack = (error: unknown): boolean =>
  error instanceof Error && 'severity' in error && error.severity === 'ERROR'

/** A standby, and a primary that has become one, answer every read. */
async function ping(db: Kysely<Database>): Promise<void> {
  const { rows } = await sql<{ mode: string }>`select current_setting('transaction_read_only') as mode`.execute(db)
  if (rows[0]?.mode !== 'off') throw new Error('the database takes no writes')
}

type Polite = Exclude<ConstructorParameters<typeof PGliteDialect>[0]['pglite'], (...args: never[]) => unknown>

/**
 * PGlite answers within microtasks, so a busy one would starve sockets and timers. One turn of the event loop before
 * each unit of work cuts the longest stall of 500 concurrent transactions from 500 ms to 20 ms, at no cost in total
 * time.
 */
function polite(pglite: PGlite): Polite {
  return {
    get closed() {
      return pglite.closed
    },
    get ready() {
      return pglite.ready
    },
    waitReady: pglite.waitReady,
    close: () => pglite.close(),
    async query(query, parameters, options) {
      await nextTurn()
      return pglite.query(query, parameters, options)
    },
    async transaction(work) {
      await nextTurn()
      return pglite.transaction(work)
    },
  }
}
