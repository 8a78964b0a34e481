/** Random requests made from the API description: some valid, most with something wrong. */
import { randomUUID } from 'node:crypto'
import { crc32 } from 'node:zlib'
import type { Chance } from '../../../actors/replay/chance.ts'
import type { JsonSchema, OpenApi, Operation } from './judge.ts'
import type { KnownValues } from './known-values.ts'

export interface FuzzRequest {
  readonly method: string
  /** With its query. */
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string | null
}

interface Route {
  readonly method: string
  readonly path: string
  readonly operation: Operation
}

/** Routes that are slow by nature, or that affect all users, are asked this many times less often. */
const RARELY = 20
const WEIGHTY = new RegExp(
  [
    'dev/batch|export.csv|rebuild|ledger/audit|spinner/run|asyncapi|openapi|docs',
    'auth/logout|auth/sessions/|api/keys|auth/refresh|admin/flags/|admin/settings/\\{|gameplay-bot/st|matches/\\{id\\}/end|/role|/api/me(/|$)|users/\\{id\\}/status|positions/\\{id\\}/void',
  ].join('|'),
)
const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'HEAD', 'OPTIONS', 'TRACE', 'PROPFIND']

/** Texts that often break programs. */
const TEXTS = [
  '',
  ' ',
  '\u0000',
  'a\u0000b',
  '\ud800',
  'a\udfffb',
  '0000-01-01T00:00:00Z',
  '1999-12-31T23:59:59.999Z',
  '9999-12-31T23:59:59Z',
  '+010000-01-01T00:00:00Z',
  '9999-W52',
  '\u202egnp.exe',
  'İı𝔘𝔫𝔦𝔠𝔬𝔡𝔢🏴󠁧󠁢󠁥󠁮󠁧󠁿',
  'e\u0301'.repeat(40),
  "'; drop table users; --",
  '" or 1=1',
  '<script>alert(1)</script>',
  '{{7*7}}${7*7}%n%s',
  '../../../../etc/passwd',
  '=1+1',
  '__proto__',
  'constructor',
  'toString',
  'hasOwnProperty',
  'null',
  'true',
  '-0',
  '1e400',
  'NaN',
  '0x10',
  '00000000-0000-0000-0000-000000000000',
  'ffffffff-ffff-ffff-ffff-ffffffffffff',
  'x'.repeat(300),
  'é'.repeat(1_000),
]
const NUMBERS = [
  0,
  -0,
  -1,
  0.01,
  0.005,
  1e-7,
  0.1234567,
  1.5,
  100,
  101,
  2 ** 31,
  2 ** 32,
  2 ** 53,
  -(2 ** 53),
  1e9,
  1e15,
  1e21,
  1e308,
  -1e308,
  5e-324,
]
const ODD: readonly unknown[] = [null, true, false, [], {}, [[]], [null], { a: { b: [1] } }, ...NUMBERS, ...TEXTS]

/** Bodies that are not JSON, or not of their declared type. */
const GARBAGE = [
  '',
  '{',
  '[',
  '"',
  'null',
  '[]',
  '7',
  'NaN',
  '{"a":1,}',
  '{"a":1}{"b":2}',
  '\ufeff{}',
  '\u0000',
  "{'a':1}",
]
const CONTENT_TYPES = [
  'text/plain',
  'application/x-www-form-urlencoded',
  'multipart/form-data; boundary=x',
  'application/xml',
  'application/json; charset=utf-16',
  'application/jsonp',
  'json',
  ';',
]
const HEADERS: readonly (readonly [string, string])[] = [
  ['Idempotency-Key', 'a'.repeat(256)],
  ['Idempotency-Key', '\u00ff'],
  ['User-Agent', '\u00ed\u00a0\u0080'],
  ['Traceparent', '00-\u00ff-0-01'],
  ['Idempotency-Key', ''],
  ['Origin', 'https://evil.example'],
  ['Origin', 'null'],
  ['Origin', 'nonsense'],
  ['Host', 'evil.example'],
  ['Accept', 'text/html;q=0.1, */*;q=0'],
  ['Accept-Encoding', 'br;q=0, gzip;q=0, *;q=0'],
  ['Authorization', 'Bearer nonsense'],
  ['Content-Encoding', 'gzip'],
  ['Cookie', 'game_access=; game_access=a; =; ; game_refresh'],
  ['Cookie', `game_access=${'a'.repeat(6_000)}`],
  ['If-None-Match', '*'],
  ['Range', 'bytes=0-1,5-'],
  ['X-Http-Method-Override', 'DELETE'],
  ['X-Request-Id', '\u00e9'],
  ['X-Forwarded-Proto', 'javascript'],
  ['Access-Control-Request-Method', 'PUT'],
  ['Traceparent', 'ff-not-a-trace'],
]

/** Makes requests to these routes from the values known so far. */
export function requestMaker(document: OpenApi, knownValues: KnownValues): (chance: Chance) => FuzzRequest {
  const routes = Object.entries(document.paths).flatMap(([path, operations]) =>
    Object.entries(operations).map(([method, operation]): Route => ({ method: method.toUpperCase(), path, operation })),
  )
  const quick = routes.filter(({ path }) => !WEIGHTY.test(path))
  const one = <T>(items: readonly T[], chance: Chance): T => items[chance.below(items.length)] as T

  function valueOf(schema: JsonSchema, name: string, chance: Chance): unknown {
    const { $ref, anyOf, oneOf, allOf, type, properties, items, example } = schema as {
      $ref?: string
      anyOf?: JsonSchema[]
      oneOf?: JsonSchema[]
      allOf?: JsonSchema[]
      type?: string | string[]
      properties?: Record<string, JsonSchema>
      items?: JsonSchema
      example?: unknown
    }
    if ($ref !== undefined)
      return valueOf(document.components.schemas[$ref.split('/').at(-1) ?? ''] ?? {}, name, chance)
    const variants = anyOf ?? oneOf ?? allOf
    if (variants !== undefined) return valueOf(one(variants, chance), name, chance)
    if (Array.isArray(schema['enum'])) return one(schema['enum'], chance)
    if (properties !== undefined) {
      const required = new Set((schema['required'] ?? []) as string[])
      const wanted = Object.entries(properties).filter(([key]) => required.has(key) || chance.happens(0.4))
      const made = Object.fromEntries(wanted.map(([key, each]) => [key, valueOf(each, key, chance)]))
      return 'clientPrice' in made ? { ...made, ...knownValues.order(chance) } : made
    }
    const kind = Array.isArray(type) ? one(type, chance) : type
    if (kind === 'null') return null
    if (kind === 'boolean') return chance.happens(0.5)
    if (kind === 'array') return Array.from({ length: chance.below(4) }, () => valueOf(items ?? {}, name, chance))
    if (kind === 'integer' || kind === 'number') return numberOf(schema, kind, chance)
    const known = knownValues.find(name, chance)
    if (known !== null && chance.happens(0.8)) return known
    if (schema['format'] === 'uuid') return knownValues.find('uuid', chance) ?? randomUUID()
    if (example !== undefined && chance.happens(0.5)) return example
    return kind === undefined ? one(ODD, chance) : `${name.slice(0, 10)}${chance.below(1_000)}`
  }

  function numberOf(schema: JsonSchema, kind: string, chance: Chance): number {
    const [from, to] = [Number(schema['minimum'] ?? 0), Math.min(Number(schema['maximum'] ?? 100), 1_000)]
    if (chance.happens(0.2)) return chance.happens(0.5) ? from : Number(schema['maximum'] ?? to)
    const value = from + chance.uniform() * (to - from)
    return kind === 'integer' ? Math.floor(value) : Math.round(value * 100) / 100
  }

  /** Breaks a value in one place. */
  function spoilt(value: unknown, chance: Chance): unknown {
    if (chance.happens(0.15) || typeof value !== 'object' || value === null) return one(ODD, chance)
    if (Array.isArray(value)) return [...value, ...Array.from({ length: chance.below(600) }, () => one(ODD, chance))]
    const entries = Object.entries(value)
    const n = chance.below(entries.length + 2)
    const [key, held] = entries[n] ?? [one(TEXTS, chance), one(ODD, chance)]
    const rest = entries.filter((_, i) => i !== n)
    const fate = chance.below(3)
    if (fate === 0) return Object.fromEntries(rest)
    return Object.fromEntries([...rest, [key, fate === 1 ? one(ODD, chance) : spoilt(held, chance)]])
  }

  const pathOf = ({ path, operation }: Route, chance: Chance): string =>
    path.replaceAll(/\{(\w+)\}/g, (_, name: string) => {
      // No `..` alone: every client takes it out of the address, and asks another route.
      if (chance.happens(0.15))
        return chance.happens(0.2) ? one(['%', '%00', '%zz', '..;', '%2e%2e%2f'], chance) : coded(one(TEXTS, chance))
      const parameter = operation.parameters?.find((each) => each.name === name)
      const [, resource = name] = new RegExp(`([\\w-]+)/\\{${name}\\}`).exec(path) ?? []
      const known = knownValues.find(name === 'id' || name === 'key' ? resource : name, chance)
      return coded(String(known ?? valueOf(parameter?.schema ?? {}, name, chance)))
    })

  function queryOf({ operation }: Route, chance: Chance): string {
    const pairs = (operation.parameters ?? [])
      .filter((parameter) => parameter.in === 'query' && chance.happens(0.5))
      .map((parameter) => {
        const { name, schema } = parameter
        const example = knownValues.find(name, chance) ?? schema['example'] ?? Reflect.get(parameter, 'example')
        if (typeof example === 'string' && CURSORS.has(name) && chance.happens(0.3)) {
          return `${name}=${coded(forged(example, chance))}`
        }
        const value = chance.happens(0.3) ? one(ODD, chance) : valueOf(schema, name, chance)
        return `${name}${chance.happens(0.05) ? '[]' : ''}=${coded(String(value))}`
      })
    if (chance.happens(0.1)) pairs.push(`${coded(one(TEXTS, chance))}=${coded(one(TEXTS, chance))}`)
    if (chance.happens(0.03)) pairs.push(...pairs)
    if (chance.happens(0.02)) pairs.push('%', '&&=', '%ff=%c0%80')
    return pairs.length === 0 ? '' : `?${pairs.join('&')}`
  }

  function bodyOf({ operation }: Route, chance: Chance): string | null {
    const schema = operation.requestBody?.content['application/json']?.schema
    if (schema === undefined) return chance.happens(0.1) ? one(GARBAGE, chance) : null
    if (chance.happens(0.04)) return null
    if (chance.happens(0.06)) return one(GARBAGE, chance)
    if (chance.happens(0.01)) return JSON.stringify({ note: 'x'.repeat(64 * 1_024 + chance.below(2_000)) })
    if (chance.happens(0.01)) return `${'['.repeat(20_000)}${']'.repeat(20_000)}`
    let value = valueOf(schema, 'body', chance)
    while (chance.happens(0.4)) value = spoilt(value, chance)
    const text = JSON.stringify(value) ?? 'undefined'
    // Keys that JSON.stringify would never write twice, or at all.
    return chance.happens(0.05) && text.startsWith('{')
      ? `{"__proto__":{"role":"admin"},"a":1,"a":2,${text.slice(1)}`.replace(/,\}$/, '}')
      : text
  }

  return (chance) => {
    const route = one(chance.below(RARELY) === 0 ? routes : quick, chance)
    const body = bodyOf(route, chance)
    const headers: Record<string, string> = {
      'X-Forwarded-For': `${10 + chance.below(200)}.${chance.below(256)}.${chance.below(256)}.${chance.below(256)}`,
    }
    const cookie = knownValues.cookie(route.operation, chance)
    if (cookie !== null) headers['Cookie'] = cookie
    if (body !== null) headers['Content-Type'] = chance.happens(0.04) ? one(CONTENT_TYPES, chance) : 'application/json'
    if (route.operation.parameters?.some((each) => each.in === 'header') === true && chance.happens(0.6)) {
      headers['Idempotency-Key'] = `key-${chance.below(5_000)}`
    }
    if (chance.happens(0.06)) {
      const [name, value] = one(HEADERS, chance)
      headers[name] = value
    }
    const method = chance.happens(0.03) ? one(METHODS, chance) : route.method
    return {
      method,
      path: pathOf(route, chance) + queryOf(route, chance),
      headers,
      body: method === 'GET' || method === 'HEAD' || method === 'TRACE' ? null : body,
    }
  }
}

/** Parameters that say where a list goes on. */
const CURSORS: ReadonlySet<string> = new Set(['cursor', 'after'])

/**
 * A cursor of the same list with an impossible content and a checksum that fits: for texts of one length the checksums
 * of two differ by what the texts' own do.
 */
function forged(cursor: string, chance: Chance): string {
  const whole = Buffer.from(cursor, 'base64url').toString()
  const [sum, text] = [Number.parseInt(whole.slice(0, 8), 16), whole.slice(8)]
  const parts = [...text.matchAll(/\d+|[a-z-]{6,}/g)]
  const part = parts[chance.below(parts.length)]
  if (part === undefined || Number.isNaN(sum)) return cursor
  const [old] = part
  const isNumber = /^\d+$/.test(old)
  const made = isNumber ? '9'.repeat(old.length) : `\\u0000${old.slice(6)}`
  const other = text.slice(0, part.index) + made + text.slice(part.index + old.length)
  const fitting = (sum ^ crc32(text) ^ crc32(other)) >>> 0
  return Buffer.from(fitting.toString(16).padStart(8, '0') + other).toString('base64url')
}

/** Encoded for an address; half a surrogate pair cannot be encoded. */
const coded = (text: string): string => encodeURIComponent(text.toWellFormed())

/** The request as a curl line, to repeat it by hand. */
export function curl(url: string, { method, path, headers, body }: FuzzRequest): string {
  const quoted = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`
  const all = Object.entries(headers).map(([name, value]) => `-H ${quoted(`${name}: ${value}`)}`)
  const data = body === null ? [] : [`--data-raw ${quoted(body.length > 2_000 ? `${body.slice(0, 2_000)}…` : body)}`]
  return ['curl -si', `-X ${method}`, ...all, ...data, quoted(url + path)].join(' ')
}
