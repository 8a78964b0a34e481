/**
 * The modules of the verifier for browsers: `src/verify` and everything that it imports, the rules themselves included,
 * so that what proves a match in a browser is the code that priced it.
 */
import { readFile } from 'node:fs/promises'
import { findPackageJSON } from 'node:module'
import { dirname, join, posix, relative } from 'node:path'

const ROOT = join(import.meta.dirname, '../..')
/** The folders below the base of the page: modules keep their places relative to each other. */
const [OWN, ZOD] = ['root', 'vendor/zod']

const VERIFIER = `${OWN}/src/verify/verify.ts`
/** What the bare name `zod` means to the page. */
export const ZOD_MODULE = `${ZOD}/index.js`

const IMPORT = /(?:^|[;}\s])(?:import|from)\s*["'](\.{1,2}\/[^"']+)["']/g

/** Names below the base of the page, and texts. Throws if a file is missing. */
export async function verifierFiles(withoutTypes: (source: string) => string): Promise<ReadonlyMap<string, string>> {
  const zod = findPackageJSON('zod', import.meta.url)
  if (zod === undefined) throw new Error('the package zod is not installed; run npm ci')
  const files = new Map<string, string>()
  const collect = async (name: string, read: (name: string) => Promise<string>): Promise<void> => {
    if (files.has(name)) return
    files.set(name, '')
    const text = await read(name)
    files.set(name, text)
    const imported = [...text.matchAll(IMPORT)].map(([, specifier = '']) => posix.join(posix.dirname(name), specifier))
    await Promise.all(imported.map((next) => collect(next, read)))
  }
  const placed = (folder: string, at: string) => (name: string) => readFile(join(at, relative(folder, name)), 'utf8')
  await collect(VERIFIER, async (name) => withoutTypes(await placed(OWN, ROOT)(name)))
  await collect(ZOD_MODULE, placed(ZOD, dirname(zod)))
  return files
}
