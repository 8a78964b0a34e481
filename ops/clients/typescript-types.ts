/** The description of the REST API as types: one for each schema, and one for each operation. */
import type { Schema } from '../../src/docs/documents.ts'
import type { Described, DescribedOperation } from './described.ts'

/** Replaces `src/web/client/schema-types.ts` in the package. */
export const schemaTypes = ({ schemas }: Described): string =>
  Object.entries(schemas)
    .map(([name, schema]) => `${doc(schema.description)}export type ${name} = ${typeOf(schema)}\n`)
    .join('\n')

/** A module whose `createRest` calls any operation by its name. */
export function operationsModule(described: Described): string {
  const named = [...new Set(JSON.stringify(described.operations).match(/(?<=#\/components\/schemas\/)\w+/g))]
  const types = described.operations.map(operationType).join('')
  const places = described.operations.map(({ name, method, path }) => `  ${name}: ['${method}', '${path}'],\n`)
  return `/** Every operation of the REST API by its name. Made from the description of the API. */
import type { createApi } from './api.ts'
import type { ${named.toSorted().join(', ')} } from './schema-types.ts'

export interface Operations {
${types}}

const PLACES = {
${places.join('')}} as const satisfies Record<keyof Operations, readonly [method: string, path: string]>

type Ask = ReturnType<typeof createApi>['ask']
type Input<Name extends keyof Operations> = Operations[Name]['input']

/** A function that calls operations over \`api.ask\`, with its repetitions and its errors. */
export const createRest =
  (api: { readonly ask: Ask }) =>
  <Name extends keyof Operations>(
    name: Name,
    ...[input]: Record<never, never> extends Input<Name> ? [input?: Input<Name>] : [input: Input<Name>]
  ): Promise<Operations[Name]['answer']> => {
    const given: {
      readonly path?: Readonly<Record<string, string | number>>
      readonly query?: Readonly<Record<string, string | number | boolean | undefined>>
      readonly body?: unknown
      readonly key?: string
    } = input ?? {}
    const { path: inPath = {}, ...rest } = given
    const [method, template] = PLACES[name]
    const path = template.replaceAll(/\\{(\\w+)\\}/g, (_, of: string) => encodeURIComponent(String(inPath[of])))
    return api.ask(path, { method, ...rest })
  }
`
}

function operationType({ name, summary, inPath, inQuery, takesKey, body, answer }: DescribedOperation): string {
  const query = inQuery.map((one) => `${quoted(one.name)}${one.isRequired ? '' : '?'}: ${given(one.schema)}`)
  const parts = [
    ...(inPath.length === 0 ? [] : [`path: { ${inPath.map((one) => `${one.name}: string | number`).join('; ')} }`]),
    ...(query.length === 0
      ? []
      : [`query${inQuery.some(({ isRequired }) => isRequired) ? '' : '?'}: { ${query.join('; ')} }`]),
    ...(body === null ? [] : [`body${body.isRequired ? '' : '?'}: ${typeOf(body.schema)}`]),
    ...(takesKey ? ['key?: string'] : []),
  ]
  return `  /** ${summary} */
  ${name}: { input: { ${parts.join('; ')} }; answer: ${typeOf(answer)} }
`
}

/** What a query takes: null means absent. */
const given = (schema: Schema): string => typeOf(schema).replace(' | null', '') + ' | undefined'

function typeOf(schema: Schema): string {
  const { $ref, type, enum: choices, const: only, items, allOf, oneOf, anyOf, properties, required = [] } = schema
  if ($ref !== undefined) return $ref.slice($ref.lastIndexOf('/') + 1)
  if (only !== undefined) return JSON.stringify(only)
  if (choices !== undefined) return choices.map((one) => JSON.stringify(one)).join(' | ')
  if (allOf !== undefined) return allOf.map((one) => `(${typeOf(one)})`).join(' & ')
  const variants = oneOf ?? anyOf
  if (variants !== undefined) return variants.map((one) => `(${typeOf(one)})`).join(' | ')
  if (Array.isArray(type)) {
    return type.map((one: string) => (one === 'null' ? 'null' : `(${typeOf({ ...schema, type: one })})`)).join(' | ')
  }
  switch (type) {
    case 'string':
    case 'boolean':
      return type
    case 'number':
    case 'integer':
      return 'number'
    case 'null':
      return 'null'
    case 'array':
      return items === undefined ? 'unknown[]' : `(${typeOf(items)})[]`
    case 'object': {
      const { additionalProperties: others } = schema
      const rest = typeof others === 'object' ? typeOf(others) : 'unknown'
      if (properties === undefined) return `{ [name: string]: ${rest} }`
      const fields = Object.entries(properties).map(([name, of]) => {
        return `${doc(of.description)}${quoted(name)}${required.includes(name) ? '' : '?'}: ${typeOf(of)}\n`
      })
      return `{\n${fields.join('')}}`
    }
    case undefined:
    default:
      return 'unknown'
  }
}

const quoted = (name: string): string => (/^[a-z_$][\w$]*$/i.test(name) ? name : JSON.stringify(name))
const doc = (text = ''): string => (text === '' ? '' : `/** ${text.replaceAll('*/', '* /').replaceAll('\n', ' ')} */\n`)
