/**
 * Readers of stored JSON. A reader turns an unknown value into its type, fills in what an older version did not write,
 * and throws Unreadable, which names the field, for a value that cannot be right.
 */

/** A stored value that no version of this code has written. Retrying does not help. */
export class Unreadable extends Error {
  override name = 'Unreadable'

  constructor(path: string, value: unknown, expected: string) {
    super(`${path} is ${shown(value)}, not ${expected}`)
  }
}

const SHOWN_MAX = 60
const shown = (value: unknown): string => (JSON.stringify(value) ?? 'missing').slice(0, SHOWN_MAX)

/** `path` names the value for people: `match 7: info.home.goals`. */
export type Reader<T> = (value: unknown, path: string) => T

export const text: Reader<string> = (value, path) => {
  if (typeof value !== 'string') throw new Unreadable(path, value, 'a text')
  return value
}

export const boolean: Reader<boolean> = (value, path) => {
  if (typeof value !== 'boolean') throw new Unreadable(path, value, 'true or false')
  return value
}

export const number: Reader<number> = (value, path) => {
  if (typeof value !== 'number' || !Number.isFinite(value)) throw new Unreadable(path, value, 'a number')
  return value
}

export const integer: Reader<number> = (value, path) => {
  if (typeof value !== 'number' || !Number.isSafeInteger(value)) throw new Unreadable(path, value, 'an integer')
  return value
}

/** One of the keys of a record, which lists them all. */
export function keyOf<K extends string>(record: Readonly<Record<K, unknown>>): Reader<K> {
  const isKey = (value: string): value is K => Object.hasOwn(record, value)
  return (value, path) => {
    if (typeof value !== 'string' || !isKey(value))
      throw new Unreadable(path, value, `one of ${Object.keys(record).join(', ')}`)
    return value
  }
}

export function oneOf<const T extends string | number>(values: readonly T[]): Reader<T> {
  return (value, path) => {
    const found = values.find((one) => one === value)
    if (found === undefined) throw new Unreadable(path, value, `one of ${values.join(', ')}`)
    return found
  }
}

/** The value as another type, such as a branded id. */
export const as =
  <A, B>(read: Reader<A>, convert: (value: A) => B): Reader<B> =>
  (value, path) =>
    convert(read(value, path))

/** Null where nothing was written. */
export const nullable =
  <T>(read: Reader<T>): Reader<T | null> =>
  (value, path) =>
    value === null || value === undefined ? null : read(value, path)

/** `missing` where an older version wrote nothing. */
export const or =
  <T>(read: Reader<T>, missing: T): Reader<T> =>
  (value, path) =>
    value === undefined ? missing : read(value, path)

export const listOf =
  <T>(read: Reader<T>): Reader<readonly T[]> =>
  (value, path) => {
    if (!Array.isArray(value)) throw new Unreadable(path, value, 'a list')
    return value.map((item: unknown, n) => read(item, `${path}[${n}]`))
  }

export const recordOf =
  <T>(read: Reader<T>): Reader<Readonly<Record<string, T>>> =>
  (value, path) =>
    Object.fromEntries(Object.entries(object(value, path)).map(([key, item]) => [key, read(item, `${path}.${key}`)]))

/** Reads the fields of an object one by one: `const field = fieldsOf(value, path)`, then `field('name', text)`. */
export function fieldsOf(value: unknown, path: string): <T>(name: string, read: Reader<T>) => T {
  const fields = object(value, path)
  return (name, read) => read(Reflect.get(fields, name), `${path}.${name}`)
}

function object(value: unknown, path: string): object {
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw new Unreadable(path, value, 'an object')
  return value
}
