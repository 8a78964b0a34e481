/**
 * Matches that cannot be read: each stored document is broken in every way, and an operator ends every match.
 * `npm run ops -- quarantine [--database pglite|postgres] [--every 1]`. On PostgreSQL it works in a new database on the
 * server of `DATABASE_URL`.
 */
import { parseArgs } from 'node:util'
import { connect } from '../../../db/postgres/connect.ts'
import { folderPlace, serverPlace } from '../rig/data-place.ts'
import { whole } from '../rig/options.ts'
import { rehearseQuarantine } from './rehearse.ts'

const { values } = parseArgs({
  options: { database: { type: 'string', default: 'pglite' }, every: { type: 'string', default: '1' } },
})

async function findPlace() {
  if (values.database === 'pglite') return folderPlace()
  const server = process.env['DATABASE_URL'] ?? process.env['TEST_DATABASE_URL']
  if (values.database !== 'postgres' || server === undefined)
    throw new Error('--database pglite, or --database postgres with DATABASE_URL set')
  return serverPlace(server, null)
}

const place = await findPlace()
const { DATABASE_URL: databaseUrl = null, DATA_DIR: dataDir = null } = place.env
const { damages, readable, positions } = await rehearseQuarantine(
  {
    settings: place.env,
    look: async (at) => {
      const connection = await connect({ databaseUrl, dataDir })
      try {
        return await at(connection)
      } finally {
        await connection.close()
      }
    },
  },
  whole('every', values.every, 1),
)
console.log(`${damages} documents were broken, ${damages - readable} of them beyond reading, on ${place.description}.`)
console.log(`Every match ended, all ${positions} positions were paid, and the books balance.`)
await place.remove()
