/**
 * Databases that need no migrating: copies of one that is made once for each version of the migrations. Migrating takes
 * seconds, a copy tenths of one.
 */
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
import { Kysely, PGliteDialect, sql } from 'kysely'
import { connect, connectEmbedded } from '../../../db/postgres/connect.ts'
import { migrate } from '../../../db/postgres/migrate.ts'
import type { Database } from '../../../db/postgres/schema.ts'
import { copyDatabase, type ScratchDatabase, unlessThere } from './scratch-database.ts'

const ROOT = join(import.meta.dirname, '../../..')

/** A new, migrated database of the server. What it is a copy of stays there. */
export async function createMigrated(server: string): Promise<ScratchDatabase> {
  const name = `touchline_template_${migrationsDigest()}`
  await unlessThere(server, name, async (url) => {
    const connection = await connect({ databaseUrl: url, dataDir: null })
    await connection.withoutTimeout((db) => migrate(db))
    await connection.close()
  })
  const template = new URL(server)
  template.pathname = `/${name}`
  const copy = await copyDatabase(server, template.href)
  const connection = await connect({ databaseUrl: copy.url, dataDir: null })
  await sql`update installation set id = default`.execute(connection.db)
  await connection.close()
  return copy
}

/** Puts a migrated embedded database into a data folder. */
export async function putMigrated(dataDir: string): Promise<void> {
  const path = await kept('pglite', async (partial) => {
    const connection = await connectEmbedded(partial, await migratedTemplate())
    await connection.close()
  })
  cpSync(path, dataDir, { recursive: true })
}

/** A dumped, migrated data folder of the embedded database, to load. */
export async function migratedTemplate(): Promise<Blob> {
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
