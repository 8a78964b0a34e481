/** The list of what features add to the page. */
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'

const FOLDER = join(import.meta.dirname, '../../src/web/features')

const HEAD = `\
/** Every feature of the page: the folders beside this file, by name. Written by \`npm run ops -- client-generate\`. */
import type { PageFeature } from './feature.ts'
`

/** The text of `src/web/features/index.ts`: an import for each folder there, in the order of their names. */
export async function pageFeatures(): Promise<string> {
  const entries = await readdir(FOLDER, { withFileTypes: true })
  const folders = entries.flatMap((entry) => (entry.isDirectory() ? [entry.name] : [])).toSorted()
  const imports = folders.map((folder) => `import { ${camel(folder)} } from './${folder}/index.ts'\n`)
  return `${HEAD}${imports.join('')}
export const PAGE_FEATURES: readonly PageFeature[] = [
${folders.map((folder) => `  ${camel(folder)},\n`).join('')}]
`
}

const camel = (name: string): string => name.replaceAll(/-(\w)/g, (_, letter: string) => letter.toUpperCase())
