/** PostgreSQL array literals, in which both drivers pass hundreds of rows as one parameter. */
import { assert } from '../../actors/kernel/assert.ts'

export type ArrayArgument = string | Buffer

/** Encodes arrays as arguments of a connection's `call`. */
export interface ArrayFormat {
  bigints(this: void, values: readonly (number | null)[]): ArrayArgument
  integers(this: void, values: readonly (number | null)[]): ArrayArgument
  smallints(this: void, values: readonly number[]): ArrayArgument
  uuids(this: void, values: readonly (string | null)[]): ArrayArgument
  /** Milliseconds since 1970. */
  instants(this: void, values: readonly (number | null)[]): ArrayArgument
  texts(this: void, values: readonly (string | null)[]): ArrayArgument
  bytes(this: void, values: readonly (Uint8Array | null)[]): ArrayArgument
}

const literal = (items: readonly string[]): string => `{${items.join(',')}}`

const plain = (values: readonly (number | string | null)[]): string =>
  literal(values.map((value) => (value === null ? 'NULL' : String(value))))

export const bigints = (values: readonly (number | null)[]): string => plain(values)
export const integers = (values: readonly (number | null)[]): string => plain(values)
export const smallints = (values: readonly number[]): string => plain(values)
export const uuids = (values: readonly (string | null)[]): string => plain(values)

/** Milliseconds since 1970 as timestamps. */
export function instants(values: readonly (number | null)[]): string {
  let [lastMs, last] = [Number.NaN, '']
  return plain(
    values.map((ms) => {
      if (ms === null) return null
      // Most instants of a batch are equal, and formatting one takes as long as the rest of the row.
      if (ms !== lastMs) [lastMs, last] = [ms, `"${new Date(ms).toISOString()}"`]
      return last
    }),
  )
}

/** Any text, quotes and backslashes included. */
export const texts = (values: readonly (string | null)[]): string =>
  literal(values.map((value) => (value === null ? 'NULL' : `"${escaped(value)}"`)))

const escaped = (value: string): string => (/[\\"]/.test(value) ? value.replace(/[\\"]/g, '\\$&') : value)

const bytes = (values: readonly (Uint8Array | null)[]): string =>
  plain(values.map((value) => (value === null ? null : `"\\\\x${Buffer.from(value).toString('hex')}"`)))

export const LITERALS: ArrayFormat = { bigints, integers, smallints, uuids, instants, texts, bytes }

/** One line of JSON per value, empty for null: `string_to_array` reads this four times as fast as an array of JSON. */
export const jsonLines = (values: readonly unknown[]): string =>
  values.map((value) => (value === null ? '' : JSON.stringify(value))).join('\n')

/** The values of a literal of bigints; none for null. */
export const bigintsFrom = (literalOrNull: string | null): (number | null)[] =>
  literalOrNull === null || literalOrNull === '{}'
    ? []
    : literalOrNull
        .slice(1, -1)
        .split(',')
        .map((text) => (text === 'NULL' ? null : safeInteger(text)))

/** `bigint` as a number. Every stored quantity is a safe integer; any other must not be rounded silently. */
export function safeInteger(text: string): number {
  const value = Number(text)
  assert(Number.isSafeInteger(value), `the database holds an integer that is not exact as a number: ${text}`)
  return value
}
