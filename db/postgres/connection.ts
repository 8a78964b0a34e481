/** What the rest of the server knows of the SQL database: the same for PostgreSQL and for the embedded PGlite. */
import { type Kysely, sql } from 'kysely'
import type { ArrayFormat } from './arrays.ts'
import type { PoolUse } from './pools.ts'
import type { Replica } from './replica.ts'
import type { Database } from './schema.ts'

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
  /** How many quick calls run at the same time. */
  readonly callsTogether: number
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

/**
 * Statements that call functions. The first call of each function fixes the order in which its arguments are passed.
 */
export class Calls {
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

/** Whether PostgreSQL has answered that what was asked failed: nothing of it was written. */
export const wasRolledBack = (error: unknown): boolean =>
  error instanceof Error && 'severity' in error && error.severity === 'ERROR'

/** A standby, and a primary that has become one, answer every read. */
export async function ping(db: Kysely<Database>): Promise<void> {
  const { rows } = await sql<{ mode: string }>`select current_setting('transaction_read_only') as mode`.execute(db)
  if (rows[0]?.mode !== 'off') throw new Error('the database takes no writes')
}
