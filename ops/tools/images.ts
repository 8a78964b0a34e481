/** Images that deployment files name, their digests from a registry, and which are not pinned to one. */
import { createHash } from 'node:crypto'
import { z } from 'zod'

/** An image as a file names it: `postgres:17`, or `postgres:17@sha256:…`. */
export interface Image {
  readonly text: string
  /** Without tag and digest. */
  readonly name: string
  readonly tag: string
  /** Null if it is not pinned: the registry could serve another tomorrow. */
  readonly digest: string | null
}

/** `image:` of compose files and manifests, `FROM` of a Dockerfile. */
const NAMED = /^(?:\s*(?:- )?image: *["']?|FROM +(?:--\S+ +)*)([^\s"'#$]+)/gm
/** Made by the operator, from this repository. */
const OUR_OWN = /^touchline(?:$|[:@])/
const DIGEST = /^sha256:[0-9a-f]{64}$/

/** The images of others that a file names. Throws if one has neither a tag nor a digest. */
export function imagesIn(text: string): readonly Image[] {
  const stages = new Set([...text.matchAll(/^FROM .* AS +(\S+)/gim)].map(([, stage]) => stage))
  return [...text.matchAll(NAMED)]
    .map(([, named = '']) => named)
    .filter((named) => !OUR_OWN.test(named) && !stages.has(named))
    .map(imageFrom)
}

function imageFrom(text: string): Image {
  const [tagged = '', digest = null] = text.split('@')
  const [, name = '', tag] = /^(.*?)(?::([\w][\w.-]*))?$/.exec(tagged) ?? []
  if (tag === undefined && digest === null) throw new Error(`${text} has no tag; name a version`)
  if (digest !== null && !DIGEST.test(digest)) throw new Error(`${text} has no digest of the form sha256:…`)
  return { text, name, tag: tag ?? '', digest }
}

/** The text of a file with these digests, by image. */
export const pinned = (text: string, digests: ReadonlyMap<string, string>): string =>
  text.replaceAll(NAMED, (line, named: string) => {
    const digest = digests.get(named)
    return digest === undefined ? line : line.replace(named, `${named.split('@')[0] ?? named}@${digest}`)
  })

const DOCKER_HUB = 'https://registry-1.docker.io'
/** A list of images for several kinds of processors comes first: one digest then fits all of them. */
const KINDS = [
  'application/vnd.oci.image.index.v1+json',
  'application/vnd.docker.distribution.manifest.list.v2+json',
  'application/vnd.oci.image.manifest.v1+json',
  'application/vnd.docker.distribution.manifest.v2+json',
].join(', ')
const WITHIN_MS = 15_000
const MANIFEST_BYTES_MAX = 4 * 1024 * 1024

/** Where an image is: `ghcr.io/a/b` names its registry, `postgres` is on Docker Hub. */
function placeOf(name: string, registry: string | null): { readonly base: string; readonly repository: string } {
  const [host = '', ...rest] = name.split('/')
  const namesHost = rest.length > 0 && /[.:]|^localhost$/.test(host)
  const repository = namesHost ? rest.join('/') : rest.length === 0 ? `library/${name}` : name
  return { base: registry ?? (namesHost ? `https://${host}` : DOCKER_HUB), repository }
}

/**
 * The digest that a tag has at its registry now. It is computed from what the registry sends, and compared with what
 * the registry says. `registry` is another address to ask, such as a mirror. Rejects if there is no such image.
 */
export async function digestOf({ name, tag }: Pick<Image, 'name' | 'tag'>, registry: string | null): Promise<string> {
  const { base, repository } = placeOf(name, registry)
  const url = `${base}/v2/${repository}/manifests/${tag}`
  const ask = (headers: Readonly<Record<string, string>>) =>
    fetch(url, { headers: { accept: KINDS, ...headers }, signal: AbortSignal.timeout(WITHIN_MS) })
  let response = await ask({})
  if (response.status === 401) {
    const token = await tokenFor(response.headers.get('www-authenticate') ?? '')
    response = await ask({ authorization: `Bearer ${token}` })
  }
  if (!response.ok) throw new Error(`${url} was answered ${response.status}`)
  const body = Buffer.from(await response.arrayBuffer())
  if (body.length > MANIFEST_BYTES_MAX) throw new Error(`${url} has ${body.length} bytes, which no manifest has`)
  const digest = `sha256:${createHash('sha256').update(body).digest('hex')}`
  const claimed = response.headers.get('docker-content-digest')
  if (claimed !== null && claimed !== digest) throw new Error(`${url} claims ${claimed} and sent ${digest}`)
  return digest
}

/** A registry sends those who ask to a server that gives everybody a token for public images. */
async function tokenFor(challenge: string): Promise<string> {
  const parts = new Map([...challenge.matchAll(/(\w+)="([^"]*)"/g)].map(([, key = '', value = '']) => [key, value]))
  const realm = parts.get('realm')
  if (!/^bearer /i.test(challenge) || realm === undefined) throw new Error(`the registry asks for ${challenge}`)
  const url = new URL(realm)
  for (const key of ['service', 'scope']) {
    const value = parts.get(key)
    if (value !== undefined) url.searchParams.set(key, value)
  }
  const response = await fetch(url, { signal: AbortSignal.timeout(WITHIN_MS) })
  if (!response.ok) throw new Error(`${url.origin} was answered ${response.status}`)
  const { token, access_token: other } = Token.parse(await response.json())
  return token ?? other ?? ''
}
const Token = z.looseObject({ token: z.string().optional(), access_token: z.string().optional() })
