/** The same suite on every database: the embedded one always, PostgreSQL when TEST_DATABASE_URL names a server. */
import { createHash } from 'node:crypto'
import {
  cpSync,
  existsSync,
  mkdirSync,
  openAsBlob,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { PGlite } from '@electric-sql/pglite'
import { Kysely, PGliteDialect } from 'kysely'
import { afterAll, beforeAll, describe, it } from 'vitest'
import { type Connection, connect, connectEmbedded } from '../../db/postgres/connect.ts'
import { migrate } from '../../db/postgres/migrate.ts'
import type { Database } from '../../db/postgres/schema.ts'
import { requireNamed } from './needs.ts'
import { makeDatabase, type ScratchDatabase } from '../../ops/rehearse/rig/scratch-database.ts'

const ROOT = join(import.meta.dirname, '../..')

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

/** A new, empty, not yet migrated database of the server. */
export const createDatabase = (server: string): Promise<ScratchDatabase> => makeDatabase(server, 'touchline_test')

function runOn(
  open: () => Promise<{ readonly connection: Connection; readonly remove: () => Promise<void> }>,
  suite: (open: () => Connection) => void,
): void {
  let opened: Awaited<ReturnType<typeof open>> | undefined
  beforeAll(async () => {
    opened = await open()
  })
  afterAll(async () => {
    await opened?.connection.close()
    await opened?.remove()
  })
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
  const { url, drop } = await createDatabase(server)
  const connection = await connect({ databaseUrl: url, dataDir: null })
  await migrate(connection.db)
  return { connection, remove: drop }
}

async function openEmbedded() {
  return { connection: await connectEmbedded(null, await migratedTemplate()), remove: async () => {} }
}

/** Puts a migrated embedded database into a data folder, where a server would take four seconds to make it. */
export async function putMigrated(dataDir: string): Promise<void> {
  const path = await kept('pglite', async (partial) => {
    const connection = await connectEmbedded(partial, await migratedTemplate())
    await connection.close()
  })
  cpSync(path, dataDir, { recursive: true })
}

/** A dumped, migrated data folder: loading it takes half a second, making it takes four. */
async function migratedTemplate(): Promise<Blob> {
  const path = await kept('pglite.tar', async (partial) => {
    const pglite = await PGlite.create()
    const db = new Kysely<Database>({ dialect: new PGliteDialect({ pglite }) })
    await migrate(db)
    const dump = await pglite.dumpDataDir('none')
    await db.destroy()
    writeFileSync(partial, new Uint8Array(await dump.arrayBuffer()))
  })
  return openAsBlob(path)
}

/**
 * A file or folder that is made once per version of the migrations and kept beside the installed packages. Workers that
 * race for it make it twice, which does no harm.
 */
async function kept(name: string, make: (partial: string) => Promise<void>): Promise<string> {
  const folder = join(ROOT, 'node_modules/.cache/touchline')
  const path = join(folder, `${migrationsDigest()}-${name}`)
  if (existsSync(path)) return path
  mkdirSync(folder, { recursive: true })
  const partial = `${path}.${process.pid}`
  await make(partial)
  // The first one is kept: replacing it would break a worker that is loading it.
  if (!existsSync(path)) renameSync(partial, path)
  else rmSync(partial, { recursive: true })
  return path
}

function migrationsDigest(): string {
  const digest = createHash('sha256')
  const folder = join(ROOT, 'db/postgres')
  const paths = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((path) => path.endsWith('.sql'))
  for (const path of [...paths.toSorted(), 'migrate.ts', 'repeatable.ts'])
    digest.update(readFileSync(join(folder, path)))
  digest.update(createRequire(import.meta.url).resolve('@electric-sql/pglite'))
  return digest.digest('hex').slice(0, 16)
}
