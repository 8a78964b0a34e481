/**
 * Every code that an error may carry over HTTP. A code keeps its status, its text and its meaning for good: programs act on
 * it. Routes say which of them they may answer with, and the API description is made from here.
 */

interface Meaning {
  readonly status: 400 | 401 | 403 | 404 | 405 | 409 | 413 | 415 | 422 | 429 | 500 | 503
  /** For people; the exact text of the specification where it has one. */
  readonly error: string
  /** When a caller meets it, and what he should do. */
  readonly when: string
  /** The facts it brings along, as an example; none when left out. */
  readonly facts?: Readonly<Record<string, unknown>>
  /** Whether the header `Retry-After` says when to try again. */
  readonly retry?: true
}

const tradeWindow = (status: string, reason: string) => ({ tradeWindow: { status, reason, open: false } })

export const ERROR_CODES = {
  VALIDATION_FAILED: {
    status: 400,
    error: 'validation failed',
    when: 'A value of the body, the query, the path or a header lies outside its schema; `issues` names each.',
    facts: { issues: [{ path: 'lotSize', message: 'Invalid input: expected number, received string' }] },
  },
  MALFORMED_JSON: { status: 400, error: 'malformed JSON', when: 'The body is not JSON.' },
  INVALID_CODE: {
    status: 400,
    error: 'invalid code',
    when: 'The one-time code is another one; so many guesses are left.',
    facts: { attemptsRemaining: 2 },
  },
  CODE_EXPIRED: { status: 400, error: 'code expired', when: 'The one-time code is too old: ask for another.' },

  UNAUTHORIZED: {
    status: 401,
    error: 'unauthorized',
    when: 'The token of the cookie is missing, invalid, expired, of another type, or its session is over.',
  },
  INVALID_IDENTITY_TOKEN: {
    status: 401,
    error: 'invalid identity token',
    when: 'The identity token has not stood the check; its nonce is still unused.',
  },
  NONCE_ALREADY_USED: { status: 401, error: 'nonce already used', when: 'Somebody has signed in with this nonce.' },
  INVALID_REGISTRATION_TICKET: {
    status: 401,
    error: 'invalid registration ticket',
    when: 'The ticket is not ours, or too old: sign in once more.',
  },

  FORBIDDEN: { status: 403, error: 'admins only', when: 'The caller is no admin, or is none any more.' },
  ORIGIN_NOT_ALLOWED: {
    status: 403,
    error: 'origin not allowed',
    when: 'A page on an origin that is not in `CORS_ORIGINS` wants to change something.',
  },
  EMAIL_NOT_VERIFIED: {
    status: 403,
    error: 'email not verified',
    when: 'The one-time code has not been proved for this ticket.',
  },

  NOT_FOUND: {
    status: 404,
    error: 'not found',
    when: 'There is no such thing, or it belongs to somebody else; the two look alike.',
    facts: { what: 'instrument' },
  },
  METHOD_NOT_ALLOWED: {
    status: 405,
    error: 'method not allowed',
    when: 'The path does not take this method; the header `Allow` says which it takes.',
  },

  PRICE_MOVED: {
    status: 409,
    error: 'PRICE_MOVED',
    when: '`clientPrice` is more than 2.5 % away from the last published price: show the new one and ask again.',
    facts: { currentPrice: 206.31, lastPublishedPrice: 206.3 },
  },
  MARKET_CLOSED: {
    status: 409,
    error: 'market closed',
    when: 'The match takes no trades: it has not begun, or is over. `GET /api/matches/{id}/trade-window` says more.',
    facts: tradeWindow('CLOSED', 'the match is over'),
  },
  MARKET_SUSPENDED: {
    status: 409,
    error: 'market suspended',
    when: 'For the moment nobody knows a price (something has happened on the pitch, or the feed is late), or operators have restricted trading.',
    facts: tradeWindow('SUSPENDED', 'an in-game event is being priced'),
  },
  COOLDOWN_ACTIVE: {
    status: 409,
    error: 'cooldown_active',
    when: 'The position is younger than its hold of 180 seconds.',
    facts: { retry_after_secs: 112, closableAt: '2026-05-02T14:33:00.000Z' },
    retry: true,
  },
  POSITION_NOT_OPEN: {
    status: 409,
    error: 'position is not open',
    when: 'The position has been closed already; `position` shows how.',
    facts: { position: { id: '0197f2a0-5d5b-7cc4-8f3e-1d2c3b4a5968', status: 'closed', closedBy: 'take_profit' } },
  },
  POSITION_CORRUPT: {
    status: 409,
    error: 'position is in an invalid state; contact support',
    when: 'The record of the position makes no sense. Its money stays where it is until a person has looked.',
  },
  KEY_IN_FLIGHT: {
    status: 409,
    error: 'duplicate request; please retry',
    when: 'A request with this idempotency key is at work right now: retry with the same key.',
  },
  KEY_REUSED: {
    status: 409,
    error: 'duplicate request; please retry',
    when: 'The idempotency key belongs to another request: retry with a fresh one.',
  },
  USERNAME_TAKEN: { status: 409, error: 'username taken', when: 'Somebody has registered with this username.' },
  TOO_MANY_INVITES: {
    status: 409,
    error: 'too many invites are waiting; share one of them first',
    when: 'Two hundred invites of the caller have brought nobody yet.',
  },
  WEEK_NOT_COUNTED: {
    status: 409,
    error: 'the week is still being counted',
    when: 'Closes of the week have not been reacted to yet.',
    retry: true,
  },
  REBUILD_UNDER_WAY: {
    status: 409,
    error: 'another process is rebuilding the leaderboards',
    when: 'Another process of the cluster is at it.',
  },
  MATCH_OVER: { status: 409, error: 'the match is over already', when: 'There is nothing left to end.' },
  OWN_ROLE: {
    status: 409,
    error: 'nobody can take away his own admin role; ask another admin',
    when: 'The admin wants to be none.',
  },
  REPLAY_LIMIT: {
    status: 409,
    error: 'too many replays at once; stop one first',
    when: 'As many replays play as may.',
    facts: { max: 16 },
  },

  PAYLOAD_TOO_LARGE: { status: 413, error: 'body larger than 64 KiB', when: 'By its stated length, or by counting.' },
  UNSUPPORTED_MEDIA_TYPE: {
    status: 415,
    error: 'content type must be application/json',
    when: 'The body says that it is something else, or not what it is.',
  },

  LOT_SIZE_INVALID: {
    status: 422,
    error: 'lot size invalid',
    when: 'The lot size lies outside the limits or between two steps.',
    facts: { minLot: 0.01, maxLot: 100, lotStep: 0.01 },
  },
  LEVELS_INVALID: {
    status: 422,
    error: 'stop-loss / take-profit level invalid for the current price',
    when: 'A long position asks for stop-loss < price < take-profit, a short one for the reverse.',
    facts: { currentPrice: 206.31 },
  },
  POSITION_LIMIT: {
    status: 422,
    error: 'position limit reached',
    when: 'The caller holds as many open positions as one may.',
    facts: { maxOpenPositions: 100 },
  },
  INSUFFICIENT_MARGIN: {
    status: 422,
    error: 'insufficient margin',
    when: 'The free margin does not pay for it.',
    facts: { required: 525.1, available: 312.44, maxLotSize: 2.97 },
  },
  NEEDS_PROFILE: {
    status: 422,
    error: 'profile needed',
    when: 'Whoever signs in has not registered yet: the ticket in the answer leads through it.',
  },

  RATE_LIMITED: {
    status: 429,
    error: 'too many requests',
    when: 'The `RateLimit` headers say which limit it was and how much of each is left.',
    facts: { limit: 'global' },
    retry: true,
  },
  TOO_MANY_ATTEMPTS: {
    status: 429,
    error: 'too many attempts',
    when: 'Three guesses were wrong: ask for another code.',
    retry: true,
  },
  RESEND_TOO_SOON: {
    status: 429,
    error: 'code sent a moment ago',
    when: 'A code has gone out within the last minute.',
    retry: true,
  },

  INTERNAL: {
    status: 500,
    error: 'internal error',
    when: 'Our fault. The log knows more under `requestId`.',
  },

  UNAVAILABLE: {
    status: 503,
    error: 'service unavailable',
    when: 'Something we depend on is away.',
    retry: true,
  },
  COMING_SOON: {
    status: 503,
    error: 'coming soon',
    when: 'The flag `coming_soon` is set, and the caller is no admin.',
    retry: true,
  },
  BUSY: {
    status: 503,
    error: 'too busy; please retry',
    when: 'The match has too much to do, or is moving to another process. Nothing was started.',
    retry: true,
  },
  UNKNOWN_OUTCOME: {
    status: 503,
    error: 'outcome not known yet; please retry with the same idempotency key',
    when: 'No answer came in time: it may or may not have happened, and the same key finds out.',
    retry: true,
  },
  NOT_READY: {
    status: 503,
    error: 'not ready',
    when: 'Something does not answer; `checks` says what.',
    facts: { checks: { accepting: 'ok', database: 'failed', fastStore: 'ok' } },
    retry: true,
  },
} as const satisfies Record<string, Meaning>

export type ErrorCode = keyof typeof ERROR_CODES
export type StatusOf<Code extends ErrorCode> = (typeof ERROR_CODES)[Code]['status']
export type ErrorStatus = Meaning['status']

/** What a code means, with what is the same for every code. */
export const meaningOf = (code: ErrorCode): Meaning => ERROR_CODES[code]

/** What every route may answer. */
const ALWAYS = ['RATE_LIMITED', 'INTERNAL', 'UNAVAILABLE'] as const
/** What may be wrong with a path, a query or a header. */
export const INPUT = ['VALIDATION_FAILED'] as const
/** What may be wrong with a request that changes something. */
export const CHANGE = ['ORIGIN_NOT_ALLOWED', 'PAYLOAD_TOO_LARGE'] as const
/** … and has a body. */
export const BODY = [...INPUT, ...CHANGE, 'MALFORMED_JSON', 'UNSUPPORTED_MEDIA_TYPE'] as const
/** What the gate for the signed-in answers. */
export const SIGNED_IN = ['UNAUTHORIZED', 'COMING_SOON'] as const
/** … the one for admins. */
export const ADMIN = [...SIGNED_IN, 'FORBIDDEN'] as const

export type AlwaysCode = (typeof ALWAYS)[number]

/** These codes and those that every route may answer, by status in rising order. */
export function byStatus(codes: readonly ErrorCode[]): ReadonlyMap<ErrorStatus, readonly ErrorCode[]> {
  const groups = new Map<ErrorStatus, ErrorCode[]>()
  const order = Object.keys(ERROR_CODES)
  const all = [...new Set<ErrorCode>([...codes, ...ALWAYS])].toSorted((a, b) => order.indexOf(a) - order.indexOf(b))
  for (const code of all) {
    const { status } = meaningOf(code)
    groups.set(status, [...(groups.get(status) ?? []), code])
  }
  return groups
}
