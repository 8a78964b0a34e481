/** The list of what the image contains, from the lock file, and a check of that list. */
import { z } from 'zod'

const Names = z.record(z.string(), z.string()).default({})
const Platforms = z.union([z.string().transform((one) => [one]), z.array(z.string())]).optional()
const Package = z.looseObject({
  version: z.string().default(''),
  integrity: z.string().optional(),
  license: z.string().optional(),
  dev: z.boolean().default(false),
  devOptional: z.boolean().default(false),
  optional: z.boolean().default(false),
  os: Platforms,
  cpu: Platforms,
  dependencies: Names,
  peerDependencies: Names,
  peerDependenciesMeta: z.record(z.string(), z.looseObject({ optional: z.boolean().default(false) })).default({}),
})
/** A package-lock.json of version 3: packages by their folder, and this project at the empty one. */
export const Locked = z.looseObject({ packages: z.record(z.string(), Package) })
export type Lock = z.output<typeof Locked>
type Package = z.output<typeof Package>

export interface Bill {
  readonly bomFormat: 'CycloneDX'
  readonly specVersion: '1.5'
  readonly version: 1
  readonly metadata: { readonly component: { readonly type: 'application'; readonly name: string } }
  readonly components: readonly Component[]
}

interface Component {
  readonly type: 'library'
  readonly name: string
  readonly version: string
  readonly purl: string
  readonly hashes: readonly { readonly alg: string; readonly content: string }[]
  readonly licenses: readonly { readonly license: { readonly name: string } }[]
}

const NODE_MODULES = 'node_modules/'
const nameAt = (folder: string): string => folder.slice(folder.lastIndexOf(NODE_MODULES) + NODE_MODULES.length)

/** The Node of the image is its own, and it compiles nothing. The Dockerfile removes these. */
const REMOVED = /^(node-linux-|@typescript\/)/

/** Every package that the image installs: none for development alone, and of optional ones those for its platforms. */
export function billOf({ packages }: Lock): Bill {
  const components = Object.entries(packages)
    .filter(([folder, one]) => folder !== '' && !one.dev && !one.devOptional && isInImage(nameAt(folder), one))
    .map(([folder, one]) => componentOf(nameAt(folder), one))
    .toSorted((a, b) => (a.purl < b.purl ? -1 : 1))
  return {
    bomFormat: 'CycloneDX',
    specVersion: '1.5',
    version: 1,
    metadata: { component: { type: 'application', name: 'touchline' } },
    components,
  }
}

function isInImage(name: string, { optional, os = ['linux'], cpu = ['x64'] }: Package): boolean {
  if (!optional) return true
  return os.includes('linux') && (cpu.includes('x64') || cpu.includes('arm64')) && !REMOVED.test(name)
}

function componentOf(name: string, { version, integrity, license }: Package): Component {
  return {
    type: 'library',
    name,
    version,
    purl: `pkg:npm/${name.replace('@', '%40')}@${version}`,
    hashes: hashesOf(integrity),
    licenses: license === undefined ? [] : [{ license: { name: license } }],
  }
}

/** `sha512-…` in base 64 as the list has it. */
function hashesOf(integrity: string | undefined): Component['hashes'] {
  const [, alg = '', base64 = ''] = /^sha(\d+)-(\S+)/.exec(integrity ?? '') ?? []
  return alg === '' ? [] : [{ alg: `SHA-${alg}`, content: Buffer.from(base64, 'base64').toString('hex') }]
}

/** The packages that the program can reach and that a list lacks, or has without the digest of the lock file. */
export function missingFrom({ components }: Pick<Bill, 'components'>, { packages }: Lock): readonly string[] {
  const digests = new Map(components.map(({ name, version, hashes }) => [`${name}@${version}`, hashes[0]?.content]))
  return [...reachable(packages)].flatMap((folder) => {
    const one = packages[folder]
    const name = `${nameAt(folder)}@${one?.version ?? ''}`
    const digest = hashesOf(one?.integrity)[0]?.content
    return digest !== undefined && digests.get(name) === digest ? [] : [name]
  })
}

/** The folders that are found from the project's own dependencies on, as Node.js looks for them. */
function reachable(packages: Lock['packages']): ReadonlySet<string> {
  const found = new Set<string>()
  const visit = (from: string): void => {
    const { dependencies = {}, peerDependencies = {}, peerDependenciesMeta = {} } = packages[from] ?? {}
    const peers = Object.keys(peerDependencies).filter((name) => peerDependenciesMeta[name]?.optional !== true)
    for (const name of [...Object.keys(dependencies), ...peers]) {
      const folder = folderOf(name, from, packages)
      if (folder === null || found.has(folder)) continue
      found.add(folder)
      visit(folder)
    }
  }
  visit('')
  return found
}

function folderOf(name: string, from: string, packages: Lock['packages']): string | null {
  for (let base = from; ; base = base.slice(0, Math.max(0, base.lastIndexOf(NODE_MODULES) - 1))) {
    const folder = `${base === '' ? '' : `${base}/`}${NODE_MODULES}${name}`
    if (folder in packages) return folder
    if (base === '') return null
  }
}
