/**
 * A migrated data folder of the embedded database, kept beside the installed packages. Making one takes seconds and a
 * gigabyte, a copy a tenth of a second. `npm ci` makes it.
 */
import { createHash } from 'node:crypto'
import { cpSync, existsSync, readdirSync, readFileSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const HERE = import.meta.dirname
/** The folder within a data folder that PGlite has for itself. */
export const PGLITE = 'pg'

/** What is kept of this version of the schema and of PGlite, with this name. */
export const keptPath = (name: string): string =>
  join(HERE, '../../node_modules/.cache/touchline', `${schemaDigest()}-${name}`)

export const templatePath = (): string => keptPath('pglite')

/** Gives a data folder without a database a copy of the template. Returns false if it has one, or if no template is. */
export function copyTemplate(dataDir: string): boolean {
  const place = join(dataDir, PGLITE)
  if (existsSync(place)) return false
  const template = join(templatePath(), PGLITE)
  if (!existsSync(template)) return false
  // A process that is killed meanwhile leaves no half of a database.
  const partial = `${place}.partial`
  rmSync(partial, { recursive: true, force: true })
  cpSync(template, partial, { recursive: true })
  renameSync(partial, place)
  return true
}

/** Changes with everything that makes a schema, and with the version of PGlite. */
export function schemaDigest(): string {
  const digest = createHash('sha256')
  const paths = readdirSync(HERE, { recursive: true, encoding: 'utf8' }).filter((path) => path.endsWith('.sql'))
  for (const path of [...paths.toSorted(), 'migrate.ts', 'repeatable.ts']) digest.update(readFileSync(join(HERE, path)))
  const pglite = fileURLToPath(import.meta.resolve('@electric-sql/pglite'))
  digest.update(readFileSync(join(pglite, '../../package.json')))
  return digest.digest('hex').slice(0, 16)
}
