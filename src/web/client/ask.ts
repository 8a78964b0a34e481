/** Requests of one visitor: repeated where it is safe, with a session that is renewed when it has expired. */
import type { ErrorBody } from './wire.ts'

/** The server refused, or (status 0) could not be reached. */
export class ApiError extends Error {
  readonly status: number
  /** For programs; `OFFLINE` when there was no answer. */
  readonly code: string
  /** The whole body of the answer. */
  readonly facts: ErrorBody
  /** Whether what was asked for may have been done all the same. */
  readonly isUnsure: boolean

  constructor(status: number, facts: ErrorBody, isUnsure = false) {
    super(facts.error)
    this.name = 'ApiError'
    this.status = status
    this.code = facts.code
    this.facts = facts
    this.isUnsure = isUnsure
  }
}

/** Null where the server knows no such thing; any other failure stays one. */
export function noneIfMissing(error: unknown): null {
  if (error instanceof ApiError && error.status === 404) return null
  throw error
}

/**
 * Whether this refuses the request itself, or none has arrived (status 0), so that it says nothing about one under the
 * same key that was sent before.
 */
export const isNoAnswer = ({ status, code }: Pick<ApiError, 'status' | 'code'>): boolean =>
  status === 0 || status === 401 || status === 429 || code === 'BUSY' || code === 'COMING_SOON'

/** Whether an attempt that ends so, after others that left it open or not, leaves open whether it was carried out. */
function leavesOpen(answer: Pick<ApiError, 'status' | 'code'>, wasOpen: boolean): boolean {
  if (isNoAnswer(answer)) return wasOpen
  return answer.code === 'KEY_IN_FLIGHT' || answer.status >= 500
}

export interface ApiOptions {
  /** Where the API is, without a slash at the end; empty for the page's own address. */
  readonly baseUrl?: string
  /** A personal key, for programs. Without one the session is in cookies. */
  readonly key?: string
  /** Sends the requests, for programs that keep cookies themselves. */
  readonly fetch?: (input: string, init: RequestInit) => Promise<Response>
  /** Called when the session is over and the refresh token is gone. */
  readonly onSignedOut?: () => void
  /** Called each time that the server cannot be reached, also while a request is still repeated. */
  readonly onUnreachable?: () => void
}

interface RequestOptions {
  readonly method?: 'GET' | 'POST' | 'PATCH' | 'PUT' | 'DELETE'
  readonly query?: Readonly<Record<string, string | number | boolean | undefined>>
  readonly body?: unknown
  /** Makes the request safe to repeat: the effect happens once, and the first answer is repeated. */
  readonly key?: string
  /** The request is part of signing in: a 401 is then an answer like any other. */
  readonly isSigningIn?: boolean
}

const ATTEMPTS = 4
const FIRST_PAUSE_MS = 250
/** An answer that asks for a longer one is the last. */
const LONGEST_PAUSE_MS = 5_000
const NOTED_MS = 50
/** The server answers orders and changes in three seconds; what is later than this is lost with its connection. */
const ORDER_MS = 10_000
/** The same of everything else: an admin's question may take a minute. */
const ANSWER_MS = 90_000
/** What changes something and is older than this its user may no longer want. */
export const WANTED_MS = 60_000

export type Ask = <Answer>(path: string, options?: RequestOptions) => Promise<Answer>

/** Requests with the session of one visitor, which is renewed when it has expired. */
export function createAsking({
  baseUrl = '',
  key: personalKey,
  fetch: send = (input, init) => fetch(input, init),
  onSignedOut = () => undefined,
  onUnreachable = () => undefined,
}: ApiOptions): { readonly ask: Ask; readonly renew: () => Promise<boolean> } {
  let changing: Promise<unknown> = Promise.resolve()
  /**
   * Runs one change of the session at a time, among the tabs of a browser. Two rotations of one token would be theft,
   * and a refused rotation clears the cookies: those of a new session, if the user could sign in meanwhile.
   */
  const alone = <Result>(change: () => Promise<Result>): Promise<Result> => {
    const locks = tabs() === undefined ? undefined : navigator.locks
    if (locks !== undefined) return locks.request(SESSION_CHANGED, change)
    // In a program, or on a page without TLS.
    const now = changing.then(change)
    changing = now.catch(() => undefined)
    return now
  }
  let renewing: Promise<boolean> | null = null
  /** Renews the session, unless it has changed since `before`, when the refused request was sent. */
  const renew = (before = lastChange()): Promise<boolean> => {
    renewing ??= alone(async () => {
      // What another tab has noted arrives some milliseconds after its lock is free. A program has no tabs.
      if (tabs() !== undefined) await pause(NOTED_MS)
      if (lastChange() !== before) return true
      const isRenewed = await rotate()
      if (isRenewed) noteChange()
      return isRenewed
    }).finally(() => (renewing = null))
    return renewing
  }
  const rotate = async (): Promise<boolean> => {
    // A rotation whose answer was lost has happened: under its key the server gives the same tokens again.
    const key = newKey()
    for (let attempt = 1; ; attempt++) {
      try {
        const { ok, status } = await once('/api/auth/refresh', { method: 'POST', key })
        // Only this ends the session: too many requests and a server that fails do not.
        if (ok || status === 401) return ok
        throw new Error(`the renewal was answered ${status}`)
      } catch (error) {
        if (attempt === ATTEMPTS) throw error
      }
      await pause(pauseMs(attempt))
    }
  }

  const once = (path: string, { method = 'GET', query = {}, body, key }: RequestOptions): Promise<Response> => {
    const parameters = Object.entries(query).flatMap(([name, value]): [string, string][] =>
      value === undefined ? [] : [[name, String(value)]],
    )
    const search = parameters.length === 0 ? '' : `?${new URLSearchParams(parameters)}`
    return send(`${baseUrl}${path}${search}`, {
      method,
      signal: AbortSignal.timeout(key === undefined && method !== 'PATCH' ? ANSWER_MS : ORDER_MS),
      credentials: personalKey === undefined ? 'include' : 'omit',
      headers: {
        ...(personalKey === undefined ? {} : { authorization: `Bearer ${personalKey}` }),
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...(key === undefined ? {} : { 'idempotency-key': key }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
  }

  /** A request of signing in or out. */
  const change = async (path: string, options: RequestOptions): Promise<Response> => {
    const response = await once(path, options)
    if (response.ok) noteChange()
    return response
  }

  async function ask<Answer>(path: string, options: RequestOptions = {}): Promise<Answer> {
    const isRead = (options.method ?? 'GET') === 'GET'
    // By a clock that goes on while the device sleeps.
    const began = Date.now()
    const isWanted = (): boolean => isRead || Date.now() - began < WANTED_MS
    let isOpen = false
    for (let attempt = 1; ; attempt++) {
      const mayRepeat = (isRead || options.key !== undefined) && attempt < ATTEMPTS
      const repeatAfter = async (ms: number, otherwise: ApiError): Promise<void> => {
        if (!mayRepeat) throw otherwise
        await pause(ms)
        if (!isWanted()) throw otherwise
      }
      let response: Response
      let isRenewing = false
      const before = lastChange()
      try {
        response = options.isSigningIn === true ? await alone(() => change(path, options)) : await once(path, options)
        if (response.status === 401 && options.isSigningIn !== true && personalKey === undefined) {
          isRenewing = true
          const isRenewed = await renew(before)
          if (isRenewed && !isWanted()) throw new Error('the renewal took too long')
          isRenewing = false
          if (isRenewed) response = await once(path, options)
          else onSignedOut()
        }
        if (response.ok) return (await response.json()) as Answer
      } catch {
        onUnreachable()
        // What was refused for the session was not carried out, whether that can be renewed now or not.
        if (!isRenewing) isOpen = true
        const lost = new ApiError(0, { error: 'the server cannot be reached', code: 'OFFLINE' }, isOpen)
        await repeatAfter(pauseMs(attempt), lost)
        continue
      }
      const facts = await errorIn(response)
      const isPassing = (response.status === 503 && facts.code !== 'COMING_SOON') || facts.code === 'KEY_IN_FLIGHT'
      isOpen = leavesOpen({ status: response.status, code: facts.code }, isOpen)
      const waitMs = Math.max(pauseMs(attempt), Number(response.headers.get('retry-after')) * 1_000 || 0)
      const refused = new ApiError(response.status, facts, isOpen)
      if (!isPassing || waitMs > LONGEST_PAUSE_MS) throw refused
      await repeatAfter(waitMs, refused)
    }
  }

  return { ask, renew }
}

/** The last change of this browser's session, by any of its tabs. */
export const SESSION_CHANGED = 'touchline.renewed'

const lastChange = (): string | null => tabs()?.getItem(SESSION_CHANGED) ?? null

function noteChange(): void {
  try {
    tabs()?.setItem(SESSION_CHANGED, newKey())
  } catch {
    // It is full: the other tabs renew the session for themselves.
  }
}

/** What the tabs of a browser share. A program has none, nor has a page that may keep nothing. */
function tabs(): Storage | undefined {
  try {
    return typeof localStorage === 'undefined' ? undefined : localStorage
  } catch {
    return undefined
  }
}

async function errorIn(response: Response): Promise<ErrorBody> {
  const fallback = { error: response.statusText || 'no answer', code: `HTTP_${response.status}` }
  try {
    const body = (await response.json()) as ErrorBody
    return typeof body.error === 'string' ? { ...fallback, ...body } : fallback
  } catch {
    return fallback
  }
}

const pauseMs = (attempt: number): number => FIRST_PAUSE_MS * 2 ** (attempt - 1)

const pause = (ms: number): Promise<unknown> => new Promise((resolve) => setTimeout(resolve, ms))

/** A key for one order. Works where `crypto.randomUUID` does not: on pages without TLS. */
export const newKey = (): string =>
  Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, '0')).join('')
