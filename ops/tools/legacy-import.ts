/**
 * Imports legacy trades from a CSV file: `npm run ops -- legacy-import trades.csv`. Columns: id, username, player, side
 * (buy or sell), quantity, price, at (ISO 8601). It uses the database of the server's environment; an embedded one must
 * not be in use. Importing a dump twice is safe: trades are known by their ids.
 */
import { readFile } from 'node:fs/promises'
import { present } from '../../actors/kernel/assert.ts'
import { LegacyImport } from '../../db/legacy-import.ts'
import { migrate } from '../../db/postgres/migrate.ts'
import { refuse } from '../rehearse/rig/options.ts'
import { readDump } from './legacy-csv.ts'
import { openDatabase } from './on-database.ts'

const [path, ...others] = process.argv.slice(2)
if (path === undefined || others.length > 0) refuse('name one file: npm run ops -- legacy-import trades.csv')
const dumped = readDump(await readFile(path, 'utf8'))

const connection = await openDatabase()
try {
  await connection.withoutTimeout((patient) => migrate(patient))
  const legacy = new LegacyImport(connection.db)
  const users = await legacy.usersNamed(dumped.map(({ username }) => username))
  const strangers = [...new Set(dumped.map(({ username }) => username))].filter((name) => !users.has(name))
  if (strangers.length > 0) throw new Error(`unknown users: ${strangers.join(', ')}; nothing was imported`)
  const trades = dumped.map(({ username, ...trade }) => ({ ...trade, userId: present(users.get(username), username) }))
  const taken = await legacy.take(trades)
  console.log(`${taken.length} trades imported, ${trades.length - taken.length} were imported before`)
  await legacy.announce(taken).then(
    (added) => console.log(`${added} of them added to the activity feed`),
    (error: unknown) => console.error('the trades are imported, but the activity feed could not be updated:', error),
  )
} finally {
  await connection.close()
}
