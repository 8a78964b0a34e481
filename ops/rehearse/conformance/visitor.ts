/** A browser-like client with its own address and cookies. */
import assert from 'node:assert/strict'
import type { z } from 'zod'
import { brief, note, notesOfCheck } from './notes.ts'
import { onlyWaits } from './waits.ts'

export interface Reply {
  /** Method and path, for messages. */
  readonly asked: string
  readonly status: number
  readonly headers: Headers
  readonly text: string
  /** Parsed when it is JSON, otherwise null. */
  readonly body: unknown
}

export interface Ask {
  /** Sent as JSON, unless it is text already. */
  readonly body?: unknown
  readonly headers?: Readonly<Record<string, string>>
}

/** The longest time that any answer may take. */
const PATIENCE_MS = 60_000
const TRIES_MAX = 3

let visits = Math.floor(Math.random() * 0xff_ffff)
/** An unused address of this run, out of 10.0.0.0/8, in another network than the last one. */
export function newAddress(): string {
  const n = ++visits & 0xff_ffff
  return `10.${n & 255}.${(n >> 8) & 255}.${n >> 16}`
}

export class Visitor {
  /** The process of the deployment that it uses. */
  readonly url: string
  readonly cookies = new Map<string, string>()
  /**
   * If set, all requests come from this address. Otherwise each has a new one, so that no rate limit per address
   * applies.
   */
  address: string | null = null
  /** How many requests it has sent again, as the answers to them asked for. Limits count these, too. */
  repeated = 0

  constructor(url: string) {
    this.url = url
  }

  async ask(method: string, path: string, { body, headers = {} }: Ask = {}): Promise<Reply> {
    for (let tries = 1; ; tries++) {
      const reply = await this.#ask(method, path, { body, headers })
      const { code, limit } = (reply.body ?? {}) as { code?: unknown; limit?: unknown }
      // A deployment that ignores forwarded addresses sees all of this as one visitor.
      const isLimited = reply.status === 429 && this.address === null && limit === 'global'
      // On a busy machine an order may wait past its deadline: it is not done, and the answer says when to repeat it.
      // Or its outcome is not known in time: the same key tells it; levels may be set twice.
      const isRepeated =
        code === 'BUSY' || (code === 'UNKNOWN_OUTCOME' && (method === 'PATCH' || hasKey(body, headers)))
      if (!(isLimited || isRepeated) || tries === TRIES_MAX) return reply
      if (isRepeated) this.repeated++
      await new Promise((resolve) => setTimeout(resolve, Number(reply.headers.get('retry-after')) * 1_000))
    }
  }

  /** The answer to a GET, which must be 200 and of this shape. */
  async get<T>(path: string, shape: z.ZodType<T>): Promise<T> {
    return read(await this.ask('GET', path), shape)
  }

  post(path: string, body?: unknown, headers?: Readonly<Record<string, string>>): Promise<Reply> {
    return this.ask('POST', path, { body, ...(headers === undefined ? {} : { headers }) })
  }

  put(path: string, body: unknown): Promise<Reply> {
    return this.ask('PUT', path, { body })
  }

  async #ask(method: string, path: string, { body, headers }: Ask): Promise<Reply> {
    const cookie = [...this.cookies].map(([name, value]) => `${name}=${value}`).join('; ')
    const response = await fetch(this.url + path, {
      method,
      headers: {
        'x-forwarded-for': this.address ?? newAddress(),
        ...(cookie === '' ? {} : { cookie }),
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
      redirect: 'manual',
      signal: AbortSignal.timeout(PATIENCE_MS),
    })
    for (const set of response.headers.getSetCookie()) this.#keep(set)
    const text = await response.text()
    onlyWaits(method, path, response.status)
    const reply = { asked: `${method} ${path}`, status: response.status, headers: response.headers, text }
    const seen = { ...reply, body: parsed(text) }
    const key = headers?.['idempotency-key']
    const sent = [reply.asked, ...(key === undefined ? [] : [`key ${brief(key)}`]), brief(body)].join(' ').trim()
    note(notesOfCheck(), sent, answerIn(seen), String(reply.status))
    return seen
  }

  #keep(setCookie: string): void {
    const [pair = ''] = setCookie.split(';')
    const [name, value] = [pair.slice(0, pair.indexOf('=')), pair.slice(pair.indexOf('=') + 1)]
    if (value === '') this.cookies.delete(name)
    else this.cookies.set(name, value)
  }
}

const hasKey = (body: unknown, headers: Readonly<Record<string, string>>): boolean =>
  headers['idempotency-key'] !== undefined || (typeof body === 'object' && body !== null && 'clientRequestId' in body)

const TOLD_HEADERS = ['retry-after', 'idempotent-replayed', 'access-control-allow-origin'] as const

/** Status, what the headers tell, and the body in short. */
function answerIn({ status, headers, text, body }: Reply): string {
  const told = TOLD_HEADERS.flatMap((name) => (headers.has(name) ? [`${name}: ${headers.get(name)}`] : []))
  return [String(status), ...told, body === null ? text.slice(0, 80) : brief(body)].join(' ').trim()
}

/** Another browser with the same cookies. */
export function copyOf(user: Visitor): Visitor {
  const copy = new Visitor(user.url)
  for (const [name, token] of user.cookies) copy.cookies.set(name, token)
  return copy
}

/** The body of an answer, which must be a success of this shape. */
export function read<T>(reply: Reply, shape: z.ZodType<T>): T {
  assert(reply.status < 300, `${reply.asked} was answered ${reply.status} ${reply.text.slice(0, 500)}`)
  const found = shape.safeParse(reply.body)
  assert(found.success, `${reply.asked} has another form: ${found.error?.message} in ${reply.text.slice(0, 500)}`)
  return found.data
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}
