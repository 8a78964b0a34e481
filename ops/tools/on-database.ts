/** The database of the configuration, for tools that read or write as long as they need. */
import { existsSync } from 'node:fs'
import { join, resolve } from 'node:path'
import type { Kysely } from 'kysely'
import { type FixtureId, fixtureId } from '../../actors/kernel/ids.ts'
import { FIXTURE_ID_MAX } from '../../actors/market/fixture.ts'
import { connect } from '../../db/postgres/connect.ts'
import type { Connection } from '../../db/postgres/connection.ts'
import { PGLITE } from '../../db/postgres/embedded-template.ts'
import { schemaState } from '../../db/postgres/migrate.ts'
import type { Database } from '../../db/postgres/schema.ts'
import { databaseOf, environment, readConfig } from '../../src/config.ts'
import { refuse, whole } from '../rehearse/rig/options.ts'

/**
 * Says on stderr which database it is. Ends the program where there is none: a new one would be empty, and a check of
 * it would find nothing wrong.
 */
export async function openDatabase(): Promise<Connection> {
  const config = readConfig(environment())
  const options = databaseOf(config)
  const folder = resolve(config.dataDir)
  if (options.databaseUrl !== null) console.error(`database: ${placeOf(options.databaseUrl)}`)
  else if (existsSync(join(folder, PGLITE))) console.error(`database: embedded, in ${folder}`)
  else refuse(`DATABASE_URL is not set, and there is no embedded database in ${folder}`)
  return connect(options)
}

/** Host and name: the rest of the address may hold a password. */
function placeOf(databaseUrl: string): string {
  const { host, pathname, searchParams } = new URL(databaseUrl)
  return `${searchParams.get('host') ?? host}${pathname}`
}

/** Without a statement timeout. */
export async function onDatabase<T>(work: (db: Kysely<Database>) => Promise<T>): Promise<T> {
  const connection = await openDatabase()
  try {
    return await connection.withoutTimeout(async (db) => {
      const { applied } = await schemaState(db)
      if (applied.length === 0) throw new Error('no migration has run in it: it is not the database of a server')
      return work(db)
    })
  } finally {
    await connection.close()
  }
}

/**
 * Prints what a check has found of each match that the command line names, or of each with rows in this table. The
 * exit code is 1 if one of them is BROKEN.
 */
export const checkMatches = (
  table: 'journal' | 'tape',
  check: (db: Kysely<Database>, matchId: FixtureId) => Promise<string>,
): Promise<void> =>
  onDatabase(async (db) => {
    const named = process.argv.slice(2).map((text) => whole('match', text, 1, FIXTURE_ID_MAX))
    const all = () => db.selectFrom(table).select('match_id').distinct().orderBy('match_id').execute()
    const ids = named.length > 0 ? named : (await all()).map((row) => row.match_id)
    if (ids.length === 0) throw new Error(`there is no ${table}: nothing was checked`)
    for (const id of ids) {
      const found = await check(db, fixtureId(id))
      console.log(`match ${id}: ${found}`)
      if (found.includes('BROKEN')) process.exitCode = 1
    }
  })
