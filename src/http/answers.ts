/** Error answers: one form, one mapping from refusals to it, and one place where faults become answers. */
import { z } from '@hono/zod-openapi'
import type { Context } from 'hono'
import { HTTPException } from 'hono/http-exception'
import { unreachable } from '../../actors/kernel/assert.ts'
import type { SessionId, UserId } from '../../actors/kernel/ids.ts'
import { decimal } from '../../actors/kernel/micros.ts'
import type { Refusal, RefusalCode } from '../../actors/kernel/outcome.ts'
import {
  type AlwaysCode,
  byStatus,
  ERROR_CODES,
  type ErrorCode,
  type ErrorStatus,
  meaningOf,
  type StatusOf,
} from './error-codes.ts'
import { timestamp } from './json.ts'
import type { KeyClaims } from '../auth/personal-keys.ts'
import type { Log } from '../observe/log.ts'
import type { HttpDeps } from './ports.ts'

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
  }
}

const REQUEST_ID = '0197f2a0-77aa-7b31-9d44-5c6d7e8f9a0b'

export const ErrorBody = z
  .object({
    error: z.string().openapi({
      description: 'What is wrong, for people.',
      example: 'PRICE_MOVED',
    }),
    code: z.string().openapi({ description: 'What is wrong, for programs. It never changes.', example: 'PRICE_MOVED' }),
    requestId: z.uuid().openapi({ description: 'Identifies this request in the log.', example: REQUEST_ID }),
  })
  .openapi('Error', {
    description: 'Every error has this form; some carry facts in more fields, such as `retry_after_secs`.',
    additionalProperties: true,
  })

type Facts = Readonly<Record<string, unknown>>

export interface Answer<Status extends ErrorStatus = ErrorStatus> {
  readonly status: Status
  readonly code: ErrorCode
  readonly error: string
  readonly facts?: Facts
  readonly retryAfterSecs?: number
}

/** The part of a context that answering needs, independent of what the gates add to it. */
export type Answering = Pick<Context<HttpEnv>, 'header' | 'json'> & { readonly var: Readonly<HttpEnv['Variables']> }

/** The answer with this code, with the facts that belong to it. */
export function answerWith<Code extends ErrorCode>(
  code: Code,
  more: Pick<Answer, 'facts' | 'retryAfterSecs'> = {},
): Answer<StatusOf<Code>> {
  const { status, error } = ERROR_CODES[code]
  return { status, error, code, ...more }
}

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

/** Every refusal is an error of the same name in capitals. */
type RefusalError = Uppercase<RefusalCode>
export type RefusalStatus = StatusOf<RefusalError>

/** The answer to a refusal, with the facts it carries. */
export function answerTo(refusal: Refusal): Answer<RefusalStatus> {
  const code = refusal.code.toUpperCase() as RefusalError
  const retry = 'retryAfterSecs' in refusal ? { retryAfterSecs: refusal.retryAfterSecs } : {}
  return answerWith(code, { facts: factsOf(refusal), ...retry })
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
    case 'level_too_close':
      return { currentPrice: decimal(refusal.currentPrice), minDistance: decimal(refusal.distance) }
    case 'position_limit':
      return { maxOpenPositions: refusal.max }
    case 'insufficient_margin':
      return {
        required: decimal(refusal.required),
        available: decimal(refusal.available),
        maxLotSize: decimal(refusal.maxLots),
      }
    case 'self_excluded':
      return { until: timestamp(refusal.until) }
    case 'limit_reached':
      return {
        dailyLoss: decimal(refusal.dailyLoss),
        lostToday: decimal(refusal.lostToday),
        atStake: decimal(refusal.atStake),
        required: decimal(refusal.required),
        freeAt: timestamp(refusal.freeAt),
      }
    case 'position_not_open':
      return { positionId: refusal.positionId }
    case 'cooldown_active':
      return { retry_after_secs: refusal.retryAfterSecs, closableAt: timestamp(refusal.closableAt) }
    case 'account_frozen':
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

/** The errors that the framework throws if it cannot read a body. */
const BODY_ANSWERS: readonly Answer[] = [
  answerWith('MALFORMED_JSON'),
  answerWith('PAYLOAD_TOO_LARGE'),
  answerWith('UNSUPPORTED_MEDIA_TYPE'),
]

/** When a retry may help if a dependency is unavailable. */
const UNAVAILABLE_RETRY_SECS = 2

/** A thrown error as an answer. Of a fault the caller gets the request id alone; the log gets the error. */
export function answerToThrown(error: Error, isFault: HttpDeps['isFault']): Answer {
  if (error instanceof HTTPException) {
    const found = BODY_ANSWERS.find(({ status }) => status === error.status)
    if (found !== undefined) return found
  }
  return isFault(error) ? answerWith('UNAVAILABLE', { retryAfterSecs: UNAVAILABLE_RETRY_SECS }) : answerWith('INTERNAL')
}

export const UNAUTHORIZED = answerWith('UNAUTHORIZED')

/** It does not exist, or belongs to another user. */
export const notFound = (
  what:
    | 'instrument'
    | 'match'
    | 'position'
    | 'flag'
    | 'setting'
    | 'session'
    | 'key'
    | 'user'
    | 'fixture'
    | 'replay'
    | 'district'
    | 'reaction'
    | 'notification',
): Answer<404> => answerWith('NOT_FOUND', { facts: { what } })

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

interface ErrorResponse {
  readonly description: string
  readonly content: { readonly 'application/json': { readonly schema: typeof ErrorBody } }
}

/**
 * The `responses` entries of a route that may answer with these codes, in addition to those of every route: what each
 * means and an example.
 */
export function errors<Code extends ErrorCode>(
  ...codes: readonly Code[]
): Record<StatusOf<Code | AlwaysCode>, ErrorResponse>
export function errors(...codes: readonly ErrorCode[]): Partial<Record<ErrorStatus, unknown>> {
  return Object.fromEntries([...byStatus(codes)].map(([status, group]) => [status, errorResponse(group)]))
}

/** Written out in OpenAPI, because the library would repeat the common part of the schema in every error. */
function errorResponse(codes: readonly ErrorCode[]) {
  const headers = codes.some((code) => meaningOf(code).retry) ? { headers: RETRY_AFTER } : {}
  const schema = { allOf: [{ $ref: '#/components/schemas/Error' }, { properties: { code: { enum: codes } } }] }
  const examples = Object.fromEntries(codes.map((code) => [code, { $ref: `#/components/examples/${code}` }]))
  return {
    description: codes.map((code) => `\`${code}\`: ${meaningOf(code).when}`).join('\n\n'),
    ...headers,
    content: { 'application/json': { schema, examples } },
  }
}

/** An example error of each code. */
export function errorExamples() {
  const examples = (Object.keys(ERROR_CODES) as ErrorCode[]).map((code) => {
    const { error, when, facts } = meaningOf(code)
    return [code, { summary: when, value: { error, code, requestId: REQUEST_ID, ...facts } }] as const
  })
  return Object.fromEntries(examples)
}

const RETRY_AFTER = {
  'Retry-After': {
    description: 'Seconds until a retry may succeed.',
    schema: { type: 'integer', minimum: 1 },
    example: 2,
  },
}
