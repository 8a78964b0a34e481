/**
 * Checks answers against the API description. An undeclared status, a body that does not fit, an undeclared code, an
 * undescribed field and a described header where the description does not expect it are wrong.
 */
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js'
import { default as addFormats } from 'ajv-formats'

/** The parts of an OpenAPI document that are read here. */
export interface OpenApi {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>
  readonly tags: readonly { readonly name: string }[]
  readonly components: {
    readonly schemas: Readonly<Record<string, JsonSchema>>
    readonly examples: Readonly<Record<string, { readonly value: unknown }>>
    readonly headers: Readonly<Record<string, unknown>>
  }
}
export interface Operation {
  readonly operationId?: string
  readonly deprecated?: boolean
  readonly summary?: string
  readonly description?: string
  readonly tags?: readonly string[]
  readonly security?: readonly Readonly<Record<string, readonly string[]>>[]
  readonly parameters?: readonly Parameter[]
  readonly requestBody?: { readonly required?: boolean; readonly content: Content }
  readonly responses: Readonly<
    Record<string, { readonly content?: Content; readonly headers?: Readonly<Record<string, unknown>> }>
  >
}
export interface Parameter {
  readonly name: string
  readonly in: 'path' | 'query' | 'header'
  readonly required?: boolean
  readonly schema: JsonSchema
  readonly example?: unknown
}
type Content = Readonly<Record<string, Media>>
interface Media {
  readonly schema: JsonSchema
  readonly example?: unknown
  readonly examples?: Readonly<Record<string, unknown>>
}
export type JsonSchema = Readonly<Record<string, unknown>>

export interface Received {
  readonly method: string
  /** With or without a query. */
  readonly path: string
  readonly status: number
  readonly contentType: string | null
  /** The names of its headers. */
  readonly headers: readonly string[]
  /** The value of a JSON body, otherwise the text. */
  readonly body: unknown
}

export interface Judge {
  readonly document: OpenApi
  /** What is wrong with an answer, or null. */
  readonly judge: (received: Received) => string | null
  /** The described route of a request, by name; null if there is none. */
  readonly routeOf: (method: string, path: string) => string | null
  /** Why a value does not fit a schema of the document, or null. */
  readonly check: (schema: JsonSchema, value: unknown) => string | null
}

/** Statuses outside every route; preflights are 204. */
const NOWHERE: ReadonlySet<number> = new Set([403, 404, 405, 413, 429])

export function createJudge(document: OpenApi): Judge {
  const ajv = new Ajv2020({ strict: false, allErrors: false, validateSchema: false })
  addFormats.default(ajv)
  ajv.addSchema(closed(document) as Record<string, unknown>, 'api')
  const routes = Object.entries(document.paths).map(([path, operations]) => ({
    path,
    operations,
    pattern: new RegExp(`^${path.replaceAll('.', '\\.').replaceAll(/\{[^}]+\}/g, '[^/]+')}$`),
    parameters: path.split('{').length,
  }))
  // A literal path wins over one with a parameter.
  const ordered = routes.toSorted((a, b) => a.parameters - b.parameters)
  const compiled = new Map<string, ValidateFunction>()
  const validator = (pointer: readonly string[]): ValidateFunction => {
    const ref = `api#/${pointer
      .map((part) => part.replaceAll('~', '~0').replaceAll('/', '~1'))
      .map(encodeURIComponent)
      .join('/')}`
    const known = compiled.get(ref) ?? ajv.compile({ $ref: ref })
    compiled.set(ref, known)
    return known
  }

  const described = new Set([...lower(document.components.headers), 'retry-after'])
  const find = (method: string, plain: string) => {
    // HEAD is answered like GET.
    const verb = method === 'HEAD' ? 'get' : method.toLowerCase()
    const route = ordered.find((one) => Object.hasOwn(one.operations, verb) && one.pattern.test(plain))
    return { verb, route, operation: route?.operations[verb] }
  }
  const routeOf: Judge['routeOf'] = (method, path) => {
    const { route } = find(method, plainOf(path))
    return route === undefined ? null : `${method === 'HEAD' ? 'GET' : method} ${route.path}`
  }

  const judge = ({ method, path, status, contentType, headers, body }: Received): string | null => {
    // Node itself answers headers of more than 16 KiB, before there is a request.
    if (status === 431 && body === '') return null
    const plain = plainOf(path)
    const { verb, route, operation } = find(method, plain)
    if (route === undefined || operation === undefined) {
      const isPreflight = method === 'OPTIONS' && status === 204
      return isPreflight || NOWHERE.has(status) ? null : `${method} ${plain} is not described and answers ${status}`
    }
    const declared = operation.responses[status]
    if (declared === undefined) return `${method} ${route.path} does not declare ${status}: ${JSON.stringify(body)}`
    const names = lower(declared.headers)
    const stray = headers.find((name) => described.has(name.toLowerCase()) && !names.has(name.toLowerCase()))
    if (stray !== undefined) return `${method} ${route.path} does not declare the header ${stray} for ${status}`
    if (method === 'HEAD') return null
    const type = contentType?.split(';')[0]?.trim() ?? ''
    // Not Modified has no body.
    if (status === 304 && contentType === null) return null
    const media = declared.content?.[type]
    if (media === undefined) return `${method} ${route.path} answers ${status} with '${type}'`
    if (type !== 'application/json') return null
    const fits = validator(['paths', route.path, verb, 'responses', String(status), 'content', type, 'schema'])
    if (fits(body)) return null
    return `${method} ${route.path} answers ${status}: ${ajv.errorsText(fits.errors)}; it was ${JSON.stringify(body)}`
  }
  const check: Judge['check'] = (schema, value) => {
    const fits = ajv.compile(absolute(schema) as JsonSchema)
    return fits(value) ? null : ajv.errorsText(fits.errors)
  }
  return { document, judge, routeOf, check }
}

const lower = (headers: object = {}): ReadonlySet<string> =>
  new Set(Object.keys(headers).map((name) => name.toLowerCase()))

const plainOf = (path: string): string => path.split(/[?#]/)[0] ?? ''

/** Forbids undescribed fields in objects, unless the schema says otherwise. */
function closed(node: unknown, isPart = false): unknown {
  if (Array.isArray(node)) return node.map((one) => closed(one))
  if (typeof node !== 'object' || node === null) return node
  const fields = Object.entries(node).map(([key, value]) => {
    // Examples look like schemas, but are not.
    if (key === 'example' || key === 'examples' || key === 'default') return [key, value] as const
    if (key === 'allOf' && Array.isArray(value)) return [key, value.map((part) => closed(part, true))] as const
    return [key, closed(value)] as const
  })
  const isOpen = 'additionalProperties' in node || (!('properties' in node && 'type' in node) && !('allOf' in node))
  return Object.fromEntries(isPart || isOpen ? fields : [...fields, ['unevaluatedProperties', false]])
}

/** Makes references absolute, to this document. */
function absolute(node: unknown): unknown {
  if (Array.isArray(node)) return node.map((one) => absolute(one))
  if (typeof node !== 'object' || node === null) return node
  return Object.fromEntries(
    Object.entries(node).map(([key, value]) => [
      key,
      key === '$ref' && typeof value === 'string' ? `api${value}` : absolute(value),
    ]),
  )
}
