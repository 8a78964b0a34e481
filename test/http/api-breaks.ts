/**
 * What in a description of the REST API breaks clients of an earlier one: operations, parameters and fields that are
 * gone or have another type, and new demands on requests. What is added breaks nobody, as the description promises.
 */
import type { JsonSchema, OpenApi, Operation } from '../../ops/rehearse/fuzz/judge.ts'

/** Whether clients write a value or read it. A client may write less than allowed, and must be able to read all. */
type Way = 'request' | 'answer'

/** Keywords that bound a value. A request may not become bounded more narrowly. */
const BOUNDS = {
  minimum: 1,
  exclusiveMinimum: 1,
  minLength: 1,
  minItems: 1,
  maximum: -1,
  exclusiveMaximum: -1,
  maxLength: -1,
  maxItems: -1,
} as const

/** One line for each break, with the place and both versions of what changed. */
export function apiBreaks(before: OpenApi, after: OpenApi): readonly string[] {
  const breaks = new Set<string>()
  const compare = comparer(before, after, (line) => breaks.add(line))
  for (const [path, operations] of Object.entries(before.paths)) {
    for (const [method, operation] of Object.entries(operations)) {
      const name = `${method.toUpperCase()} ${path}`
      const now = after.paths[path]?.[method]
      if (now === undefined) breaks.add(`${name}: the operation is gone`)
      else compareOperations(name, operation, now, { compare, say: (line) => breaks.add(`${name}${line}`) })
    }
  }
  const errors = [codesOf(before), codesOf(after)] as const
  for (const [code, schema] of errors[0]) {
    const now = errors[1].get(code)
    if (now === undefined) breaks.add(`error ${code}: is gone`)
    else compare(`error ${code}`, schema, now, 'answer')
  }
  return [...breaks]
}

type Compare = (at: string, was: JsonSchema, is: JsonSchema, way: Way) => void

function compareOperations(
  name: string,
  was: Operation,
  is: Operation,
  { compare, say }: { readonly compare: Compare; readonly say: (line: string) => void },
): void {
  if (was.operationId !== is.operationId) say(`: the operationId ${was.operationId} is now ${is.operationId}`)
  const waysIn = new Set((is.security ?? []).map((way) => JSON.stringify(way)))
  for (const way of was.security ?? []) {
    const text = JSON.stringify(way)
    if (!waysIn.has(text)) say(`: no longer open with ${text}`)
  }
  const parameters = new Map((is.parameters ?? []).map((one) => [`${one.in} parameter ${one.name}`, one]))
  for (const one of was.parameters ?? []) {
    const key = `${one.in} parameter ${one.name}`
    const now = parameters.get(key)
    parameters.delete(key)
    if (now === undefined) say(` ${key}: is gone`)
    else {
      if (now.required === true && one.required !== true) say(` ${key}: is now required`)
      compare(`${name} ${key}`, one.schema, now.schema, 'request')
    }
  }
  for (const [key, { required }] of parameters) if (required === true) say(` ${key}: is new and required`)

  if (is.requestBody?.required === true && was.requestBody?.required !== true) say(' body: is now required')
  for (const [type, { schema }] of Object.entries(was.requestBody?.content ?? {})) {
    const now = is.requestBody?.content[type]
    if (now === undefined) say(` body: ${type} is no longer accepted`)
    else compare(`${name} body`, schema, now.schema, 'request')
  }
  for (const [status, { content = {} }] of Object.entries(was.responses)) {
    const now = is.responses[status]
    if (now === undefined && Number(status) < 400) say(` ${status}: is no longer answered`)
    // Errors are compared by code: which route answers with which may change.
    if (now === undefined || Number(status) >= 400) continue
    for (const [type, { schema }] of Object.entries(content)) {
      const media = now.content?.[type]
      if (media === undefined) say(` ${status}: ${type} is no longer answered`)
      else compare(`${name} ${status}`, schema, media.schema, 'answer')
    }
  }
}

function comparer(before: OpenApi, after: OpenApi, say: (line: string) => void): Compare {
  const compared = new Set<string>()
  const compare = (at: string, was: JsonSchema, is: JsonSchema, way: Way): void => {
    // A named schema is reported once, at its name.
    const named = nameOf(was) ?? null
    if (named !== null) {
      const pair = `${way} ${named} ${nameOf(is) ?? JSON.stringify(is)}`
      if (compared.has(pair)) return
      compared.add(pair)
    }
    const place = named === null ? at : `${way} schema ${named}`
    const [old, now] = [flat(was, before), flat(is, after)]
    const variants = [variantsOf(old), variantsOf(now)] as const
    if (variants[0].length > 0 || variants[1].length > 0) {
      compareVariants(
        place,
        [variants[0].length > 0 ? variants[0] : [was], variants[1].length > 0 ? variants[1] : [is]],
        way,
      )
    }
    compareValues(place, old, now, { way, say })
    const [oldFields, fields] = [fieldsOf(old), fieldsOf(now)]
    for (const [field, schema] of Object.entries(oldFields)) {
      const inside = `${place}.${field}`
      const next = fields[field]
      if (next === undefined) say(`${inside}: is gone`)
      else {
        if (way === 'answer' && isRequired(old, field) && !isRequired(now, field)) say(`${inside}: is now optional`)
        compare(inside, schema, next, way)
      }
    }
    for (const field of Object.keys(fields)) {
      const isNew = way === 'request' && isRequired(now, field) && !isRequired(old, field)
      if (isNew) say(`${place}.${field}: is ${field in oldFields ? 'now' : 'new and'} required`)
    }
    if (isSchema(old['items']) && isSchema(now['items'])) compare(`${place}[]`, old['items'], now['items'], way)
    const [values, newValues] = [old['additionalProperties'], now['additionalProperties']]
    if (isSchema(values) && isSchema(newValues)) compare(`${place}.*`, values, newValues, way)
  }
  /** Each old variant must have a new one that breaks nothing. */
  const compareVariants = (
    at: string,
    [olds, news]: readonly [readonly JsonSchema[], readonly JsonSchema[]],
    way: Way,
  ) => {
    for (const [n, old] of olds.entries()) {
      const namesake = news.filter((one) => nameOf(one) !== undefined && nameOf(one) === nameOf(old))
      const found = (namesake.length > 0 ? namesake : news).map((one) => {
        const lines: string[] = []
        comparer(before, after, (line) => lines.push(line))(at, old, one, way)
        return lines
      })
      const [least] = found.toSorted((a, b) => a.length - b.length)
      if (least === undefined) say(`${at}: variant ${n + 1} is gone`)
      else for (const line of least) say(line)
    }
  }
  return compare
}

/** Types, formats, enums and bounds. */
function compareValues(
  at: string,
  was: JsonSchema,
  is: JsonSchema,
  { way, say }: { readonly way: Way; readonly say: (line: string) => void },
): void {
  const [types, newTypes] = [typesOf(was), typesOf(is)]
  const [wide, narrow] = way === 'request' ? [newTypes, types] : [types, newTypes]
  const fits = narrow.every((type) => wide.includes(type) || (type === 'integer' && wide.includes('number')))
  const isNarrower = wide.length > 0 && (narrow.length === 0 || !fits)
  if (isNarrower) say(`${at}: the type ${shown(types)} is now ${shown(newTypes)}`)
  else if (was['format'] !== is['format'] && (way === 'answer' ? was['format'] : is['format']) !== undefined) {
    say(`${at}: the format ${String(was['format'])} is now ${String(is['format'])}`)
  }
  const [values, newValues] = [enumOf(was), enumOf(is)]
  const gone = (values ?? []).filter((value) => newValues !== null && !newValues.includes(value))
  if (gone.length > 0) say(`${at}: no longer has ${gone.map((value) => JSON.stringify(value)).join(', ')}`)
  if (way === 'answer') {
    if (values !== null && newValues === null) say(`${at}: has any value now, not only ${JSON.stringify(values)}`)
    return
  }
  if (values === null && newValues !== null) say(`${at}: accepts only ${JSON.stringify(newValues)} now`)
  for (const [keyword, sign] of Object.entries(BOUNDS)) {
    const [old, now] = [was[keyword], is[keyword]]
    if (typeof now !== 'number') continue
    if (typeof old !== 'number' || now * sign > old * sign) say(`${at}: ${keyword} was ${String(old)} and is ${now}`)
  }
  if (is['pattern'] !== undefined && was['pattern'] !== is['pattern']) {
    say(`${at}: the pattern ${JSON.stringify(was['pattern'])} is now ${JSON.stringify(is['pattern'])}`)
  }
}

/** The codes of errors, with their schemas. */
function codesOf({ components: { schemas } }: OpenApi): ReadonlyMap<string, JsonSchema> {
  const { discriminator } = schemas['Error'] as {
    readonly discriminator?: { readonly mapping: Record<string, string> }
  }
  return new Map(Object.entries(discriminator?.mapping ?? {}).map(([code, $ref]) => [code, { $ref }]))
}

/** With its reference and its parts resolved. */
function flat(schema: JsonSchema, document: OpenApi): JsonSchema {
  const name = nameOf(schema)
  if (name !== undefined) return flat(document.components.schemas[name] ?? {}, document)
  const { allOf, ...own } = schema
  if (!Array.isArray(allOf)) return schema
  return [...(allOf as readonly JsonSchema[]).map((part) => flat(part, document)), own].reduce((all, part) => ({
    ...all,
    ...part,
    properties: { ...fieldsOf(all), ...fieldsOf(part) },
    required: [...requiredOf(all), ...requiredOf(part)],
  }))
}

const nameOf = ({ $ref }: JsonSchema): string | undefined =>
  typeof $ref === 'string' ? $ref.slice($ref.lastIndexOf('/') + 1) : undefined
const isSchema = (value: unknown): value is JsonSchema => typeof value === 'object' && value !== null
const fieldsOf = (schema: JsonSchema) => (schema['properties'] ?? {}) as Readonly<Record<string, JsonSchema>>
const requiredOf = (schema: JsonSchema) => (schema['required'] ?? []) as readonly string[]
const isRequired = (schema: JsonSchema, field: string): boolean => requiredOf(schema).includes(field)
const variantsOf = (schema: JsonSchema) => (schema['oneOf'] ?? schema['anyOf'] ?? []) as readonly JsonSchema[]
const typesOf = ({ type }: JsonSchema): readonly string[] =>
  Array.isArray(type) ? (type as string[]) : typeof type === 'string' ? [type] : []
const enumOf = (schema: JsonSchema): readonly unknown[] | null =>
  Array.isArray(schema['enum']) ? schema['enum'] : 'const' in schema ? [schema['const']] : null
const shown = (types: readonly string[]): string => (types.length === 0 ? 'any' : types.join(' or '))
