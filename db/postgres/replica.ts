/**
 * Reads that may be some seconds old, on a standby of PostgreSQL for as long as it is known to be fresh. How old it is
 * at most is proven without comparing clocks: a standby that has replayed the log up to a place where the primary was
 * at a moment has all that was committed before that moment.
 */
import type { PostgresPoolClient, PostgresQueryResult } from 'kysely'
import type pg from 'pg'
import { isAway } from '../faults.ts'
import { openPool, Pools, type PoolUse } from './pools.ts'

/** A standby is read while it has everything that was committed this long ago. */
export const STALE_MS = 5_000
/** Places of the primary that are remembered, one a second: the longest lag that is measured. */
const PLACES_MAX = 300
/** For each question about where a server is. */
const ASK_MS = 2_000
/** How long a read waits for a connection to the standby before it goes to the primary. */
const CONNECT_MS = 1_000
/**
 * SQLSTATE of a read that the primary may answer: cancelled by what the standby replayed, and an object that the
 * primary has and the standby has not replayed yet.
 */
const PRIMARY_KNOWS = /^(40001|42883|42P01|42703)$/

interface Place {
  readonly at: number
  readonly lsn: bigint
}

interface PrimaryRow {
  readonly lsn: string
  readonly database: string
}

interface StandbyRow {
  readonly lsn: string | null
  readonly database: string
  readonly is_standby: boolean
}

const WHERE_PRIMARY = `select (pg_current_wal_lsn() - '0/0')::text as lsn, current_database() as database`
const WHERE_STANDBY = `select (pg_last_wal_replay_lsn() - '0/0')::text as lsn, current_database() as database,
  pg_is_in_recovery() as is_standby`
const SYSTEM = 'select system_identifier::text as id from pg_control_system()'

export interface ReplicaState {
  /** Whether reads go to the standby. */
  readonly isInUse: boolean
  /** The standby has everything that was committed this long ago; null before that is known of any moment. */
  readonly lagMs: number | null
  /** Why it is not in use; null while it is. */
  readonly why: string | null
}

export interface ReplicaOptions {
  readonly pool: pg.PoolConfig
  readonly primary: () => pg.Pool
  /** Never goes back; milliseconds. */
  readonly now: () => number
}

export class Replica {
  readonly #options: ReplicaOptions
  readonly #pools: Pools<'replica'>
  /** For the questions, which must not wait behind reads. */
  readonly #asking: pg.Pool
  #places: Place[] = []
  #provenAt: number | null = null
  /** Where the standby was at the last look. */
  #replayed: bigint | null = null
  /** Found to be a standby of this primary, and answering since. */
  #isOurs = false
  #why = 'it was not looked at yet'

  constructor(options: ReplicaOptions) {
    this.#options = options
    this.#pools = new Pools({ replica: { ...options.pool, connectionTimeoutMillis: CONNECT_MS } })
    const ask = { statement_timeout: 0, connectionTimeoutMillis: ASK_MS, query_timeout: ASK_MS }
    this.#asking = openPool({ ...options.pool, ...ask, max: 1 })
  }

  get state(): ReplicaState {
    const lagMs = this.#provenAt === null ? null : this.#options.now() - this.#provenAt
    const isFresh = lagMs !== null && lagMs <= STALE_MS
    const isInUse = this.#isOurs && isFresh
    return { isInUse, lagMs, why: isInUse ? null : this.#isOurs ? `it is more than ${STALE_MS} ms behind` : this.#why }
  }

  /** To be called about once a second. Compares the two servers; does not throw because of either. */
  async look(): Promise<void> {
    // Before asking: everything that is committed by now lies before the place that the primary answers.
    const at = this.#options.now()
    try {
      const primary = await first<PrimaryRow>(this.#options.primary(), WHERE_PRIMARY)
      const lsn = BigInt(primary.lsn)
      // What one server has not written the other cannot have replayed: it has a history of its own.
      if (this.#replayed !== null && this.#replayed > lsn) return this.#leave('it is not a standby of this primary')
      this.#places = [...this.#places, { at, lsn }].slice(-PLACES_MAX)
      const standby = await first<StandbyRow>(this.#asking, WHERE_STANDBY)
      if (!standby.is_standby || standby.lsn === null) return this.#leave('it is not in recovery')
      if (standby.database !== primary.database) return this.#leave('it is another database')
      if (!this.#isOurs && !(await this.#isSameSystem())) return this.#leave('it is another system')
      const replayed = BigInt(standby.lsn)
      const proof = this.#places.findLast((place) => place.lsn <= replayed)
      this.#replayed = replayed
      this.#provenAt = proof?.at ?? null
      this.#isOurs = true
    } catch (error) {
      this.#leave(error instanceof Error ? error.message : String(error))
    }
  }

  /** A connection for one read: to the standby if it is in use, else to the primary. */
  async connect(): Promise<PostgresPoolClient> {
    if (this.state.isInUse) {
      try {
        const client = await this.#pools.of('replica').connect()
        return readerOf(client, this.#options.primary)
      } catch {
        // The next look finds out whether it is unavailable or only busy.
      }
    }
    return this.#options.primary().connect()
  }

  /** Ends connections to the standby that are silent, and returns how many. */
  cutSilent(): Promise<number> {
    // If the standby itself is silent, the next look cuts them all.
    return this.#pools.cutSilent().catch(() => 0)
  }

  use(): readonly PoolUse[] {
    return this.#pools.use()
  }

  async end(): Promise<void> {
    await Promise.all([this.#pools.end(), this.#asking.end()])
  }

  /** Reads that the standby has not answered yet go to the primary. */
  #leave(why: string): void {
    this.#why = why
    this.#replayed = null
    this.#provenAt = null
    this.#places = []
    this.#isOurs = false
    this.#pools.cutAll()
  }

  /** True also where the role may not know: `pg_control_system` can be forbidden. */
  async #isSameSystem(): Promise<boolean> {
    const ids = await Promise.all(
      [this.#options.primary(), this.#asking].map((pool) =>
        first<{ id: string }>(pool, SYSTEM).then(
          ({ id }) => id,
          (error: unknown) => {
            if (codeOf(error) === '42501') return null
            throw error
          },
        ),
      ),
    )
    return ids.includes(null) || new Set(ids).size === 1
  }
}

/** A client that asks the standby, and the primary what the standby cannot answer. */
function readerOf(standby: PostgresPoolClient, primary: () => pg.Pool): PostgresPoolClient {
  let client = standby
  /** A transaction cannot move. */
  let isInTransaction = false
  const ask = async <Row>(text: string, values: readonly unknown[]): Promise<PostgresQueryResult<Row>> => {
    isInTransaction ||= /^(begin|start transaction)\b/i.test(text)
    try {
      return await client.query<Row>(text, values)
    } catch (error) {
      const mayMove = isAway(error) || PRIMARY_KNOWS.test(codeOf(error))
      if (client !== standby || isInTransaction || !mayMove) throw error
      client = await primary().connect()
      standby.release(isAway(error))
      return client.query<Row>(text, values)
    }
  }
  return { query: ask as PostgresPoolClient['query'], release: (destroy) => client.release(destroy) }
}

const codeOf = (error: unknown): string =>
  error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : ''

async function first<Row extends object>(pool: pg.Pool, text: string): Promise<Row> {
  const { rows } = await pool.query<Row>(text)
  const [row] = rows
  if (row === undefined) throw new Error(`no row: ${text}`)
  return row
}
