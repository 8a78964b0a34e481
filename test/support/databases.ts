/** The same suite on every database: the embedded one always, PostgreSQL when TEST_DATABASE_URL names a server. */
import { afterAll, beforeAll, describe, it, onTestFinished } from 'vitest'
import { connect } from '../../db/postgres/connect.ts'
import type { Connection } from '../../db/postgres/connection.ts'
import { connectEmbedded } from '../../db/postgres/embedded.ts'
import { createMigrated, migratedTemplate } from '../../ops/rehearse/rig/migrated.ts'
import { makeDatabase } from '../../ops/rehearse/rig/scratch-database.ts'
import { KeptDatabase } from './kept-database.ts'
import { requireNamed } from './needs.ts'

/**
 * Runs a suite once per database. `open` returns the migrated database of this test file, which is empty at the start
 * and dropped at the end. Call it from hooks and tests, not while the suite is being described.
 */
export function eachDatabase(suite: (open: () => Connection) => void): void {
  requireNamed('pg')
  describe('on PGlite', () => runOn(openEmbedded, suite))
  const server = serverUrl()
  if (server !== null) describe('on PostgreSQL', () => runOn(() => openPostgres(server), suite))
}

/** Runs a suite that only a real server can pass, for example because it needs several connections. */
export function onPostgres(suite: (serverUrl: string) => void): void {
  requireNamed('pg')
  const server = serverUrl()
  describe.skipIf(server === null)('on PostgreSQL', () => suite(server ?? ''))
}

/** The address of a new, empty, not yet migrated database of the server, which is dropped after the test. */
export async function createDatabase(server: string): Promise<string> {
  const { url, drop } = await makeDatabase(server, 'touchline_test')
  onTestFinished(drop)
  return url
}

/** So many rows on PostgreSQL; a tenth of them on the embedded database, which takes ten times as long for each. */
export const crowd = ({ kind }: Connection, rows: number): number => (kind === 'postgres' ? rows : rows / 10)

function runOn(
  open: () => Promise<{ readonly connection: Connection; readonly remove: () => Promise<void> }>,
  suite: (open: () => Connection) => void,
): void {
  let opened: Awaited<ReturnType<typeof open>> | undefined
  beforeAll(async () => {
    opened = await open()
  })
  afterAll(() => opened?.remove())
  suite(() => {
    if (opened === undefined) throw new Error('the database is open only while hooks and tests run')
    return opened.connection
  })
}

/** The server's address, or null to skip. Where everything must run, a missing server is a failing test. */
function serverUrl(): string | null {
  const url = process.env['TEST_DATABASE_URL']
  if (url !== undefined && url !== '') return url
  if (process.env['CI'] === 'true') {
    it('has a PostgreSQL to test against', () => {
      throw new Error('CI is set but TEST_DATABASE_URL is not: the suites for PostgreSQL would not run')
    })
  }
  return null
}

async function openPostgres(server: string) {
  const { url, drop } = await createMigrated(server)
  const connection = await connect({ databaseUrl: url, dataDir: null })
  return {
    connection,
    async remove() {
      await connection.close()
      await drop()
    },
  }
}

const embedded = new KeptDatabase(async () => connectEmbedded(null, await migratedTemplate()))

async function openEmbedded() {
  return { connection: await embedded.take(), remove: () => embedded.giveBack() }
}
