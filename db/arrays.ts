/** PostgreSQL array literals: the one form in which both drivers pass hundreds of rows as one parameter. */

const literal = (items: readonly string[]): string => `{${items.join(',')}}`

const plain = (values: readonly (number | string | null)[]): string =>
  literal(values.map((value) => (value === null ? 'NULL' : String(value))))

export const bigints = (values: readonly (number | null)[]): string => plain(values)
export const integers = (values: readonly number[]): string => plain(values)
export const smallints = (values: readonly number[]): string => plain(values)
export const booleans = (values: readonly boolean[]): string => literal(values.map(String))
export const uuids = (values: readonly string[]): string => plain(values)

/** Milliseconds since 1970 as timestamps. */
export const instants = (values: readonly (number | null)[]): string =>
  plain(values.map((ms) => (ms === null ? null : `"${new Date(ms).toISOString()}"`)))

/** Any text, quotes and backslashes included. */
export const texts = (values: readonly (string | null)[]): string =>
  literal(values.map((value) => (value === null ? 'NULL' : `"${escaped(value)}"`)))

const escaped = (value: string): string => (/[\\"]/.test(value) ? value.replace(/[\\"]/g, '\\$&') : value)

/** JSON, a line each, null as an empty one: for `string_to_array`, which reads it four times as fast as an array of it. */
export const jsonLines = (values: readonly unknown[]): string =>
  values.map((value) => (value === null ? '' : JSON.stringify(value))).join('\n')
