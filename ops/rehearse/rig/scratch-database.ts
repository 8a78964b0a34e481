/** A database that is made on a PostgreSQL server for one run, and dropped after it. */
import { randomUUID } from 'node:crypto'
import pg from 'pg'

export interface ScratchDatabase {
  readonly name: string
  readonly url: string
  /** Open connections are cut off. */
  readonly drop: () => Promise<void>
}

/** A new, empty database. Its name begins with `whose`, to identify one that was left behind. */
export const makeDatabase = (server: string, whose: string): Promise<ScratchDatabase> => make(server, whose, '')

/** A copy of a database of this server that nobody is connected to. */
export const copyDatabase = (server: string, of: string): Promise<ScratchDatabase> => {
  const name = new URL(of).pathname.slice(1)
  return make(server, name.split('_').slice(0, -1).join('_'), ` template ${name}`)
}

async function make(server: string, whose: string, from: string): Promise<ScratchDatabase> {
  const name = `${whose}_${randomUUID().replaceAll('-', '')}`
  await administer(server, `create database ${name}${from}`)
  const url = new URL(server)
  url.pathname = `/${name}`
  return { name, url: url.href, drop: () => administer(server, `drop database ${name} with (force)`) }
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
