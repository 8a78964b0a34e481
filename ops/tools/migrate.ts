/**
 * Migrates the database to this version and ends: `npm run ops -- migrate`. It reads the environment of the server. A
 * release runs it as a step of its own before the processes of the new version are started, which would otherwise do
 * it. Prints what has run. The exit code is 1 when it failed, which changes nothing, 2 when no database is
 * named and none is embedded here, and 75 when the database is already that of a newer version.
 */
import { migrate } from '../../db/postgres/migrate.ts'
import { exitCodeOf, explainStart } from '../../src/start-failure.ts'
import { openDatabase } from './on-database.ts'

try {
  const connection = await openDatabase()
  try {
    const ran = await connection.withoutTimeout((db) => migrate(db))
    console.log(ran.length === 0 ? 'nothing to migrate' : `migrated: ${ran.join(', ')}`)
  } finally {
    await connection.close()
  }
} catch (error) {
  console.error(explainStart(error).replace('Touchline cannot start', 'Cannot migrate'))
  process.exitCode = exitCodeOf(error)
}
