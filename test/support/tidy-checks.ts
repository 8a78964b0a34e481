/** The checks of the repository itself. Each takes its files as data and reports where a problem is and what to do. */
import { posix } from 'node:path'
import { codeOf, exportsOf, type Import, importsOf, lineOf, stringsOf } from './source-text.ts'

/** Path from the root → text. */
export type Files = ReadonlyMap<string, string>

interface Floor {
  /** The folder or file it applies to; the longest match counts. */
  readonly at: string
  /** Folders and files it may import. */
  readonly code: readonly string[]
  /** Folders and files it may import as types only. */
  readonly types?: readonly string[]
  /** Packages it may import; `node:` stands for all of Node's own modules. */
  readonly packages: readonly string[]
}

const SHARED_IN_ROOMS: readonly string[] = ['rooms/report.ts', 'rooms/stats.ts']
const SOCKET_PACKAGES: readonly string[] = ['@colyseus/core', '@colyseus/ws-transport', 'ws', 'zod', 'node:']
const ROOM_PACKAGES: readonly string[] = [
  '@colyseus/core',
  '@colyseus/schema',
  '@colyseus/ws-transport',
  'ws',
  'zod',
  'node:',
]

/** The allowed imports. ARCHITECTURE.md draws them; this list enforces them. */
export const FLOORS: readonly Floor[] = [
  { at: 'actors/kernel/', code: ['actors/kernel/'], packages: [] },
  { at: 'actors/market/', code: ['actors/kernel/', 'actors/market/'], packages: [] },
  // The only package of the game: what other floors read from messages and files.
  { at: 'actors/codec/', code: ['actors/kernel/', 'actors/market/', 'actors/codec/'], packages: ['zod'] },
  { at: 'actors/community/', code: ['actors/kernel/', 'actors/position/', 'actors/community/'], packages: [] },
  { at: 'actors/position/', code: ['actors/kernel/', 'actors/market/', 'actors/position/'], packages: [] },
  {
    at: 'actors/match/',
    code: ['actors/kernel/', 'actors/market/', 'actors/community/', 'actors/position/', 'actors/match/'],
    packages: [],
  },
  {
    at: 'actors/tape/',
    code: ['actors/kernel/', 'actors/market/', 'actors/position/', 'actors/match/', 'actors/tape/'],
    packages: [],
  },
  { at: 'actors/integrity/', code: ['actors/kernel/', 'actors/integrity/'], packages: [] },
  { at: 'actors/replay/', code: ['actors/'], packages: [] },
  {
    at: 'db/postgres/',
    code: ['actors/', 'db/faults.ts', 'db/postgres/'],
    packages: ['kysely', 'pg', '@electric-sql/pglite', 'node:'],
  },
  {
    at: 'db/fast/',
    code: ['actors/', 'db/faults.ts', 'db/fast/'],
    packages: ['ioredis', 'node:'],
  },
  { at: 'db/', code: ['actors/', 'db/'], packages: ['kysely', 'pg', 'ioredis', 'node:'] },
  // The inner floors of rooms: sources → match → cluster → feed → sockets, never the other way.
  { at: 'rooms/sockets/', code: ['actors/', 'rooms/sockets/', ...SHARED_IN_ROOMS], packages: SOCKET_PACKAGES },
  {
    at: 'rooms/feed/',
    code: ['actors/', 'rooms/feed/', 'rooms/sockets/', ...SHARED_IN_ROOMS],
    packages: SOCKET_PACKAGES,
  },
  {
    at: 'rooms/cluster/',
    code: ['actors/', 'rooms/cluster/', 'rooms/feed/', 'rooms/sockets/', ...SHARED_IN_ROOMS],
    packages: ['zod', 'node:'],
  },
  {
    at: 'rooms/match/',
    code: ['actors/', 'rooms/match/', 'rooms/cluster/', 'rooms/feed/', 'rooms/sockets/', ...SHARED_IN_ROOMS],
    packages: ROOM_PACKAGES,
  },
  {
    at: 'rooms/sources/',
    code: ['actors/', 'rooms/sources/', 'rooms/match/', ...SHARED_IN_ROOMS],
    packages: ['@colyseus/core', 'node:'],
  },
  { at: 'rooms/', code: ['actors/', 'rooms/'], packages: ROOM_PACKAGES },
  {
    at: 'src/auth/',
    code: ['actors/', 'src/auth/'],
    types: ['db/', 'rooms/', 'src/'],
    packages: ['jose', 'nodemailer', 'zod', 'node:'],
  },
  {
    at: 'src/provider/',
    code: ['actors/', 'src/provider/'],
    types: ['db/', 'rooms/', 'src/'],
    packages: ['zod', 'node:'],
  },
  // What proves a match uses the game's rules and the provider's parser, and nothing of the server. Browsers run it.
  { at: 'src/verify/', code: ['actors/', 'src/provider/', 'src/verify/'], packages: [] },
  { at: 'src/reactions/', code: ['actors/', 'src/reactions/'], types: ['db/', 'rooms/', 'src/'], packages: ['node:'] },
  {
    at: 'src/http/',
    code: ['actors/', 'src/auth/', 'src/docs/', 'src/http/'],
    types: ['db/', 'rooms/', 'src/'],
    packages: ['hono', '@hono/zod-openapi', 'zod', 'node:'],
  },
  { at: 'src/http/page-bundle.ts', code: ['src/http/kept-bundle.ts'], packages: ['esbuild', 'node:'] },
  // Its SQL, its routes and its tasks stand beside each other.
  {
    at: 'src/features/',
    code: ['actors/', 'db/', 'src/'],
    types: ['rooms/'],
    packages: ['hono', '@hono/zod-openapi', 'kysely', 'zod', 'node:'],
  },
  { at: 'src/features/push/sender.ts', code: ['src/features/push/'], types: ['db/'], packages: ['web-push', 'node:'] },
  {
    at: 'src/features/share-picture.ts',
    code: [],
    packages: ['@resvg/resvg-js', 'node:'],
  },
  {
    at: 'src/docs/',
    code: ['actors/', 'src/auth/', 'src/docs/', 'src/http/'],
    types: ['db/', 'rooms/', 'src/'],
    packages: ['hono', '@hono/zod-openapi', 'zod', 'node:'],
  },
  {
    at: 'src/replays/',
    code: ['actors/', 'src/match-run/', 'src/replays/'],
    types: ['db/', 'rooms/', 'src/'],
    packages: ['zod', 'node:'],
  },
  // The browser imports the wire formats of the server, and nothing else.
  {
    at: 'src/web/',
    code: ['src/web/'],
    types: [
      'actors/tape/',
      'src/http/schemas.ts',
      'src/http/account-schemas.ts',
      'src/http/admin-schemas.ts',
      'src/http/close-schema.ts',
      'src/http/recording-schema.ts',
      'src/http/user-schema.ts',
      'src/features/',
      'src/verify/',
    ],
    packages: ['preact', '@preact/signals', 'htm', 'lightweight-charts', 'zod'],
  },
  // It runs a match again with the rules of the game themselves.
  { at: 'src/web/verify.ts', code: ['actors/tape/', 'src/verify/'], packages: ['zod'] },
  // Clients for other programs; the one in TypeScript is the page's own.
  { at: 'src/clients/', code: ['src/clients/', 'src/web/client/'], packages: [] },
  { at: 'src/', code: ['actors/', 'src/'], types: ['db/', 'rooms/'], packages: ['zod', 'node:'] },
  {
    at: 'src/observe/',
    code: ['actors/', 'src/observe/'],
    types: ['db/', 'rooms/', 'src/'],
    packages: ['prom-client', 'node:'],
  },
  {
    at: 'src/http-server.ts',
    code: ['src/', 'rooms/sockets/refusal-text.ts'],
    types: ['src/'],
    packages: ['@hono/node-server', 'node:'],
  },
  {
    at: 'src/observe/tracing.ts',
    code: ['actors/', 'src/'],
    packages: [
      '@opentelemetry/api',
      '@opentelemetry/core',
      '@opentelemetry/exporter-trace-otlp-http',
      '@opentelemetry/resources',
      '@opentelemetry/sdk-trace',
    ],
  },
  { at: 'src/compose/', code: ['actors/', 'db/', 'rooms/', 'src/'], packages: ['node:'] },
  { at: 'src/main.ts', code: ['src/'], packages: ['node:'] },
  // It tests a deployment from outside, so it imports only what starts the program.
  {
    at: 'ops/rehearse/conformance/',
    code: ['ops/rehearse/conformance/'],
    packages: ['@colyseus/sdk', '@electric-sql/pglite', 'jose', 'pg', 'smtp-server', 'ws', 'zod', 'node:'],
  },
]

/** Started from outside, so no file imports them: by package.json or by the test runner. */
export const ENTRY_POINTS: readonly string[] = [
  'ops/main.ts',
  'ops/prepare.ts',
  'ops/tools/market/worker.ts',
  'ops/verify/main.ts',
  'src/clients/typescript/index.ts',
  'src/main.ts',
  'src/web/docs.ts',
  'src/features/uploads/check-worker.ts',
  'src/features/what-if/worker.ts',
  'src/web/main.ts',
  'src/web/verify.ts',
  'src/web/worker.ts',
  'test/market/run.ts',
  'test/support/http-ece.d.ts',
  'test/support/processor-time.ts',
  'vitest.config.ts',
]

const PRODUCT = /^(actors|db|rooms|src)\//
const isSource = (path: string): boolean => path.endsWith('.ts')
const isTest = (path: string): boolean => path.startsWith('test/')
export const isEntryPoint = (path: string): boolean => ENTRY_POINTS.includes(path) || path.endsWith('.test.ts')

const within = (path: string, places: readonly string[]): boolean =>
  places.some((place) => (place.endsWith('/') ? path.startsWith(place) : path === place))

/** The file a relative import means. */
const target = (from: string, specifier: string): string => posix.join(posix.dirname(from), specifier)
const isOwn = (specifier: string): boolean => specifier.startsWith('.')

function* sources(files: Files, wanted: (path: string) => boolean = () => true): Generator<[string, string]> {
  for (const [path, text] of files) if (isSource(path) && wanted(path)) yield [path, text]
}

export function floors(files: Files): string[] {
  const problems: string[] = []
  for (const [path, text] of sources(files, (p) => PRODUCT.test(p) || p.startsWith('ops/rehearse/conformance/'))) {
    const floor = FLOORS.filter((f) => within(path, [f.at])).toSorted((a, b) => b.at.length - a.at.length)[0]
    if (floor === undefined) {
      problems.push(`${path}: is on no floor; give its folder a line in FLOORS (test/support/tidy-checks.ts)`)
      continue
    }
    for (const found of importsOf(text)) {
      const problem = isOwn(found.specifier) ? strangeCode(path, floor, found) : strangePackage(floor, found)
      if (problem !== null) problems.push(`${path}:${found.line}: ${problem}`)
    }
  }
  return problems
}

function strangeCode(path: string, floor: Floor, found: Import): string | null {
  const imported = target(path, found.specifier)
  if (within(imported, floor.code)) return null
  if (!within(imported, floor.types ?? [])) {
    return `${floor.at} may not import ${imported}; let the composition root pass in what is needed`
  }
  return found.typeOnly
    ? null
    : `${floor.at} may import only types of ${imported}; write \`import type\`, and take the value as an argument`
}

function strangePackage(floor: Floor, { specifier }: Import): string | null {
  const allowed = floor.packages.some(
    (name) => specifier === name || specifier.startsWith(name.endsWith(':') ? name : `${name}/`),
  )
  return allowed ? null : `${floor.at} may not use the package ${specifier}; it belongs behind a port, on another floor`
}

interface Ban {
  readonly what: string
  readonly words: RegExp
  readonly where: RegExp
  readonly except: readonly string[]
  readonly instead: string
  /** Searches strings as well as code. */
  readonly inStrings?: boolean
}

/** Bans that the linter cannot express; the others are in `.oxlintrc.json`. */
const BANS: readonly Ban[] = [
  {
    what: 'reads the clock',
    words: /\bnew Date\(\s*\)|(?<!new )\bDate\(\s*\)/g,
    where: PRODUCT,
    except: ['src/system-world.ts', 'src/web/'],
    instead: 'take the time from a World',
  },
  {
    what: 'takes a function whose last digit engines may choose',
    words:
      /\bMath\.(?:a?(?:sin|cos|tan)h?|atan2|exp|expm1|log|log1p|log2|log10|pow|cbrt|hypot)\b|\bMath\[|\{[^}]*\}\s*=\s*Math\b|\*\*/g,
    where: /^(actors|src\/provider|ops\/verify)\//,
    except: [],
    instead: 'take it from actors/kernel/exact-math.ts, so that a price is the same on every engine',
  },
  {
    what: 'walks into a trap of Colyseus',
    words: /\b(remoteRoomCall|joinOrCreate|RedisDriver|RedisPresence|attachToServer)\b|\bt\.number\(/g,
    where: PRODUCT,
    except: [],
    instead: 'see what ARCHITECTURE.md says it is not trusted with',
  },
  {
    what: 'speaks SQL',
    words: /\bselect\s[^'"`]*\sfrom\s|\binsert\s+into\b|\bdelete\s+from\b|\bupdate\s+\w+\s+set\b|\bsql`/gi,
    where: /^(rooms|src)\/(?!features\/)|^src\/features\/.*routes/,
    except: [],
    instead: 'write a query in the db file named after what it returns, or in the store of its feature',
    inStrings: true,
  },
]

export function purity(files: Files): string[] {
  const problems: string[] = []
  for (const [path, text] of sources(files)) {
    for (const ban of BANS) {
      if (!ban.where.test(path) || within(path, ban.except)) continue
      const code = codeOf(text, ban.inStrings === true ? 'keep' : 'blank')
      for (const match of code.matchAll(ban.words)) {
        problems.push(`${path}:${lineOf(code, match.index)}: ${ban.what} (${match[0].trim()}); ${ban.instead}`)
      }
    }
  }
  return problems
}

const ROUTES = 'src/http/routes/'

/** A route is in the folder that its address names; a file outside the folders serves paths outside `/api`. */
export function routeFolders(files: Files): string[] {
  const problems: string[] = []
  for (const [path, text] of sources(files, (p) => p.startsWith(ROUTES))) {
    const [first = '', second] = path.slice(ROUTES.length).split('/')
    const folder = second === undefined ? null : first
    for (const { text: address, line } of stringsOf(text)) {
      if (!/^\/[a-z]/.test(address)) continue
      const segment = /^\/api\/([^/]+)/.exec(address)?.[1] ?? null
      if (segment === folder) continue
      problems.push(`${path}:${line}: ${address} belongs in ${ROUTES}${segment === null ? '' : `${segment}/`}`)
    }
  }
  return problems
}

const FEATURES = 'src/features/'
const FEATURE_LIST = `${FEATURES}index.ts`

/**
 * A feature is a folder and a line in the list: it imports from features listed before it, and of everything else only
 * tests and benches name its files, and the page the types of its `schema.ts`.
 */
export function features(files: Files): string[] {
  const list = files.get(FEATURE_LIST) ?? ''
  const folders = new Map(
    [...list.matchAll(/^import \{ (\w+) \} from '\.\/([\w-]+)\/index\.ts'$/gm)].map(([, name, folder]) => [
      name,
      folder,
    ]),
  )
  const order = (/FEATURES[^=]*= \[([^\]]*)\]/.exec(list)?.[1] ?? '')
    .split(',')
    .flatMap((name) => folders.get(name.trim()) ?? [])
  const found = [...files.keys()].flatMap((path) => FOLDER.exec(path)?.[1] ?? [])
  const problems = [...new Set(found)]
    .filter((folder) => !order.includes(folder))
    .map((folder) => `${FEATURES}${folder}/: has no line in ${FEATURE_LIST}`)
  for (const [path, text] of sources(files, (p) => PRODUCT.test(p) || p.startsWith('ops/'))) {
    if (path === FEATURE_LIST || path.startsWith('ops/bench/')) continue
    const own = FOLDER.exec(path)?.[1]
    const before = own === undefined ? [] : order.slice(0, order.indexOf(own) + 1)
    for (const { specifier, line } of importsOf(text)) {
      const imported = isOwn(specifier) ? FOLDER.exec(target(path, specifier)) : null
      if (imported === null || before.includes(imported[1] ?? '')) continue
      if (path.startsWith('src/web/') && specifier.endsWith('/schema.ts')) continue
      problems.push(`${path}:${line}: names the feature ${imported[1]}, which may be absent; let it add what is needed`)
    }
    if (own === undefined && !path.startsWith('src/web/')) {
      const named = [...text.matchAll(/\bsrc\/features\/([\w-]+)\//g)].map(([, folder]) => folder)
      for (const folder of named) problems.push(`${path}: names a file of the feature ${folder}, which may be absent`)
    }
  }
  return problems
}
const FOLDER = /^src\/features\/([\w-]+)\//

/** Features whose words the game, other features or the control room need. Others are named in their own places. */
const NAMED_ELSEWHERE: readonly string[] = [
  'integrity',
  'leagues',
  'legacy',
  'notifications',
  'push',
  'referrals',
  'seasons',
  'spinner',
  'tape',
  'tournaments',
  'webhooks',
]

/** What knows the server by its description, and the scripts that fill or show one from outside. */
const OUTSIDE = [
  'src/clients/',
  'src/web/client/',
  'src/web/features/index.ts',
  'ops/page/',
  'ops/bench/',
  'ops/rehearse/',
]

/** A feature is named only in its folder, its migration, the list, and its folder of the page. */
export function featureNames(files: Files): string[] {
  const names = new Set([...files.keys()].flatMap((path) => FOLDER.exec(path)?.[1] ?? []))
  const problems: string[] = []
  for (const name of names) {
    if (NAMED_ELSEWHERE.includes(name)) continue
    const own = [FEATURE_LIST, `${FEATURES}${name}/`, `src/web/features/${name}/`, ...OUTSIDE]
    const word = new RegExp(name.replace(/s$/, '').replaceAll('-', '[-_]?'), 'gi')
    for (const [path, text] of sources(files, (p) => (PRODUCT.test(p) || p.startsWith('ops/')) && !within(p, own))) {
      for (const { index } of text.matchAll(word)) {
        problems.push(`${path}:${lineOf(text, index)}: names the feature ${name}, which may be absent`)
      }
    }
  }
  return problems
}

const RULES = 'test/RULES.md'
const RULE_ID = /^\[([A-Z]\d+)\]/

/** Every rule has a test, and every id in a test name, a comment or a document is the id of a rule. */
export function rules(files: Files): string[] {
  const sections = (files.get(RULES) ?? '').split(/^## /m).slice(1)
  const known = sections.flatMap((section) => idsIn(section))
  const problems = sections.flatMap((section) =>
    idsIn(section).flatMap((id, i) => {
      const due = `${section.charAt(0)}${i + 1}`
      return id === due ? [] : [`${RULES}: ${id} is where ${due} belongs; number the rules of a section in order`]
    }),
  )
  const tested = new Set<string>()
  for (const [path, text] of sources(files, isTest)) {
    for (const title of stringsOf(text)) {
      const id = RULE_ID.exec(title.text)?.[1]
      if (id === undefined) continue
      tested.add(id)
      if (!known.includes(id)) problems.push(`${path}:${title.line}: no rule ${id} in ${RULES}; write it down there`)
    }
  }
  for (const [path, text] of files) {
    for (const { id, line } of citations(path, text)) {
      if (!known.includes(id)) problems.push(`${path}:${line}: cites ${id}, which is no rule in ${RULES}; correct it`)
    }
  }
  for (const id of new Set(known)) {
    if (!tested.has(id)) problems.push(`${RULES}: no test is named [${id}]; write one, or remove the rule`)
  }
  return problems
}

const idsIn = (section: string): string[] =>
  [...section.matchAll(/^- \*\*([A-Z]\d+)\*\*/gm)].flatMap((match) => match[1] ?? [])

/** A source cites rules in a comment of ids alone; a document, in parentheses or in a table cell. */
function citations(path: string, text: string): { readonly id: string; readonly line: number }[] {
  const isDocument = path.endsWith('.md')
  if (!isDocument && !isSource(path)) return []
  const lists = isDocument ? /(?<=\||\()[^|()\n]*(?=\||\))/g : /(?<=\/\/ )[A-Z]\d+(, [A-Z]\d+)*$/gm
  const code = isDocument ? '' : codeOf(text, 'keep')
  return [...text.matchAll(lists)].flatMap((match) => {
    if (code.slice(match.index, match.index + match[0].length).trim() !== '') return [] // inside a string
    const line = lineOf(text, match.index)
    return match[0]
      .split(',')
      .flatMap((part) => /^\s*([A-Z]\d+)\s*$/.exec(part)?.[1] ?? [])
      .map((id) => ({ id, line }))
  })
}

/** The need that a test file must have in its name if it uses one of these. */
const NEEDS: readonly (readonly [need: string, rigs: readonly string[]])[] = [
  ['pg', ['test/support/databases.ts']],
  ['redis', ['test/support/redis-server.ts']],
  [
    'e2e',
    [
      'ops/rehearse/conformance/deployment.ts',
      'ops/rehearse/rig/program.ts',
      'src/compose/index.ts',
      'test/clients/live-session.ts',
      'test/support/browsed-server.ts',
      'test/support/composed-server.ts',
      'test/support/data-place.ts',
      'test/support/process.ts',
      'test/support/rehearsal.ts',
      'test/support/server-rig.ts',
    ],
  ],
  ['sim', ['test/sim/simulate.ts', 'test/sim/cluster/simulation.ts']],
]

/** A test file names exactly its needs. */
export function needs(files: Files): string[] {
  return [...sources(files, (path) => path.endsWith('.test.ts') && path !== 'test/needs.test.ts')].flatMap(
    ([path, text]) => {
      const used = importsOf(text).flatMap(({ specifier }) => (isOwn(specifier) ? [target(path, specifier)] : []))
      return NEEDS.flatMap(([need, rigs]) => {
        const isNamed = path.endsWith(`.${need}.test.ts`)
        const rig = used.find((file) => within(file, rigs))
        if (isNamed === (rig !== undefined)) return []
        return isNamed
          ? [`${path}: uses no rig that needs ${need}; drop it from the name`]
          : [`${path}: uses ${rig}; name the file *.${need}.test.ts`]
      })
    },
  )
}

const CATALOGUE = 'actors/kernel/outcome.ts'
const ANSWERS = 'src/http/answers.ts'

/** Every refusal has an answer over HTTP and a test that provokes it. */
export function refusals(files: Files): string[] {
  const catalogue = codeOf(files.get(CATALOGUE) ?? '', 'keep')
  const codes = [...catalogue.matchAll(/\bcode: '(\w+)'/g)].flatMap((match) => match[1] ?? [])
  const answers = files.get(ANSWERS)
  const tests = [...sources(files, (path) => path.endsWith('.test.ts'))].map(([, text]) => codeOf(text, 'keep'))
  return codes.flatMap((code) => {
    const word = new RegExp(`\\b${code}\\b`)
    return [
      ...(answers === undefined || word.test(answers)
        ? []
        : [`${ANSWERS}: no answer for the refusal ${code}; add one`]),
      ...(tests.some((text) => word.test(text))
        ? []
        : [`${CATALOGUE}: no test mentions the refusal ${code}; provoke it, or remove it from the catalogue`]),
    ]
  })
}

/** Files that no file imports, and exports that no other file uses. Use in a test counts. */
export function deadThings(files: Files): string[] {
  const used = new Map<string, Set<string>>()
  const use = (path: string, names: readonly string[]) => {
    const known = used.get(path) ?? new Set()
    for (const name of names) known.add(name)
    used.set(path, known)
  }
  for (const [path, text] of sources(files)) {
    for (const found of importsOf(text)) if (isOwn(found.specifier)) use(target(path, found.specifier), found.names)
    // A worker or a child process is named by a path.
    for (const { text: name } of stringsOf(text)) if (/^\.\.?\/.*\.ts$/.test(name)) use(target(path, name), [])
  }
  const problems: string[] = []
  for (const [path, text] of sources(files, (p) => !isEntryPoint(p))) {
    const names = used.get(path)
    if (names === undefined) problems.push(`${path}: no file imports it; delete it, or list it in ENTRY_POINTS`)
    if (names === undefined || names.has('*')) continue
    for (const found of exportsOf(text)) {
      if (names.has(found.name) || (found.kind === 'type' && mentions(text, found.name) > 1)) continue
      problems.push(`${path}:${found.line}: no other file uses ${found.name}; delete it, or do not export it`)
    }
  }
  return problems
}

/** A type that appears in the file's own exports is exported for callers that must write it. */
function mentions(source: string, name: string): number {
  return codeOf(source).match(new RegExp(`(?<![\\w$])${RegExp.escape(name)}(?![\\w$])`, 'g'))?.length ?? 0
}

/** Documents whose code spans must name files that exist. */
const namesFiles = (path: string): boolean => /^(?:(?:docs|ops)\/)?[\w-]+\.md$/.test(path) && path !== 'CHANGELOG.md'
const CODE_SPAN = /`([^`\s]+)`/g

/** Links have a target, and the documents name only files that exist. */
export function prose(files: Files): string[] {
  const paths = new Set(files.keys())
  const folders = new Set([...paths].flatMap((path) => foldersOf(path)))
  const basenames = new Set([...paths].map((path) => posix.basename(path)))
  const problems: string[] = []
  for (const [path, whole] of files) {
    if (!path.endsWith('.md')) continue
    const text = whole.replace(/^```[^]*?^```/gm, (block) => block.replace(/[^\n]/g, ' '))
    for (const match of text.matchAll(/\]\(([^)\s]+)\)/g)) {
      const [file = '', anchor] = (match[1] ?? '').split('#')
      if (/^[a-z]+:/.test(file)) continue
      const linked = file === '' ? path : posix.join(posix.dirname(path), file).replace(/\/$/, '')
      const there = paths.has(linked) || folders.has(linked)
      if (there && (anchor === undefined || anchorsIn(files.get(linked) ?? '').has(anchor))) continue
      problems.push(`${path}:${lineOf(text, match.index)}: the link ${match[1]} has no target; correct it`)
    }
    if (!namesFiles(path)) continue
    for (const match of text.matchAll(CODE_SPAN)) {
      const name = (match[1] ?? '').replace(/:\d+$/, '')
      if (namesNoFile(name) || paths.has(name) || folders.has(name.replace(/\/$/, ''))) continue
      if (!name.includes('/') && basenames.has(name)) continue
      problems.push(`${path}:${lineOf(text, match.index)}: ${name} does not exist; name a file that does`)
    }
  }
  return problems
}

/** The longest server file, and the longest line of a document, in characters. */
const SERVER_LINES_MAX = 400
const COLUMNS_MAX = 120
/** Written by a tool, one line a check. */
const GENERATED_DOCUMENTS: readonly string[] = ['docs/conformance.md']

/** The words of the page in one language: a list. */
const WORDS = /^src\/web\/words\/\w+\.ts$/

/** Server files stay short enough to keep in mind, and documents and comments fit a terminal. */
export function sizes(files: Files): string[] {
  const problems: string[] = []
  for (const [path, text] of files) {
    const lines = text.split('\n')
    const isServer = /^(actors|db|rooms|src)\/.*\.ts$/.test(path) && !WORDS.test(path)
    if (isServer && lines.length - 1 > SERVER_LINES_MAX) {
      problems.push(`${path}: has ${lines.length - 1} lines, at most ${SERVER_LINES_MAX}; split it by its nouns`)
    }
    if (!/\.(md|ts)$/.test(path) || GENERATED_DOCUMENTS.includes(path)) continue
    const isText = path.endsWith('.md')
    let isCode = false
    for (const [index, line] of lines.entries()) {
      if (isText && line.trimStart().startsWith('```')) isCode = !isCode
      if (line.length <= COLUMNS_MAX || isCode || (isText ? isTableOrLink(line) : !isComment(line))) continue
      problems.push(`${path}:${index + 1}: is longer than ${COLUMNS_MAX} columns; break the line`)
    }
  }
  return problems
}

/** Lines that cannot be broken: a row of a table, and a line that is one link. */
const isTableOrLink = (line: string): boolean => /^\s*\||^\s*(?:[-*] )?!?\[[^\]]*\]\([^)]*\)\S*$/.test(line)

/** A line of its own; the formatter breaks code. */
const isComment = (line: string): boolean => /^\s*(?:\/\/|\/?\*)/.test(line)

const TOOL_TABLE = 'ops/tool-table.ts'
const CONFIGURATION = 'docs/configuration.md'

/** Every `npm run` in documents and comments names a script, every `npm run ops` a tool; every variable is listed. */
export function instructions(files: Files): string[] {
  const { scripts = {} } = JSON.parse(files.get('package.json') ?? '{}') as { scripts?: Record<string, string> }
  const tools = [...(files.get(TOOL_TABLE) ?? '').matchAll(/\btool\('([\w-]+)'/g)].map((match) => match[1])
  const problems: string[] = []
  for (const [path, text] of files) {
    if (isTest(path) && path.endsWith('.test.ts')) continue
    for (const match of text.matchAll(/\bnpm run ([-a-z][a-z:-]*[a-z])(?:(?: -s)? -- ([\w-]+))?/g)) {
      const [, script = '', tool] = match
      const where = `${path}:${lineOf(text, match.index)}`
      if (!Object.hasOwn(scripts, script)) {
        problems.push(`${where}: package.json has no script ${script}; name one that exists`)
      } else if (script === 'ops' && tool !== undefined && !tools.includes(tool)) {
        problems.push(`${where}: ${TOOL_TABLE} has no tool ${tool}; name one that exists`)
      }
    }
  }
  const listed = files.get(CONFIGURATION) ?? ''
  for (const [, name = ''] of (files.get('src/variables.ts') ?? '').matchAll(/^ {2}([A-Z][A-Z_]+): /gm)) {
    if (!listed.includes(`\`${name}\``)) problems.push(`${CONFIGURATION}: does not list ${name}; describe it`)
  }
  return problems
}

const foldersOf = (path: string): string[] =>
  path.split('/').flatMap((_, i, parts) => parts.slice(0, i).join('/') || [])

/** Only text that looks like a source, a document or a folder of this repository is taken as a file name. */
const namesNoFile = (name: string): boolean =>
  /[*<>{}$()]/.test(name) ||
  !(/^[\w./-]+\.(ts|md|json|ya?ml|gz)$/.test(name) || /^(actors|db|rooms|src|ops|test)\//.test(name))

/** Headings, as links name them. */
function anchorsIn(markdown: string): Set<string> {
  const headings = [...markdown.matchAll(/^#+\s+(.*)$/gm)].map((match) => match[1] ?? '')
  return new Set(
    headings.map((h) =>
      h
        .toLowerCase()
        .replace(/[^\p{L}\p{N}\s_-]/gu, '')
        .trim()
        .replace(/\s/g, '-'),
    ),
  )
}

// Assembled here, so that the check does not find this file.
const UNFINISHED = new RegExp(`\\b(${['TO DO', 'FIX ME', 'X X X'].join('|').replaceAll(' ', '')})\\b`, 'g')
const FORGOTTEN = /\b(?:it|test|describe)(?:\.\w+)*\.only\(|\bdebugger\b/g

export function leftovers(files: Files): string[] {
  const problems: string[] = []
  for (const [path, text] of files) {
    for (const match of text.matchAll(UNFINISHED)) {
      const where = `${path}:${lineOf(text, match.index)}`
      problems.push(`${where}: ${match[0]}; do it, or write a test marked todo with the id of its rule`)
    }
    if (!isSource(path)) continue
    const code = codeOf(text)
    for (const match of code.matchAll(FORGOTTEN)) {
      problems.push(`${path}:${lineOf(code, match.index)}: ${match[0]} was left behind; remove it`)
    }
  }
  return problems
}
