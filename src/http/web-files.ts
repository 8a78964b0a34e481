/** The pages at `/` and `/verify`, the files they load, and what makes the first an app that can be installed. */
import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { extname, join } from 'node:path'
import { promisify } from 'node:util'
import { brotliCompress, constants, gzip } from 'node:zlib'
import type { Encoding } from './compression.ts'
import { type Bundled, pageBundle } from './page-bundle.ts'

export interface WebFile {
  /** Path below `/web`, or below `/` for the pages, the manifest and the worker. */
  readonly name: string
  readonly type: string
  readonly body: Uint8Array<ArrayBuffer>
}

export interface WebFiles {
  /** The page at `/`. */
  readonly page: WebFile
  /** The same page under an address that people share, which apps show with this title and text. */
  shared(share: Share): string
  /** The page at `/verify`, which proves matches. */
  readonly verifyPage: WebFile
  /** What a browser sees at an unknown address. */
  readonly lostPage: WebFile
  /** What an installed page is called, and its pictures. */
  readonly manifest: WebFile
  /** The service worker: it keeps what the page needs to start without a network. */
  readonly worker: WebFile
  /** The address of the file made of this one in `src/web`. */
  readonly address: (source: string) => string
  /** The file of this name below `/web`, or null. */
  find(name: string): WebFile | null
  /** All files below `/web`. */
  list(): readonly WebFile[]
  /** The file, compressed at the first call and kept. */
  compressed(file: WebFile, encoding: Encoding): Promise<Uint8Array<ArrayBuffer>>
}

/** How other apps show a link to the page. */
export interface Share {
  readonly title: string
  readonly text: string
  /** The path of its own picture. */
  readonly picture?: string
}

/** What is shown beside any invitation. */
export const INVITED: Share = {
  title: 'You are invited to Touchline',
  text: 'Go long or short on footballers while they play. You start with 10,000 units. No money is involved.',
}
const SHARE: Share = { title: 'Touchline', text: 'Go long or short on footballers while they play.' }

const SOURCES = join(import.meta.dirname, '../web')
/** The address below which the page's files are. */
export const WEB_BASE = '/web'

const TYPES: Readonly<Record<string, string>> = {
  '.css': 'text/css; charset=utf-8',
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.png': 'image/png',
  '.svg': 'image/svg+xml',
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

/**
 * Bundles the files. Pictures of shared links are below `origin`, because other apps ask for nothing else. Throws if a
 * file or a package is missing.
 */
export async function loadWebFiles(facts: PageFacts, origin: string): Promise<WebFiles> {
  const bundle = await pageBundle()
  const files = new Map(bundle.files.map(({ name, body }) => [name, webFile(name, body)]))
  const address = (source: string) => at(bundle.of(source))

  const main = bundle.of('main.ts')
  // A browser keeps nothing of a list that names a file twice.
  const named = new Set([
    ...['main.ts', 'style.css', 'game.ts', 'words/es.ts', 'icon.svg']
      .map((name) => bundle.of(name))
      .flatMap(({ name, imports }) => [name, ...imports]),
    ...[...files.keys()].filter((name) => name.endsWith('.woff2')),
  ])
  const shell = Array.from(named, (name) => `${WEB_BASE}/${name}`)
  const values = (name: string): string => {
    if (name === 'facts') return escaped(JSON.stringify(facts))
    if (name === 'share') return SHARE_HERE
    if (name === 'preloads') return main.imports.map(preload).join('\n    ')
    return address(name)
  }
  const template = async (name: string): Promise<WebFile> => {
    const text = await readFile(join(SOURCES, name), 'utf8')
    return webFile(
      name,
      text.replaceAll(/\{\{([\w.-]+)\}\}/g, (_, value: string) => values(value)),
    )
  }
  const first = await template('index.html')
  const shared = (share: Share): string =>
    new TextDecoder()
      .decode(first.body)
      .replace(SHARE_HERE, () => shareTags(share, origin + (share.picture ?? address('preview.png'))))
  const page = webFile(first.name, shared(SHARE))
  // What stays the same has the same version: the browser then keeps its worker.
  const version = createHash('sha256').update(page.body).update(shell.join()).digest('base64url').slice(0, 12)
  const worker = new TextDecoder().decode(bundle.of('worker.ts').body)
  const settings = JSON.stringify({ version, shell })

  const done = new Map<string, Promise<Uint8Array<ArrayBuffer>>>()
  return {
    page,
    shared,
    verifyPage: await template('verify.html'),
    lostPage: await template('lost.html'),
    manifest: await template('app.webmanifest'),
    worker: webFile('worker.js', `self.SHELL=${settings};${worker}`),
    address,
    find: (name) => files.get(name) ?? null,
    list: () => [...files.values()],
    compressed: (file, encoding) => {
      const key = `${encoding} ${file.name}`
      const known = done.get(key)
      if (known !== undefined) return known
      const made = COMPRESS[encoding](file.body)
      done.set(key, made)
      made.catch(() => done.delete(key)) // the next visitor tries again
      return made
    },
  }
}

/** Where the first template leaves room for them. */
const SHARE_HERE = '<!-- share -->'

const shareTags = ({ title, text }: Share, picture: string): string =>
  [
    `<title>${escaped(title)}</title>`,
    `<meta name="description" content="${escaped(text)}" />`,
    `<meta property="og:title" content="${escaped(title)}" />`,
    `<meta property="og:description" content="${escaped(text)}" />`,
    `<meta property="og:image" content="${escaped(picture)}" />`,
    '<meta property="og:image:width" content="1200" />',
    '<meta property="og:image:height" content="630" />',
    '<meta name="twitter:card" content="summary_large_image" />',
  ].join('\n    ')

const at = ({ name }: Pick<Bundled, 'name'>): string => `${WEB_BASE}/${name}`

/** So that the browser does not discover one import after another. */
const preload = (name: string): string => `<link rel="modulepreload" href="${at({ name })}" />`

function webFile(name: string, body: string | Uint8Array<ArrayBuffer>): WebFile {
  const type = TYPES[extname(name)] ?? 'application/octet-stream'
  return { name, type, body: typeof body === 'string' ? new TextEncoder().encode(body) : body }
}

const escaped = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('"', '&quot;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')

const brotli = promisify(brotliCompress)
const zip = promisify(gzip)

/** Once for each file that is asked for, in another thread: 0.3 s for all of a first visit. */
const BROTLI = { params: { [constants.BROTLI_PARAM_QUALITY]: 11 } }

const COMPRESS: Readonly<Record<Encoding, (body: Uint8Array) => Promise<Uint8Array<ArrayBuffer>>>> = {
  br: async (body) => new Uint8Array(await brotli(body, BROTLI)),
  gzip: async (body) => new Uint8Array(await zip(body)),
}
