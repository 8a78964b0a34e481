/**
 * The bundled page of an earlier start, kept beside the packages: bundling takes half a second. It is valid while every
 * file that it was made of has the size and the time that it had.
 */
import { mkdirSync, readdirSync, readFileSync, renameSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { deserialize, serialize } from 'node:v8'
import { z } from 'zod'

const ROOT = join(import.meta.dirname, '../..')
const KEPT = 'node_modules/.cache/touchline/page'
const MAKERS = ['src/http/page-bundle.ts', 'package-lock.json']

const Kept = z.object({
  sources: z.array(z.object({ path: z.string(), size: z.number(), changedAt: z.number() })),
  files: z.array(
    z.object({ name: z.string(), body: z.instanceof(Uint8Array<ArrayBuffer>), imports: z.array(z.string()) }),
  ),
  /** The name of the file made of each source that is asked for by name. */
  entries: z.record(z.string(), z.string()),
})
export type BundledPage = Omit<z.infer<typeof Kept>, 'sources'>

/** Null if there is none, if it cannot be read, or if it is of other sources than these. */
export function keptBundle(root = ROOT): BundledPage | null {
  try {
    const { sources, ...page } = Kept.parse(deserialize(readFileSync(join(root, KEPT))))
    const paths = sources.map(({ path }) => path)
    const now = new Map(sourcesOf(root, paths).map((one) => [one.path, one]))
    const isSame = (one: (typeof sources)[number]) =>
      now.get(one.path)?.size === one.size && now.get(one.path)?.changedAt === one.changedAt
    return now.size === sources.length && sources.every(isSame) ? page : null
  } catch {
    return null
  }
}

/** Keeps a page that was bundled of these files, where the packages can be written. */
export function keepBundle(page: BundledPage, inputs: readonly string[], root = ROOT): void {
  try {
    const partial = join(root, `${KEPT}.${process.pid}`)
    mkdirSync(dirname(partial), { recursive: true })
    writeFileSync(partial, serialize({ ...page, sources: sourcesOf(root, inputs) }))
    renameSync(partial, join(root, KEPT))
  } catch {
    // The next start bundles again.
  }
}

/** These files and all of the page's own: one that is added may belong to it. */
function sourcesOf(root: string, inputs: readonly string[]) {
  const own = readdirSync(join(root, 'src/web'), { recursive: true, encoding: 'utf8' }).map((name) => `src/web/${name}`)
  return [...new Set([...MAKERS, ...own, ...inputs])].map((path) => {
    const { size, mtimeMs } = statSync(join(root, path))
    return { path, size, changedAt: mtimeMs }
  })
}
