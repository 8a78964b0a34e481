/** Composes the example of a parameter or body from the examples that its fields carry. */
import type { Schema, Schemas } from './documents.ts'

/**
 * The example of a schema. A schema's own example wins; otherwise objects are composed from their fields, without
 * optional fields that have no example, and enums show their first value. Throws for a required field without an
 * example.
 */
export function exampleOf(schema: Schema, named: Schemas): unknown {
  const found = compose(schema, named)
  if (found === NONE) throw new Error(`no example for ${JSON.stringify(schema)}; give its schema one`)
  return found
}

const NONE = Symbol('no example')

function compose(schema: Schema, named: Schemas): unknown {
  const { $ref, example, allOf, properties, items } = schema
  if (example !== undefined) return example
  if ($ref !== undefined) return exampleOf(named[$ref.slice($ref.lastIndexOf('/') + 1)] ?? {}, named)
  if (allOf !== undefined) {
    // A part that only describes has nothing to show.
    const parts = allOf.filter((part) => part.$ref !== undefined || part.properties !== undefined)
    return Object.assign({}, ...parts.map((part) => exampleOf(part, named))) as unknown
  }
  if (properties !== undefined) return objectOf(schema, properties, named)
  if (items !== undefined) {
    const item = compose(items, named)
    return item === NONE ? NONE : [item]
  }
  return valueOf(schema, named)
}

function objectOf({ required = [] }: Schema, properties: Schemas, named: Schemas): unknown {
  const fields = Object.entries(properties).flatMap(([name, schema]) => {
    const value = compose(schema, named)
    if (value !== NONE) return [[name, value] as const]
    if (required.includes(name)) throw new Error(`no example for the field ${name}; give its schema one`)
    return []
  })
  return Object.fromEntries(fields)
}

function valueOf(schema: Schema, named: Schemas): unknown {
  // Of the variants of a body here, the last one has the most fields.
  const variant = (schema.oneOf ?? schema.anyOf)?.filter(({ type }) => type !== 'null').at(-1)
  if (variant !== undefined) return compose(variant, named)
  if (schema.default !== undefined) return schema.default
  if (schema.const !== undefined) return schema.const
  return schema.enum === undefined ? NONE : schema.enum[0]
}
