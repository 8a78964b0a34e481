/**
 * A migrated data folder of the embedded database, packed and kept beside the installed packages. Making one takes
 * seconds and a gigabyte, unpacking it a tenth of a second. `npm ci` makes it.
 */
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { deserialize, serialize } from 'node:v8'
import { gunzipSync, gzipSync } from 'node:zlib'

const HERE = import.meta.dirname
/** The folder within a data folder that PGlite has for itself. */
export const PGLITE = 'pg'

/** What is kept of this version of the schema and of PGlite, with this name. */
export const keptPath = (name: string): string =>
  join(HERE, '../../node_modules/.cache/touchline', `${schemaDigest()}-${name}`)

export const templatePath = (): string => keptPath('pglite')

/** One file: a thousand small ones take a second to read from a disk. */
export function packTemplate(dataDir: string, path: string): void {
  const folder = join(dataDir, PGLITE)
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true }).map((entry) => {
    const whole = join(entry.parentPath, entry.name)
    return [whole.slice(folder.length + 1), entry.isDirectory() ? null : readFileSync(whole)] as const
  })
  const byPath = entries.toSorted(([a], [b]) => (a < b ? -1 : 1))
  writeFileSync(path, gzipSync(serialize(new Map(byPath)), { level: 1 }))
}

/**
 * Gives a data folder without a database a copy of the template. Returns false if it has one, or if there is no
 * template. Throws if that cannot be unpacked.
 */
export function copyTemplate(dataDir: string, template = templatePath()): boolean {
  const place = join(dataDir, PGLITE)
  if (existsSync(place) || !existsSync(template)) return false
  // A process that is killed meanwhile leaves no half of a database.
  const partial = `${place}.partial`
  rmSync(partial, { recursive: true, force: true })
  mkdirSync(partial, { mode: 0o700 })
  // A folder comes before what is in it.
  for (const [path, content] of unpacked(template)) {
    const to = join(partial, String(path))
    if (content instanceof Uint8Array) writeFileSync(to, content, { mode: 0o600 })
    else mkdirSync(to, { mode: 0o700 })
  }
  renameSync(partial, place)
  return true
}

function unpacked(template: string): ReadonlyMap<unknown, unknown> {
  try {
    const entries: unknown = deserialize(gunzipSync(readFileSync(template)))
    if (entries instanceof Map) return entries
    throw new Error('it holds something else')
  } catch (cause) {
    throw new Error(`${template} is not a packed data folder; delete it and start again`, { cause })
  }
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
