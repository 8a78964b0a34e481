/**
 * Makes the package for TypeScript and JavaScript, ready to publish, from the sources that the game's page uses:
 *
 *   npm run ops -- client-pack <folder>
 *
 * The folder gets package.json, README.md, ES modules and their declarations. It must not exist, or be empty.
 */
import { spawnSync } from 'node:child_process'
import { cp, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { findPackageJSON } from 'node:module'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { refuse } from '../rehearse/rig/options.ts'
import { describedApi } from './described.ts'
import { operationsModule, schemaTypes } from './typescript-types.ts'

const ROOT = join(import.meta.dirname, '../..')
const PAGE_SOURCES = join(ROOT, 'src/web/client')
const PACKAGE_SOURCES = join(ROOT, 'src/clients/typescript')
const TSC = join(dirname(findPackageJSON('typescript', import.meta.url) ?? ''), 'bin/tsc')

const COMPILER_OPTIONS = {
  target: 'es2024',
  lib: ['es2024', 'dom', 'dom.iterable'],
  module: 'nodenext',
  types: [],
  strict: true,
  exactOptionalPropertyTypes: true,
  noUncheckedIndexedAccess: true,
  verbatimModuleSyntax: true,
  rewriteRelativeImportExtensions: true,
  declaration: true,
}

const packageJson = (version: string) => ({
  name: 'touchline-client',
  version,
  description: 'Client of the Touchline API: REST, live prices and account events, in Node, browsers and Deno',
  license: 'UNLICENSED',
  type: 'module',
  sideEffects: false,
  engines: { node: '>=22' },
  exports: {
    '.': { types: './dist/index.d.ts', default: './dist/index.js' },
    './operations': { types: './dist/operations.d.ts', default: './dist/operations.js' },
  },
  files: ['dist'],
})

/** Writes the package. Throws if the sources do not fit the description of the API. */
async function pack(folder: string): Promise<void> {
  await mkdir(folder, { recursive: true })
  if ((await readdir(folder)).length > 0) refuse(`${folder} is not empty`)
  const described = await describedApi()
  const sources = await mkdtemp(join(tmpdir(), 'touchline-client-'))
  try {
    for (const from of [PAGE_SOURCES, PACKAGE_SOURCES]) {
      for (const name of (await readdir(from)).filter((one) => one.endsWith('.ts'))) {
        const text = await readFile(join(from, name), 'utf8')
        await writeFile(join(sources, name), text.replaceAll('../../web/client/', './'))
      }
    }
    await writeFile(join(sources, 'schema-types.ts'), schemaTypes(described))
    await writeFile(join(sources, 'operations.ts'), operationsModule(described))
    const compilerOptions = { ...COMPILER_OPTIONS, rootDir: sources, outDir: join(folder, 'dist') }
    await writeFile(join(sources, 'package.json'), '{"type":"module"}')
    await writeFile(join(sources, 'tsconfig.json'), JSON.stringify({ compilerOptions, include: ['*.ts'] }))
    const { status, stdout } = spawnSync(process.execPath, [TSC, '-p', sources], { encoding: 'utf8' })
    if (status !== 0) throw new Error(`the client does not compile:\n${stdout}`)
    for (const name of (await readdir(compilerOptions.outDir)).filter((one) => one.endsWith('.d.ts'))) {
      const file = join(compilerOptions.outDir, name)
      await writeFile(file, (await readFile(file, 'utf8')).replaceAll(/(from '\.\/[\w-]+)\.ts'/g, "$1.js'"))
    }
  } finally {
    await rm(sources, { recursive: true })
  }
  await writeFile(join(folder, 'package.json'), `${JSON.stringify(packageJson(described.version), null, 2)}\n`)
  await cp(join(PACKAGE_SOURCES, 'README.md'), join(folder, 'README.md'))
}

const [given] = process.argv.slice(2)
if (given === undefined) {
  console.error('usage: npm run ops -- client-pack <folder>')
  process.exit(2)
}
const folder = resolve(given)
await pack(folder)
console.log(`The package is in ${folder}. To publish it: npm publish ${folder}`)
process.exit()
