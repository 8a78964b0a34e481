/** A database that is made on a PostgreSQL server for one run, and dropped after it. */
import { randomUUID } from 'node:crypto'
import pg from 'pg'
import { refuse } from './options.ts'

export interface ScratchDatabase {
  readonly name: string
  readonly url: string
  /** Open connections are cut off. */
  readonly drop: () => Promise<void>
}

/** The PostgreSQL server that DATABASE_URL (or TEST_DATABASE_URL) names. Ends the program when there is none. */
export const namedServer = (): string =>
  process.env['DATABASE_URL'] ??
  process.env['TEST_DATABASE_URL'] ??
  refuse('DATABASE_URL must name a PostgreSQL server, on which a database is made')

/** A new, empty database. Its name begins with `whose`, to identify one that was left behind. */
export const makeDatabase = (server: string, whose: string): Promise<ScratchDatabase> => make(server, whose, '')

/** A copy of the database of this name. That database must have no connections. */
export const copyDatabase = (server: string, name: string): Promise<ScratchDatabase> =>
  make(server, 'touchline_copy', ` template ${name}`)

/**
 * Makes the database of this name on the server, unless it is there. Others see it only when `fill`, which gets its
 * address, is done. Processes that call this at the same time wait for each other.
 */
export async function unlessThere(server: string, name: string, fill: (url: string) => Promise<void>): Promise<void> {
  // A lock holds in its database alone, and others may name another of this server.
  const client = new pg.Client({ connectionString: addressOf(server, 'postgres') })
  await client.connect()
  try {
    await client.query('select pg_advisory_lock(hashtext($1))', [name])
    const { rowCount } = await client.query('select from pg_database where datname = $1', [name])
    if (rowCount === 1) return
    const partial = await make(server, `${name}_partial`, '')
    await fill(partial.url)
    await client.query(`alter database ${partial.name} rename to ${name}`)
  } finally {
    await client.end()
  }
}

async function make(server: string, whose: string, from: string): Promise<ScratchDatabase> {
  const name = `${whose}_${randomUUID().replaceAll('-', '')}`
  await administer(server, `create database ${name}${from}`)
  const maker = pg.escapeLiteral(new URL(server).pathname.slice(1))
  // By this the gate finds what a run on its database has left.
  await administer(server, `comment on database ${name} is ${maker}`)
  return { name, url: addressOf(server, name), drop: () => administer(server, `drop database ${name} with (force)`) }
}

function addressOf(server: string, database: string): string {
  const url = new URL(server)
  url.pathname = `/${database}`
  return url.href
}

async function administer(server: string, statement: string): Promise<void> {
  const client = new pg.Client({ connectionString: server })
  await client.connect()
  try {
    await client.query(statement)
  } finally {
    await client.end()
  }
}
