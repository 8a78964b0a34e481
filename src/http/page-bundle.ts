/**
 * The files of the page, bundled by esbuild when the server starts after a change of them: nothing is built by hand,
 * and a page that is opened for the first time asks for a handful of files. Their names contain a hash of their
 * content, so browsers keep them for ever, and a release changes only the names of what it changed.
 */
import { glob, readFile } from 'node:fs/promises'
import { dirname, join, posix, relative } from 'node:path'
import type { BuildOptions, Plugin } from 'esbuild'
import { type BundledPage, keepBundle, keptBundle } from './kept-bundle.ts'

/** A bundled file. */
export interface Bundled {
  /** With a hash, below the address of the page's files. */
  readonly name: string
  readonly body: Uint8Array<ArrayBuffer>
  /** The names of the modules that it imports at once, directly or not. */
  readonly imports: readonly string[]
}

export interface PageBundle {
  /** Every file. */
  readonly files: readonly Bundled[]
  /** The file with what this one in `src/web` does: an entry point, or loaded on demand. Else throws. */
  of(source: string): Bundled
}

const ROOT = join(import.meta.dirname, '../..')
const WEB = 'src/web'
/** Bundled apart from the rest: a module that it shared with another page would be a file of its own. */
const MAIN = ['main.ts']
/** What else a page, a manifest or a browser itself asks for by name. */
const OTHERS = [
  'docs.ts',
  'verify.ts',
  'worker.ts',
  'style.css',
  'docs.css',
  'verify.css',
  'icon.svg',
  'icon-180.png',
  'icon-192.png',
  'icon-512.png',
  'icon-maskable.png',
  'preview.png',
]

/** Templates keep their line breaks, as HTML needs no more: the indentation was a twelfth of the page's own code. */
const unindented = async (path: string): Promise<string> => (await readFile(path, 'utf8')).replaceAll(/\n[ \t]+/g, '\n')

const templates: Plugin = {
  name: 'templates',
  setup: (bundler) => {
    bundler.onLoad({ filter: /\/src\/web\/.*\.ts$/ }, async ({ path }) => ({
      contents: await unindented(path),
      loader: 'ts',
    }))
  },
}

const LATER = 'later'
const GAME = join(ROOT, WEB, 'game.ts')
const WORDS = join(ROOT, WEB, 'words')
/** Of what loads on demand, what is asked for by name: a page that starts without a network needs it. */
const LATE = ['game.ts', 'words/es.ts']
/**
 * Modules that the page loads on demand. A module that two files need is a file of its own for each pair of them: the
 * door would be ten files. What loads later therefore imports all of what is there by then, which costs nothing. Such a
 * module is imported in no other way, or it would be there twice.
 */
const later: Plugin = {
  name: LATER,
  setup: (bundler) => {
    bundler.onResolve({ filter: /\.ts$/ }, ({ kind, path, resolveDir }) => {
      const whole = join(resolveDir, path)
      return kind === 'dynamic-import' || whole === GAME ? { path: whole, namespace: LATER } : null
    })
    bundler.onLoad({ filter: /./, namespace: LATER }, async ({ path }) => {
      const text = await unindented(path)
      // Words come before everything.
      const before = path.startsWith(WORDS) ? null : path === GAME ? './main.ts' : `./${relative(dirname(path), GAME)}`
      const first = before === null ? '' : `import ${JSON.stringify(before)};`
      return { contents: first + text, loader: 'ts', resolveDir: dirname(path) }
    })
  },
}

/** The styles of all features, in the order of their names. */
const styles: Plugin = {
  name: 'styles',
  setup: (bundler) => {
    bundler.onResolve({ filter: /\*/ }, ({ path, resolveDir }) => ({
      path,
      namespace: 'styles',
      pluginData: resolveDir,
    }))
    bundler.onLoad({ filter: /./, namespace: 'styles' }, async ({ path, pluginData: resolveDir }) => {
      const found = (await Array.fromAsync(glob(path, { cwd: resolveDir }))).toSorted()
      const contents = found.map((file) => `@import ${JSON.stringify(`./${file}`)};`).join('')
      return { contents, loader: 'css', resolveDir }
    })
  },
}

const OPTIONS = {
  absWorkingDir: ROOT,
  outbase: WEB,
  outdir: 'out',
  entryNames: '[name]-[hash]',
  chunkNames: '[name]-[hash]',
  assetNames: '[name]-[hash]',
  bundle: true,
  splitting: true,
  format: 'esm',
  target: ['es2023', 'safari17.4'],
  minify: true,
  loader: { '.svg': 'copy', '.png': 'copy', '.woff2': 'file' },
  metafile: true,
  write: false,
  logLevel: 'silent',
} as const satisfies BuildOptions

let made: Promise<PageBundle> | null = null

/** Made once for a process. Throws if a file is missing or is not valid. */
export const pageBundle = (): Promise<PageBundle> => (made ??= open())

async function open(): Promise<PageBundle> {
  const { files, entries } = keptBundle() ?? (await bundle())
  return {
    files,
    of: (source) => {
      const file = files.find(({ name }) => name === entries[source])
      if (file === undefined) throw new Error(`${WEB}/${source} is not an entry point of the page`)
      return file
    },
  }
}

async function bundle(): Promise<BundledPage> {
  const { build, stop } = await import('esbuild')
  const built = await Promise.all(
    [
      { names: MAIN, plugins: [later, templates] },
      { names: OTHERS, plugins: [styles] },
    ].map(({ names, plugins }) => build({ ...OPTIONS, plugins, entryPoints: names.map((name) => `${WEB}/${name}`) })),
  )
  await stop() // ends the program that has built
  const inputs = new Set(built.flatMap(({ metafile }) => Object.keys(metafile.inputs)))
  const twice = [...inputs].find((name) => inputs.has(name.replace(`${LATER}:${ROOT}/`, '')) && name.startsWith(LATER))
  if (twice !== undefined) throw new Error(`${twice} is imported at once and on demand: choose one`)
  const outputFiles = built.flatMap((one) => one.outputFiles)
  const bodies = new Map(outputFiles.map(({ path, contents }) => [posix.basename(path), new Uint8Array(contents)]))
  const outputs = built
    .flatMap(({ metafile }) => Object.entries(metafile.outputs))
    .map(([path, output]) => ({ name: posix.basename(path), output }))
  const byName = new Map(outputs.map(({ name, output }) => [name, output]))
  const importsOf = (name: string, known = new Set<string>()): ReadonlySet<string> => {
    for (const { path, kind } of byName.get(name)?.imports ?? []) {
      const imported = posix.basename(path)
      if (kind !== 'import-statement' || known.has(imported)) continue
      known.add(imported)
      importsOf(imported, known)
    }
    return known
  }
  const files = outputs.map(({ name }) => ({
    name,
    body: bodies.get(name) ?? new Uint8Array(),
    imports: [...importsOf(name)],
  }))
  const of = (path: string) => {
    const names = [path, `${LATER}:${join(ROOT, path)}`]
    const entry = outputs.find(({ output: one }) => names.includes(one.entryPoint ?? '') || copied(one, path))
    // Where other files need what the entry point is made of, it only imports the file with it.
    const isEmpty = Object.keys(entry?.output.inputs ?? {}).length === 0 && entry?.output.exports.length === 0
    return isEmpty ? outputs.find(({ output: one }) => path in one.inputs)?.name : entry?.name
  }
  const sources = [...MAIN, ...OTHERS, ...LATE]
  const entries = Object.fromEntries(sources.map((source) => [source, of(`${WEB}/${source}`) ?? '']))
  const page = { files, entries }
  const isFile = (name: string) => !name.includes(':')
  keepBundle(page, [...inputs].filter(isFile))
  return page
}

/** Copied files have no entry point in esbuild's description. */
const copied = ({ inputs }: { readonly inputs: object }, path: string): boolean => {
  const [only, ...others] = Object.keys(inputs)
  return only === path && others.length === 0
}
