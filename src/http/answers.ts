/** How the house says no over HTTP: one error form, one table from refusals to it, and one place where faults end. */
import { z } from '@hono/zod-openapi'
import type { Context } from 'hono'
import { HTTPException } from 'hono/http-exception'
import { unreachable } from '../../actors/kernel/assert.ts'
import type { UserId } from '../../actors/kernel/ids.ts'
import { decimal } from '../../actors/kernel/micros.ts'
import type { Refusal, RefusalCode } from '../../actors/kernel/outcome.ts'
import { timestamp } from './json.ts'
import type { HttpDeps } from './ports.ts'

/** What every request carries from the first middleware on. */
export interface HttpEnv {
  /** What the server adds to a request; a request that came through no socket has none of it. */
  Bindings: { readonly incoming?: { readonly socket: { readonly remoteAddress?: string | undefined } } }
  Variables: { requestId: string; caller?: { readonly userId: UserId } | null }
}

export const ErrorBody = z
  .object({
    error: z.string().openapi({ description: 'What is wrong, for people; the exact text of the specification.' }),
    code: z.string().openapi({ description: 'What is wrong, for programs; never changes.', example: 'PRICE_MOVED' }),
    requestId: z.string().openapi({ description: 'Names this request in the log.' }),
  })
  .openapi('Error', {
    description: 'Every error has this form; some carry facts besides, such as `retry_after_secs`.',
    additionalProperties: true,
  })

export type ErrorStatus = 400 | 401 | 403 | 404 | 405 | 409 | 413 | 415 | 422 | 429 | 500 | 503
type Facts = Readonly<Record<string, unknown>>

export interface Answer<Status extends ErrorStatus = ErrorStatus> {
  readonly status: Status
  readonly code: string
  readonly error: string
  readonly facts?: Facts
  readonly retryAfterSecs?: number
}

/** As much of a context as answering takes, whatever else its gates have put into it. */
type Answering = Pick<Context<HttpEnv>, 'header' | 'json'> & { readonly var: Readonly<HttpEnv['Variables']> }

/** Sends an answer in the one error form. */
export function fail<Status extends ErrorStatus>(c: Answering, answer: Answer<Status>) {
  if (answer.retryAfterSecs !== undefined) c.header('Retry-After', String(answer.retryAfterSecs))
  const body: z.output<typeof ErrorBody> = {
    error: answer.error,
    code: answer.code,
    requestId: c.var.requestId,
    ...answer.facts,
  }
  return c.json(body, answer.status)
}

export type RefusalStatus = 404 | 409 | 422 | 503

/** Status and text of every refusal. The code on the wire is the refusal's own, in capitals. */
const REFUSALS = {
  not_found: [404, 'not found'],
  market_closed: [409, 'market closed'],
  market_suspended: [409, 'market suspended'],
  lot_size_invalid: [422, 'lot size invalid'],
  price_moved: [409, 'PRICE_MOVED'],
  levels_invalid: [422, 'stop-loss / take-profit level invalid for the current price'],
  position_limit: [422, 'position limit reached'],
  insufficient_margin: [422, 'insufficient margin'],
  position_corrupt: [409, 'position is in an invalid state; contact support'],
  position_not_open: [409, 'position is not open'],
  cooldown_active: [409, 'cooldown_active'],
  key_in_flight: [409, 'duplicate request; please retry'],
  key_reused: [409, 'duplicate request; please retry'],
  busy: [503, 'too busy; please retry'],
  unknown_outcome: [503, 'outcome not known yet; please retry with the same idempotency key'],
} as const satisfies Record<RefusalCode, readonly [RefusalStatus, string]>

/** The answer to a refusal, with the facts it carries. */
export function answerTo(refusal: Refusal): Answer<RefusalStatus> {
  const [status, error] = REFUSALS[refusal.code]
  const retry = 'retryAfterSecs' in refusal ? { retryAfterSecs: refusal.retryAfterSecs } : {}
  return { status, error, code: refusal.code.toUpperCase(), facts: factsOf(refusal), ...retry }
}

function factsOf(refusal: Refusal): Facts {
  switch (refusal.code) {
    case 'not_found':
      return { what: refusal.what }
    case 'market_closed':
    case 'market_suspended':
      return { tradeWindow: { ...refusal.window, open: refusal.window.status === 'OPEN' } }
    case 'lot_size_invalid':
      return { minLot: decimal(refusal.min), maxLot: decimal(refusal.max), lotStep: decimal(refusal.step) }
    case 'price_moved':
      return {
        currentPrice: decimal(refusal.currentPrice),
        lastPublishedPrice: decimal(refusal.lastPublishedPrice),
      }
    case 'levels_invalid':
      return { currentPrice: decimal(refusal.currentPrice) }
    case 'position_limit':
      return { maxOpenPositions: refusal.max }
    case 'insufficient_margin':
      return {
        required: decimal(refusal.required),
        available: decimal(refusal.available),
        maxLotSize: decimal(refusal.maxLots),
      }
    case 'position_not_open':
      return { positionId: refusal.positionId }
    case 'cooldown_active':
      return { retry_after_secs: refusal.retryAfterSecs, closableAt: timestamp(refusal.closableAt) }
    case 'position_corrupt':
    case 'key_in_flight':
    case 'key_reused':
    case 'busy':
    case 'unknown_outcome':
      return {}
    default:
      return unreachable(refusal)
  }
}

/** What the framework throws when it cannot read a body. */
const BODY_ANSWERS: readonly Answer[] = [
  { status: 400, code: 'MALFORMED_JSON', error: 'malformed JSON' },
  { status: 413, code: 'PAYLOAD_TOO_LARGE', error: 'body larger than 64 KiB' },
  { status: 415, code: 'UNSUPPORTED_MEDIA_TYPE', error: 'content type must be application/json' },
]

/** How soon a retry may help when something we depend on is away. */
const AWAY_RETRY_SECS = 2

/** What was thrown, as an answer. A caller learns the request id of a fault and nothing else; the log learns the rest. */
export function answerToThrown(error: Error, isFault: HttpDeps['isFault']): Answer {
  if (error instanceof HTTPException) {
    const answer = BODY_ANSWERS.find(({ status }) => status === error.status)
    if (answer !== undefined) return answer
  }
  if (isFault(error)) {
    return { status: 503, code: 'UNAVAILABLE', error: 'service unavailable', retryAfterSecs: AWAY_RETRY_SECS }
  }
  return { status: 500, code: 'INTERNAL', error: 'internal error' }
}

export const UNAUTHORIZED: Answer<401> = { status: 401, code: 'UNAUTHORIZED', error: 'unauthorized' }

export const FORBIDDEN: Answer<403> = { status: 403, code: 'FORBIDDEN', error: 'admins only' }

/** How soon it is worth asking again whether it has begun. */
const COMING_SOON_RETRY_SECS = 60

export const COMING_SOON: Answer<503> = {
  status: 503,
  code: 'COMING_SOON',
  error: 'coming soon',
  retryAfterSecs: COMING_SOON_RETRY_SECS,
}

export const notFound = (
  what:
    | 'instrument'
    | 'match'
    | 'flag'
    | 'setting'
    | 'user'
    | 'fixture'
    | 'replay'
    | 'district'
    | 'reaction'
    | 'notification',
): Answer<404> => ({
  status: 404,
  code: 'NOT_FOUND',
  error: 'not found',
  facts: { what },
})

/** A body, query, path or header that its schema refuses: one issue for each thing wrong with it. */
export const validationFailed = (error: z.ZodError): Answer<400> => ({
  status: 400,
  code: 'VALIDATION_FAILED',
  error: 'validation failed',
  facts: { issues: error.issues.map(({ path, message }) => ({ path: path.join('.'), message })) },
})

/** A value that its schema passes and the house cannot take. */
export const invalid = (path: string, message: string): Answer<400> => ({
  status: 400,
  code: 'VALIDATION_FAILED',
  error: 'validation failed',
  facts: { issues: [{ path, message }] },
})

const ERROR_DESCRIPTIONS: Readonly<Record<ErrorStatus, string>> = {
  400: 'Malformed JSON, or values outside their schema (`issues` lists them).',
  401: 'The access token is missing, invalid, expired, of another type, or its session is over.',
  403: 'Admins only, or the page that sent this request is on an origin that may not.',
  404: 'No such thing, or it belongs to somebody else.',
  405: 'This path does not take this method.',
  409: 'The state of the market, the position or the idempotency key does not allow it.',
  413: 'The body is larger than 64 KiB.',
  415: 'The body is not `application/json`.',
  422: 'Understood, but a trading rule refuses it; the facts say which bound was missed.',
  429: 'Too many requests: retry after `Retry-After` seconds. The `RateLimit` headers say how much is left.',
  500: 'Our fault. The log knows more under `requestId`.',
  503: 'Overloaded, something we depend on is away, or it has not begun (`COMING_SOON`): see `Retry-After`.',
}

interface ErrorResponse {
  readonly description: string
  readonly content: { readonly 'application/json': { readonly schema: typeof ErrorBody } }
}

/** The `responses` entries of a route for these statuses, and for 429, which every one of them may answer. */
export function errors<Status extends ErrorStatus>(...statuses: Status[]): Record<Status | 429, ErrorResponse>
export function errors(...statuses: ErrorStatus[]): Partial<Record<ErrorStatus, ErrorResponse>> {
  const content = { 'application/json': { schema: ErrorBody } }
  const all = [...statuses, 429] as const
  return Object.fromEntries(all.map((status) => [status, { description: ERROR_DESCRIPTIONS[status], content }]))
}
