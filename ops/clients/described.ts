/** The operations of the REST API, as the generators of clients read them from its description. */
import type { RestDocument, Schema, Schemas } from '../../src/docs/documents.ts'
import { openHttpRig } from '../../test/http/http-rig.ts'

export interface Parameter {
  readonly name: string
  readonly isRequired: boolean
  readonly schema: Schema
}

export interface DescribedOperation {
  readonly name: string
  readonly method: string
  readonly path: string
  readonly summary: string
  /** Names in the path, in order. */
  readonly inPath: readonly Parameter[]
  readonly inQuery: readonly Parameter[]
  /** Its effect happens once however often it is sent with the same key. */
  readonly takesKey: boolean
  readonly body: { readonly isRequired: boolean; readonly schema: Schema } | null
  readonly answer: Schema
}

export interface Described {
  readonly version: string
  readonly operations: readonly DescribedOperation[]
  readonly schemas: Schemas
}

const JSON_TYPE = 'application/json'

/** The operations that take and answer JSON in production, by name. */
export async function describedApi(): Promise<Described> {
  const { app } = await openHttpRig({ production: true })
  const document = (await (await app.request('/api/openapi.json')).json()) as RestDocument
  const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).flatMap(([method, operation]): DescribedOperation[] => {
      const { operationId: name, summary, parameters = [], requestBody, responses } = operation
      const content = Object.entries(responses).find(([status]) => status.startsWith('2'))?.[1].content ?? {}
      const answer = content[JSON_TYPE]
      const body = requestBody?.content[JSON_TYPE]
      const isJson = answer !== undefined && (body !== undefined || requestBody?.required !== true)
      if (name === undefined || !isJson) return []
      const placed = (place: string): readonly Parameter[] =>
        parameters
          .filter(({ in: where }) => where === place)
          .map((one) => ({ name: one.name, isRequired: one.required === true, schema: one.schema }))
      // By its `type` it may answer with something else, which no client reads.
      const isRead = (one: Parameter): boolean => one.name !== 'type' || Object.keys(content).length === 1
      return [
        {
          name,
          method: method.toUpperCase(),
          path,
          summary,
          inPath: placed('path'),
          inQuery: placed('query').filter(isRead),
          takesKey: parameters.some((one) => one.name === 'Idempotency-Key'),
          body: body === undefined ? null : { isRequired: requestBody?.required === true, schema: body.schema },
          answer: answer.schema,
        },
      ]
    }),
  )
  return {
    version: document.info.version,
    operations: operations.toSorted((a, b) => (a.name < b.name ? -1 : 1)),
    schemas: document.components.schemas,
  }
}
