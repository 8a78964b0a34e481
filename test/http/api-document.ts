/** The description of the API as a document, and what is in it. */
import { createJudge, type OpenApi } from '../../ops/rehearse/fuzz/judge.ts'
import { openHttpRig } from './http-rig.ts'

type Whole = OpenApi & { readonly tags: readonly { readonly name: string }[] }

/** The description that a server serves, and a check of values against its schemas. */
export async function readDocument() {
  const { app } = await openHttpRig()
  const document = (await (await app.request('/api/openapi.json')).json()) as Whole
  return { document, check: createJudge(document).check }
}

/** By method and path. */
export const operations = (document: OpenApi) =>
  new Map(
    Object.entries(document.paths).flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, operation]) => [`${method} ${path}`, operation] as const),
    ),
  )

/** The example of an error code. */
export const sample = (document: OpenApi, code: string): unknown => document.components.examples[code]?.value
