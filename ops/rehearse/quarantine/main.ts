/**
 * Matches that cannot be read: each stored document is broken in every way, and an operator ends every match.
 * `npm run ops -- quarantine [--database pglite|postgres] [--every 1]`. On PostgreSQL it works in a new database on the
 * server of `DATABASE_URL`.
 */
import { connect } from '../../../db/postgres/connect.ts'
import { folderPlace, serverPlace } from '../rig/data-place.ts'
import { numbers, refuse } from '../rig/options.ts'
import { namedServer } from '../rig/scratch-database.ts'
import { rehearseQuarantine } from './rehearse.ts'

const { every, database } = numbers({ every: [1, 1] }, { database: { type: 'string', default: 'pglite' } })

async function findPlace() {
  if (database === 'pglite') return folderPlace()
  if (database !== 'postgres') refuse(`--database must be pglite or postgres; it is '${database}'`)
  return serverPlace(namedServer(), null)
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
  every,
)
console.log(`${damages} documents were broken, ${damages - readable} of them beyond reading, on ${place.description}.`)
console.log(`Every match ended, all ${positions} positions were paid, and the books balance.`)
await place.remove()
