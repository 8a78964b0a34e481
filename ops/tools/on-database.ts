/** The database of the configuration, for tools that read or write as long as they need. */
import type { Kysely } from 'kysely'
import { type FixtureId, fixtureId } from '../../actors/kernel/ids.ts'
import { FIXTURE_ID_MAX } from '../../actors/market/fixture.ts'
import { connect } from '../../db/postgres/connect.ts'
import type { Database } from '../../db/postgres/schema.ts'
import { databaseOf, environment, readConfig } from '../../src/config.ts'
import { whole } from '../rehearse/rig/options.ts'

/** Without a statement timeout. */
export async function onDatabase<T>(work: (db: Kysely<Database>) => Promise<T>): Promise<T> {
  const connection = await connect(databaseOf(readConfig(environment())))
  try {
    return await connection.withoutTimeout(work)
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
    for (const id of named.length > 0 ? named : (await all()).map((row) => row.match_id)) {
      const found = await check(db, fixtureId(id))
      console.log(`match ${id}: ${found}`)
      if (found.includes('BROKEN')) process.exitCode = 1
    }
  })
