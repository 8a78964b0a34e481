/** Error answers: one form, one mapping from refusals to it, and one place where faults become answers. */
import type { z } from '@hono/zod-openapi'
import type { Context } from 'hono'
import { HTTPException } from 'hono/http-exception'
import { unreachable } from '../../actors/kernel/assert.ts'
import type { SessionId, UserId } from '../../actors/kernel/ids.ts'
import { decimal } from '../../actors/kernel/micros.ts'
import type { Refusal, RefusalCode, TradeWindow } from '../../actors/kernel/outcome.ts'
import {
  type AlwaysCode,
  byStatus,
  ERROR_CODES,
  type ErrorCode,
  type ErrorStatus,
  type Meanings,
  type StatusOf,
} from './error-codes.ts'
import { type ErrorForm, type FactsOf, type FactualCode, schemaOf } from './error-facts.ts'
import { timestamp } from './json.ts'
import type { KeyClaims } from '../auth/personal-keys.ts'
import type { Log } from '../observe/log.ts'

/** What every request carries after the first middleware. */
export interface HttpEnv {
  /** What the HTTP server adds to a request. A request that came through no socket, as in tests, has none of it. */
  Bindings: { readonly incoming?: { readonly socket: { readonly remoteAddress?: string | undefined } } }
  Variables: {
    requestId: string
    log: Log
    trace?: string
    caller?: { readonly userId: UserId; readonly keyId?: SessionId } | null
    /** Of a request with an `Authorization: Bearer` header: whose key it is; null if it does not count. */
    key?: KeyClaims | null
    /** The request does not fit the schema of its route. */
    isUnread?: true
    /** Of an answer that is shared with other requests. */
    made?: MadeAnswer
  }
}

/** A body that was made once, with what else of it is made once. */
export interface MadeAnswer {
  readonly body: Uint8Array<ArrayBuffer>
  readonly type: string
  readonly etag: string
  readonly isPacked: (encoding: 'br' | 'gzip') => boolean
  readonly packed: (encoding: 'br' | 'gzip') => Promise<Uint8Array<ArrayBuffer>>
}

export interface Answer<Status extends ErrorStatus = ErrorStatus> {
  readonly status: Status
  readonly code: string
  readonly error: string
  readonly facts?: object
  readonly retryAfterSecs?: number
}

/** The part of a context that answering needs, independent of what the gates add to it. */
export type Answering = Pick<Context<HttpEnv>, 'header' | 'json'> & { readonly var: Readonly<HttpEnv['Variables']> }

type RetryCode = {
  [Code in ErrorCode]: (typeof ERROR_CODES)[Code] extends { readonly retry: true } ? Code : never
}[ErrorCode]

/** What an answer with this code needs: the facts that it carries, and when a retry may help. */
type More<Code extends ErrorCode> = (Code extends FactualCode
  ? object extends FactsOf<Code>
    ? { readonly facts?: FactsOf<Code> }
    : { readonly facts: FactsOf<Code> }
  : object) &
  (Code extends RetryCode ? { readonly retryAfterSecs: number } : object)

/** The answer with this code, with the facts that belong to it. */
export function answerWith<Code extends ErrorCode>(
  code: Code,
  ...[more]: object extends More<Code> ? [more?: More<Code>] : [more: More<Code>]
): Answer<StatusOf<Code>> & { readonly code: Code } {
  const { status, error } = ERROR_CODES[code]
  return { status, error, code, ...more }
}

/** They describe what was not sent: a cache would keep the failure in its place. */
const OF_SUCCESS = ['ETag', 'Content-Disposition', 'Content-Encoding'] as const

/** Sends an answer in the one error form. Nothing keeps it. */
export function fail<Status extends ErrorStatus>(c: Answering, answer: Answer<Status>) {
  for (const name of OF_SUCCESS) c.header(name, undefined)
  c.header('Cache-Control', 'no-store')
  // Cookies need no challenge, but HTTP demands one with every 401 (RFC 9110, 15.5.2).
  if (answer.status === 401) c.header('WWW-Authenticate', 'Bearer realm="touchline"')
  if (answer.retryAfterSecs !== undefined) c.header('Retry-After', String(answer.retryAfterSecs))
  return c.json(bodyOf(answer, c.var.requestId), answer.status)
}

/** The body of an answer. */
export const bodyOf = ({ error, code, facts }: Answer, requestId: string): ErrorForm => ({
  error,
  code,
  requestId,
  ...facts,
})

/** Every refusal is an error of the same name in capitals. */
export type RefusalStatus = StatusOf<Uppercase<RefusalCode>>

/** The answer to a refusal, with the facts it carries. */
export function answerTo(refusal: Refusal): Answer<RefusalStatus> {
  switch (refusal.code) {
    case 'not_found':
      return notFound(refusal.what)
    case 'market_closed':
      return answerWith('MARKET_CLOSED', { facts: windowOf(refusal) })
    case 'market_suspended':
      return answerWith('MARKET_SUSPENDED', { facts: windowOf(refusal) })
    case 'lot_size_invalid': {
      const { min, max, step } = refusal
      return answerWith('LOT_SIZE_INVALID', {
        facts: { minLot: decimal(min), maxLot: decimal(max), lotStep: decimal(step) },
      })
    }
    case 'price_moved': {
      const [currentPrice, lastPublishedPrice] = [decimal(refusal.currentPrice), decimal(refusal.lastPublishedPrice)]
      return answerWith('PRICE_MOVED', { facts: { currentPrice, lastPublishedPrice } })
    }
    case 'levels_invalid':
      return answerWith('LEVELS_INVALID', { facts: { currentPrice: decimal(refusal.currentPrice) } })
    case 'position_limit':
      return answerWith('POSITION_LIMIT', { facts: { maxOpenPositions: refusal.max } })
    case 'insufficient_margin': {
      const [required, available] = [decimal(refusal.required), decimal(refusal.available)]
      return answerWith('INSUFFICIENT_MARGIN', { facts: { required, available, maxLotSize: decimal(refusal.maxLots) } })
    }
    case 'self_excluded':
      return answerWith('SELF_EXCLUDED', { facts: { until: timestamp(refusal.until) } })
    case 'limit_reached':
      return answerWith('LIMIT_REACHED', {
        facts: {
          dailyLoss: decimal(refusal.dailyLoss),
          lostToday: decimal(refusal.lostToday),
          atStake: decimal(refusal.atStake),
          required: decimal(refusal.required),
          freeAt: timestamp(refusal.freeAt),
        },
      })
    case 'position_not_open':
      return answerWith('POSITION_NOT_OPEN', { facts: { positionId: refusal.positionId } })
    case 'cooldown_active': {
      const { retryAfterSecs, closableAt } = refusal
      const facts = { retry_after_secs: retryAfterSecs, closableAt: timestamp(closableAt) }
      return answerWith('COOLDOWN_ACTIVE', { facts, retryAfterSecs })
    }
    case 'busy':
      return answerWith('BUSY', { retryAfterSecs: refusal.retryAfterSecs })
    case 'unknown_outcome':
      return answerWith('UNKNOWN_OUTCOME', { retryAfterSecs: refusal.retryAfterSecs })
    case 'account_frozen':
      return answerWith('ACCOUNT_FROZEN')
    case 'position_corrupt':
      return answerWith('POSITION_CORRUPT')
    case 'key_in_flight':
      return answerWith('KEY_IN_FLIGHT')
    case 'key_reused':
      return answerWith('KEY_REUSED')
    default:
      return unreachable(refusal)
  }
}

const windowOf = ({ window }: { readonly window: TradeWindow }) => ({
  tradeWindow: { ...window, open: window.status === 'OPEN' },
})

/** The errors that the framework throws if it cannot read a body. */
const BODY_ANSWERS: readonly Answer[] = [
  answerWith('MALFORMED_JSON'),
  answerWith('PAYLOAD_TOO_LARGE'),
  answerWith('UNSUPPORTED_MEDIA_TYPE'),
]

/**
 * Node's error for a client that leaves before its body has arrived, known by its message: a database whose connection
 * breaks has the same code, and that is an alert.
 */
const isCutOff = ({ message }: Error): boolean => message === 'aborted'

/** When a retry may help if a dependency is unavailable. */
const UNAVAILABLE_RETRY_SECS = 2

/**
 * What a thrown error means: something the server depends on is away for now, so that a retry may help; the caller's
 * account was erased since their session was looked up; or null, a mistake of ours.
 */
export type FaultOf = (error: unknown) => 'away' | 'gone' | null

/** A thrown error as an answer. Of a fault the caller gets the request id alone; the log gets the error. */
export function answerToThrown(error: Error, faultOf: FaultOf): Answer {
  if (error instanceof HTTPException) {
    const found = BODY_ANSWERS.find(({ status }) => status === error.status)
    if (found !== undefined) return found
  }
  if (isCutOff(error)) return invalid('body', 'was cut off')
  const fault = faultOf(error)
  if (fault === 'gone') return UNAUTHORIZED
  return fault === 'away'
    ? answerWith('UNAVAILABLE', { retryAfterSecs: UNAVAILABLE_RETRY_SECS })
    : answerWith('INTERNAL')
}

export const UNAUTHORIZED = answerWith('UNAUTHORIZED')

/** It does not exist, or belongs to another user. */
export const notFound = (what: string): Answer<404> => answerWith('NOT_FOUND', { facts: { what } })

/** A body, query, path or header that does not fit its schema: one issue for each problem. */
export const validationFailed = (error: z.ZodError): Answer<400> =>
  answerWith('VALIDATION_FAILED', {
    facts: { issues: error.issues.flatMap(issuesOf) },
  })

/** One issue for each unknown field, named by its path. The messages of `strictBody` are one line per field. */
function issuesOf({ path, message, ...issue }: z.core.$ZodIssue): { path: string; message: string }[] {
  if (issue.code !== 'unrecognized_keys') return [{ path: path.join('.'), message }]
  const lines = message.split('\n')
  return issue.keys.map((key, n) => ({ path: [...path, key].join('.'), message: lines[n] ?? 'is unknown' }))
}

/** A value that fits its schema but is invalid, such as an unknown district. */
export const invalid = (path: string, message: string): Answer<400> =>
  answerWith('VALIDATION_FAILED', { facts: { issues: [{ path, message }] } })

export interface ErrorResponse {
  readonly description: string
  readonly content: { readonly 'application/json': { readonly schema: z.ZodType<ErrorForm> } }
}

/**
 * The `responses` entries of a route that may answer with these codes, in addition to those of every route: what each
 * means and an example.
 */
export function errors<Code extends ErrorCode>(
  ...codes: readonly Code[]
): Record<StatusOf<Code | AlwaysCode>, ErrorResponse>
export function errors(...codes: readonly ErrorCode[]): Partial<Record<ErrorStatus, unknown>> {
  return responsesOf(codes, ERROR_CODES)
}

/** The same for codes of this table. */
export const responsesOf = (codes: readonly string[], table: Meanings): Partial<Record<ErrorStatus, unknown>> =>
  Object.fromEntries([...byStatus(codes, table)].map(([status, group]) => [status, errorResponse(group, table)]))

function errorResponse(codes: readonly string[], table: Meanings) {
  const headers = codes.some((code) => table[code]?.retry) ? { headers: RETRY_AFTER } : {}
  const examples = Object.fromEntries(codes.map((code) => [code, { $ref: `#/components/examples/${code}` }]))
  return {
    description: codes.map((code) => `\`${code}\`: ${table[code]?.when}`).join('\n\n'),
    ...headers,
    content: { 'application/json': { schema: schemaOf(codes), examples } },
  }
}

const RETRY_AFTER = {
  'Retry-After': {
    description: 'Seconds until a retry may succeed.',
    schema: { type: 'integer', minimum: 1 },
    example: 2,
  },
}
