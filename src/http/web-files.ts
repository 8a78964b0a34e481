/**
 * The files of the page: the modules of `src/web` with their types blanked out by Node, and the packages they use,
 * below a path that contains a hash of them all. There is no build step, browsers cache the files permanently, and a
 * changed page has a new path. Nothing comes from other hosts, so the page works without the internet.
 */
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { readdir, readFile } from 'node:fs/promises'
import { findPackageJSON, stripTypeScriptTypes } from 'node:module'
import { dirname, extname, join, relative } from 'node:path'
import { promisify } from 'node:util'
import { brotliCompress, constants, gzip } from 'node:zlib'
import type { Encoding } from './compression.ts'
import { verifierFiles, ZOD_MODULE } from './verifier-files.ts'

export interface WebFile {
  /** Path below `base`. */
  readonly name: string
  readonly type: string
  readonly body: Uint8Array<ArrayBuffer>
}

export interface WebFiles {
  /** The path of this version of the page's files, `/web/<hash>`. */
  readonly base: string
  /** The page at `/`. It loads its files from `base`. */
  readonly page: WebFile
  /** The page at `/verify`, which proves matches. */
  readonly verifyPage: WebFile
  /** The hash of the inline script of both, for the content security policy. */
  readonly inlineScript: string
  /** The file of this name, or null. */
  find(name: string): WebFile | null
  /** All files but the page. */
  list(): readonly WebFile[]
  /** The file, compressed at the first call and kept. */
  compressed(file: WebFile, encoding: Encoding): Promise<Uint8Array<ArrayBuffer>>
}

const SOURCES = join(import.meta.dirname, '../web')
const PAGE = 'index.html'
const VERIFY_PAGE = 'verify.html'

/** Modules of packages by the name that imports use, also among each other. */
const PACKAGES: Readonly<Record<string, readonly [from: string, file: string]>> = {
  preact: ['preact', 'dist/preact.mjs'],
  'preact/hooks': ['preact', 'hooks/dist/hooks.mjs'],
  '@preact/signals-core': ['@preact/signals-core', 'dist/signals-core.mjs'],
  '@preact/signals': ['@preact/signals', 'dist/signals.mjs'],
  htm: ['htm', 'dist/htm.mjs'],
  'htm/preact': ['htm', 'preact/index.mjs'],
  'lightweight-charts': ['lightweight-charts', 'dist/lightweight-charts.standalone.production.mjs'],
}

/** Files of packages that a style sheet loads. */
const FONTS: Readonly<Record<string, readonly [from: string, file: string]>> = {
  'vendor/barlow-condensed-500.woff2': [
    '@fontsource/barlow-condensed',
    'files/barlow-condensed-latin-500-normal.woff2',
  ],
  'vendor/barlow-condensed-600.woff2': [
    '@fontsource/barlow-condensed',
    'files/barlow-condensed-latin-600-normal.woff2',
  ],
}

const TYPES: Readonly<Record<string, string>> = {
  '.css': 'text/css; charset=utf-8',
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.mjs': 'text/javascript; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.ts': 'text/javascript; charset=utf-8',
  '.webmanifest': 'application/manifest+json',
  '.woff2': 'font/woff2',
}

/** Facts that the page needs before its first request, in the element `#facts`. */
export interface PageFacts {
  /** True if the development routes are mounted: signing in takes just a name. */
  readonly devSignIn: boolean
  /** The client id at the identity provider. */
  readonly clientId: string
  /** The identity provider's sign-in page. */
  readonly authorizeUrl: string
}

/** Reads the files from the disk. Throws if a file or a package is missing. */
export async function loadWebFiles(facts: PageFacts): Promise<WebFiles> {
  const sources = await readSources()
  const packages = Object.entries(PACKAGES).map(([name, file]) => [vendorName(name), file] as const)
  const vendored = [...packages, ...Object.entries(FONTS)].map(([name, file]) => webFile(name, readPackaged(...file)))
  const verifier = [...(await verifierFiles(withoutTypes))].map(([name, text]) => webFile(name, text))
  const files = new Map([...sources, ...vendored, ...verifier].map((file) => [file.name, file]))

  const hash = createHash('sha256')
  for (const { name, body } of files.values()) hash.update(name).update(body)
  const base = `/web/${hash.digest('base64url').slice(0, 12)}`

  const importMap = JSON.stringify({
    imports: Object.fromEntries([
      ...Object.keys(PACKAGES).map((name) => [name, `${base}/${vendorName(name)}`]),
      ['zod', `${base}/${ZOD_MODULE}`],
    ]),
  })
  const template = await readFile(join(SOURCES, PAGE), 'utf8')
  const verifyTemplate = await readFile(join(SOURCES, VERIFY_PAGE), 'utf8')
  const values = { base, importMap, preloads: preloads(base, files.keys()), facts: escaped(JSON.stringify(facts)) }
  const html = filled(template, values)
  const [, inline = ''] = /<script type="importmap">([^]*?)<\/script>/.exec(html) ?? []
  const page = webFile(PAGE, html)

  const done = new Map<string, Promise<Uint8Array<ArrayBuffer>>>()
  return {
    base,
    page,
    verifyPage: webFile(VERIFY_PAGE, filled(verifyTemplate, values)),
    inlineScript: `sha256-${createHash('sha256').update(inline).digest('base64')}`,
    find: (name) => files.get(name) ?? null,
    list: () => [...files.values()],
    compressed: (file, encoding) => {
      const key = `${encoding} ${file.name}`
      const known = done.get(key) ?? COMPRESS[encoding](file.body)
      done.set(key, known)
      return known
    },
  }
}

async function readSources(): Promise<WebFile[]> {
  const entries = await readdir(SOURCES, { recursive: true, withFileTypes: true })
  const paths = entries
    .filter((entry) => entry.isFile() && extname(entry.name) in TYPES && !entry.name.endsWith('.html'))
    .map((entry) => join(entry.parentPath, entry.name))
    .toSorted()
  return Promise.all(
    paths.map(async (path) => {
      const text = await readFile(path, 'utf8')
      return webFile(relative(SOURCES, path).replaceAll('\\', '/'), path.endsWith('.ts') ? withoutTypes(text) : text)
    }),
  )
}

/**
 * Replaces types with spaces, so that lines and columns stay. Node warns at each call that the function is
 * experimental; the Node version is pinned, so the warning is silenced. `ts-blank-space` would do the same, but it
 * needs the compiler of TypeScript 6 at run time, 20 MB of a version that this project does not use.
 */
function withoutTypes(source: string): string {
  const usual = Object.getOwnPropertyDescriptor(process, 'emitWarning') ?? {}
  process.emitWarning = () => undefined
  try {
    return stripTypeScriptTypes(source).replaceAll(/[ \t]+$/gm, '')
  } finally {
    Object.defineProperty(process, 'emitWarning', usual)
  }
}

const vendorName = (module: string): string => `vendor/${module.replace('@', '').replaceAll('/', '-')}.mjs`

function readPackaged(name: string, file: string): Uint8Array<ArrayBuffer> {
  const home = findPackageJSON(name, import.meta.url)
  if (home === undefined) throw new Error(`the package ${name} is not installed; run npm ci`)
  return new Uint8Array(readFileSync(join(dirname(home), file)))
}

function webFile(name: string, body: string | Uint8Array<ArrayBuffer>): WebFile {
  const type = TYPES[extname(name)] ?? 'application/octet-stream'
  return { name, type, body: typeof body === 'string' ? new TextEncoder().encode(body) : body }
}

/** Preloads every module, so that the browser does not discover them one import after another. */
const preloads = (base: string, names: Iterable<string>): string =>
  [...names]
    .filter((name) => /\.(ts|mjs)$/.test(name) && !LATER.test(name))
    .map((name) => `<link rel="modulepreload" href="${base}/${name}" />`)
    .join('\n    ')

/** Modules of the control room, of the API page and of the verifier, which the start page does not need. */
const LATER = /^(control\/|root\/|docs\.ts$|verify\.ts$)/

const filled = (template: string, values: Readonly<Record<string, string>>): string =>
  template.replaceAll(/\{\{(\w+)\}\}/g, (_, name: string) => values[name] ?? '')

const escaped = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('"', '&quot;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')

const brotli = promisify(brotliCompress)
const zip = promisify(gzip)

/** Nearly as small as at the highest level, in a tenth of the time. */
const BROTLI = { params: { [constants.BROTLI_PARAM_QUALITY]: 9 } }

const COMPRESS: Readonly<Record<Encoding, (body: Uint8Array) => Promise<Uint8Array<ArrayBuffer>>>> = {
  br: async (body) => new Uint8Array(await brotli(body, BROTLI)),
  gzip: async (body) => new Uint8Array(await zip(body)),
}
