/** A database on a PostgreSQL server. */
import { Kysely, PostgresDialect } from 'kysely'
import pg from 'pg'
import { bigintsFrom, safeInteger } from './arrays.ts'
import { BINARY } from './binary-arrays.ts'
import { CallLimit } from './call-limit.ts'
import { type Call, Calls, type Connection, type ConnectOptions, ping } from './connection.ts'
import { openPool, Pools } from './pools.ts'
import { Replica } from './replica.ts'
import type { Database } from './schema.ts'
import { SESSION_OPTIONS } from './session.ts'

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
const COMMITS = { together: 2, slowAfterMs: 250, atMost: 32 }

/** The most connections of one process: its readers, and the commits of the matches that it runs. */
export const CONNECTIONS_MAX = { api: POOL_MAX, rooms: POOL_MAX + COMMITS.atMost } as const

/** The server is contacted by the first query. */
export function connectServer(databaseUrl: string, options: ConnectOptions): Connection {
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
    callsTogether: COMMITS.together,
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

/** By type, as the embedded database reads them. The driver has no name for 1016, an array of bigint. */
const PARSERS = new Map<number, (text: string) => unknown>([
  [pg.types.builtins.INT8, safeInteger],
  [1016, bigintsFrom],
])

const poolOf = (connectionString: string, options: pg.PoolConfig): pg.PoolConfig => ({
  ...options,
  connectionString,
  application_name: 'touchline',
  connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
  keepAlive: true,
  types: {
    getTypeParser: (oid, format) => PARSERS.get(oid) ?? pg.types.getTypeParser(oid, format),
  },
})
