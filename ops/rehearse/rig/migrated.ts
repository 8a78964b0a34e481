/**
 * Databases that need no migrating: copies of one that is made once for each version of the migrations. Migrating takes
 * seconds, a copy tenths of one.
 */
import { existsSync, mkdirSync, mkdtempSync, openAsBlob, renameSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { PGlite } from '@electric-sql/pglite'
import { Kysely, PGliteDialect, sql } from 'kysely'
import { connect } from '../../../db/postgres/connect.ts'
import { connectEmbedded } from '../../../db/postgres/embedded.ts'
import { keptPath, packTemplate, schemaDigest, templatePath } from '../../../db/postgres/embedded-template.ts'
import { migrate } from '../../../db/postgres/migrate.ts'
import type { Database } from '../../../db/postgres/schema.ts'
import { copyDatabase, type ScratchDatabase, unlessThere } from './scratch-database.ts'

/** A new, migrated database of the server. What it is a copy of stays there. */
export async function createMigrated(server: string): Promise<ScratchDatabase> {
  const name = `touchline_template_${schemaDigest()}`
  await unlessThere(server, name, async (url) => {
    const connection = await connect({ databaseUrl: url, dataDir: null })
    await connection.withoutTimeout((db) => migrate(db))
    await connection.close()
  })
  const copy = await copyDatabase(server, name)
  const connection = await connect({ databaseUrl: copy.url, dataDir: null })
  await sql`update installation set id = default`.execute(connection.db)
  await connection.close()
  return copy
}

/** Makes the data folder with which new ones begin, unless there is one. */
export async function makeTemplate(): Promise<void> {
  await kept(templatePath(), async (partial) => {
    const folder = mkdtempSync(join(tmpdir(), 'touchline-template-'))
    const connection = await connectEmbedded(folder)
    await migrate(connection.db)
    // Half of the files: nothing makes another database in it.
    await sql`update pg_database set datistemplate = false`.execute(connection.db)
    for (const name of ['template0', 'template1']) await sql`drop database ${sql.id(name)}`.execute(connection.db)
    await connection.close()
    packTemplate(folder, partial)
    rmSync(folder, { recursive: true })
  })
}

/** A dumped, migrated data folder of the embedded database, to load. */
export async function migratedTemplate(): Promise<Blob> {
  const path = keptPath('pglite.tar')
  await kept(path, async (partial) => {
    const pglite = await PGlite.create()
    const db = new Kysely<Database>({ dialect: new PGliteDialect({ pglite }) })
    await migrate(db)
    const dump = await pglite.dumpDataDir('none')
    await db.destroy()
    writeFileSync(partial, new Uint8Array(await dump.arrayBuffer()))
  })
  return openAsBlob(path)
}

/** Makes a file or folder unless it is there. Workers that race for it make it twice, which does no harm. */
async function kept(path: string, make: (partial: string) => Promise<void>): Promise<void> {
  if (existsSync(path)) return
  mkdirSync(dirname(path), { recursive: true })
  const partial = `${path}.${process.pid}`
  await make(partial)
  // The first one is kept: replacing it would break a worker that is loading it.
  if (!existsSync(path)) renameSync(partial, path)
  else rmSync(partial, { recursive: true })
}
