/** The description of the REST API that clients were last promised, as kept in the repository. */
import { readFile, writeFile } from 'node:fs/promises'
import { brotliCompressSync, brotliDecompressSync } from 'node:zlib'
import type { OpenApi } from '../../ops/rehearse/fuzz/judge.ts'
import { openHttpRig } from './http-rig.ts'

const FILE = new URL('released-api.json.br', import.meta.url)

/** Texts for people, and values to show. Clients do not depend on them. */
const FOR_PEOPLE = new Set(['description', 'summary', 'example', 'examples', 'tags', 'info', 'servers'])

/** The description as production serves it, without the texts for people. */
export async function served(): Promise<OpenApi> {
  const { app } = await openHttpRig({ production: true })
  return plain(await (await app.request('/api/openapi.json')).json()) as OpenApi
}

export const readReleased = async (): Promise<OpenApi> =>
  JSON.parse(brotliDecompressSync(await readFile(FILE)).toString()) as OpenApi

export const writeReleased = (document: OpenApi): Promise<void> =>
  writeFile(FILE, brotliCompressSync(JSON.stringify(document)))

/** `isNames`: the keys are names of fields or components, whatever they are called. */
function plain(node: unknown, isNames = false): unknown {
  if (Array.isArray(node)) return node.map((one) => plain(one))
  if (typeof node !== 'object' || node === null) return node
  const kept = Object.entries(node).filter(([key]) => isNames || !FOR_PEOPLE.has(key))
  return Object.fromEntries(
    kept.map(([key, value]) => [key, plain(value, !isNames && /^(properties|schemas|paths|mapping)$/.test(key))]),
  )
}
