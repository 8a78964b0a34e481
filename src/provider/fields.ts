/**
 * The kinds of field in a payload. Each reads any JSON value: as what it is, as null where it is absent, or as REFUSED
 * where it cannot be right. A refused field counts as absent, and what was refused is counted by its name.
 */
import { MINUTE_MAX } from '../../actors/market/fixture.ts'

/** A value that is no measurement of its kind. */
const REFUSED = Symbol('refused')

type Read<T> = T | null | typeof REFUSED

/** What was refused, by name of the field or list, and how often. */
export type Skipped = Record<string, number>

/** `row`: the object that the field is of. */
export type Field<T> = (value: unknown, name: string, skipped: Skipped, row?: object) => Read<T>

/** What a field is in a row. */
export type In<F> = F extends Field<infer T> ? (F extends Required<T> ? T : T | null) : never

type Required<T> = Field<T> & { readonly isRequired: true }

/** A row without this field, or with one that cannot be read, is skipped. */
export const required = <T>(field: Field<T>): Required<T> =>
  Object.assign((...args: Parameters<Field<T>>) => field(...args), { isRequired: true as const })

/** Numbers come as numbers or as text, with a decimal point or comma. */
const NUMBER = /^[+-]?\d+(?:[.,]\d+)?$/

function numberIn(value: unknown): Read<number> {
  if (value === null || value === undefined || value === '') return null
  if (typeof value === 'number') return Number.isFinite(value) ? value : REFUSED
  const text = typeof value === 'string' ? value.trim() : ''
  return NUMBER.test(text) ? Number(text.replace(',', '.')) : REFUSED
}

export const numberFrom =
  (min: number, max: number): Field<number> =>
  (value) => {
    const number = numberIn(value)
    return typeof number !== 'number' || (number >= min && number <= max) ? number : REFUSED
  }

/** A whole number from 0 on. */
export const count =
  (max: number, min = 0): Field<number> =>
  (value) => {
    const number = numberIn(value)
    if (typeof number !== 'number') return number
    return Number.isSafeInteger(number) && number >= min && number <= max ? number + 0 : REFUSED
  }

/** A number that the provider has given a row, a person or a kind. */
export const id: Field<number> = count(Number.MAX_SAFE_INTEGER, 1)

export const flag: Field<boolean> = (value) => {
  if (value === null || value === undefined) return null
  if (typeof value === 'boolean') return value
  return value === 1 || value === '1' || value === 'true'
    ? true
    : value === 0 || value === '0' || value === 'false'
      ? false
      : REFUSED
}

export interface Minute {
  readonly minute: number
  readonly extra: number | null
}

const MINUTE = /^(\d{1,3})(?:\.0+)?(?:\s*\+\s*(\d{1,2}))?\s*['’′]?$/

/** A minute of play: `42`, `"42.0"`, `"42'"`, `"45+2"`. */
export const minute: Field<Minute> = (value) => {
  if (value === null || value === undefined || value === '') return null
  const found = typeof value === 'string' || typeof value === 'number' ? MINUTE.exec(String(value).trim()) : null
  if (found === null || Number(found[1]) > MINUTE_MAX) return REFUSED
  return { minute: Number(found[1]), extra: found[2] === undefined ? null : Number(found[2]) }
}

const TEXT_MAX = 120
/** Control and direction characters. */
const UNSEEN = /[\p{Cc}\u061C\u200E\u200F\u202A-\u202E\u2066-\u2069]+/gu

/** Text for people: in one line, of at most 120 characters, without U+0000, lone surrogates and direction marks. */
export const text: Field<string> = (value) => {
  if (value === null || value === undefined) return null
  if (typeof value !== 'string') return REFUSED
  const clean = value
    .toWellFormed()
    .replaceAll(/[\0\uFFFD]/g, '')
    .replace(UNSEEN, ' ')
    .replace(/\s+/g, ' ')
    .trim()
  return clean === '' ? null : Array.from(clean).slice(0, TEXT_MAX).join('')
}

/** Text for programs: trimmed, in capitals, and with underscores between its words. */
export const word: Field<string> = (value, ...rest) => {
  const read = text(value, ...rest)
  return typeof read === 'string' ? read.toUpperCase().replace(/[\s_-]+/g, '_') : read
}

export const oneOf =
  <const T extends string>(...values: readonly T[]): Field<T> =>
  (value) => {
    if (value === null || value === undefined) return null
    return values.find((one) => typeof value === 'string' && value.trim().toLowerCase() === one) ?? REFUSED
  }

const DATE = /^(\d{4}-\d{2}-\d{2})[ T](\d{2}:\d{2}(?::\d{2})?)(?:\.\d+)?\s*(Z|[+-]\d{2}:?\d{2})?$/i

/** A date and time in milliseconds since 1970. One without a zone is UTC. */
export const date: Field<number> = (value) => {
  if (value === null || value === undefined || value === '') return null
  const found = typeof value === 'string' ? DATE.exec(value.trim()) : null
  const zone = found?.[3]?.toUpperCase().replace(/^([+-]\d{2}):?(\d{2})$/, '$1:$2') ?? 'Z'
  const at = found === null ? NaN : Date.parse(`${found[1]}T${found[2]}${zone}`)
  return Number.isNaN(at) ? REFUSED : at
}

type Fields = Readonly<Record<string, Field<unknown>>>
export type Row<F extends Fields> = { readonly [K in keyof F]: In<F[K]> }

/** A field of an object. A provider that includes what a number stands for may give the number only there. */
function fieldIn(value: object, key: string): unknown {
  const own: unknown = Reflect.get(value, key)
  if ((own !== undefined && own !== null) || !key.endsWith('_id')) return own
  const included: unknown = Reflect.get(value, key.slice(0, -'_id'.length))
  return typeof included === 'object' && included !== null ? Reflect.get(included, 'id') : own
}

/** An object with these fields. Others are not read. */
export const record =
  <F extends Fields>(fields: F): Field<Row<F>> =>
  (value, name, skipped) => {
    if (value === null || value === undefined) return null
    if (typeof value !== 'object' || Array.isArray(value)) return REFUSED
    const row: Record<string, unknown> = {}
    for (const [key, field] of Object.entries(fields)) {
      const path = name === '' ? key : `${name}.${key}`
      const read = field(fieldIn(value, key), path, skipped, value)
      if (read === REFUSED) skipped[path] = (skipped[path] ?? 0) + 1
      if ((read === null || read === REFUSED) && 'isRequired' in field) return REFUSED
      row[key] = read === REFUSED ? null : read
    }
    return row as Row<F>
  }

const ROWS_MAX = 1_000

/**
 * A list, or one in `data`, as version 2 of the API had them. PHP writes one that has lost rows as an object, under the
 * numbers that are left.
 */
export function listIn(value: unknown): readonly unknown[] | null {
  if (Array.isArray(value)) return value
  if (typeof value !== 'object' || value === null) return null
  if ('data' in value && Array.isArray(value.data)) return value.data
  const numbers = Object.keys(value)
  return numbers.length > 0 && numbers.every((key) => /^\d+$/.test(key)) ? Object.values(value) : null
}

/** The readable rows of a list; null where there is no list. Rows beyond the first 1,000 are skipped. */
export function rows<T>(row: Field<T>): Field<readonly T[]> {
  return (value, name, skipped) => {
    if (value === null || value === undefined) return null
    const list = listIn(value)
    if (list === null) return REFUSED
    if (list.length > ROWS_MAX) skipped[name] = (skipped[name] ?? 0) + list.length - ROWS_MAX
    return list.slice(0, ROWS_MAX).flatMap((item: unknown): T[] => {
      const read = row(item, name, skipped)
      if (read !== null && read !== REFUSED) return [read]
      skipped[name] = (skipped[name] ?? 0) + 1
      return []
    })
  }
}

/**
 * A row of a long list. Payloads that were read from a recording or a journal share the rows that have not changed from
 * one to the next, so each is read once. No row is ever changed.
 */
export function shared<T>(field: Field<T>): Field<T> {
  const known = new WeakMap<object, { readonly read: Read<T>; readonly skipped: Skipped }>()
  return (value, name, skipped) => {
    if (typeof value !== 'object' || value === null) return field(value, name, skipped)
    const own: Skipped = {}
    const found = known.get(value) ?? { read: field(value, name, own), skipped: own }
    known.set(value, found)
    for (const [key, n] of Object.entries(found.skipped)) skipped[key] = (skipped[key] ?? 0) + n
    return found.read
  }
}

/** What a field is at the top of a payload, and null where it cannot be read. */
export function readAs<T>(field: Field<T>, value: unknown, skipped: Skipped): T | null {
  const read = field(value, '', skipped)
  return read === REFUSED ? null : read
}
