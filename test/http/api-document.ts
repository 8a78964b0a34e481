/** What is in the description of the API. */
import type { OpenApi } from '../../ops/rehearse/fuzz/judge.ts'

/** By method and path. */
export const operations = (document: OpenApi) =>
  new Map(
    Object.entries(document.paths).flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, operation]) => [`${method} ${path}`, operation] as const),
    ),
  )

/** The example of an error code. */
export const sample = (document: OpenApi, code: string): unknown => document.components.examples[code]?.value
