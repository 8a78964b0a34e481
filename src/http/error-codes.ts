/**
 * The error codes that routes share; a feature declares its own. Programs act on a code, so its status, text and
 * meaning never change; `FACTS` has what it carries. Each route lists the codes it may answer with, and the API
 * description is made from these tables.
 */

export interface Meaning {
  readonly status: 400 | 401 | 403 | 404 | 405 | 409 | 411 | 413 | 415 | 422 | 429 | 500 | 503
  /** For people; the exact text of the specification if it has one. */
  readonly error: string
  /** When it happens, and what the caller should do. */
  readonly when: string
  /** Set if the header `Retry-After` says when to try again. */
  readonly retry?: true
}

export const ERROR_CODES = {
  VALIDATION_FAILED: {
    status: 400,
    error: 'validation failed',
    when: 'A value in the body, the query, the path or a header does not fit its schema. `issues` lists each one.',
  },
  MALFORMED_JSON: { status: 400, error: 'malformed JSON', when: 'The body is not valid JSON.' },
  INVALID_CODE: {
    status: 400,
    error: 'invalid code',
    when: 'The code is wrong; `attemptsRemaining` tries are left.',
  },
  CODE_EXPIRED: {
    status: 400,
    error: 'code expired',
    when: 'The code is older than 5 minutes, or was used more than a minute ago.',
  },

  UNAUTHORIZED: {
    status: 401,
    error: 'unauthorized',
    when:
      'The cookie has no valid token of the right type, or its session has ended: refresh, or sign in again. Or the ' +
      'personal key is unknown, expired or deleted: create another. A request with a key is judged by the key alone.',
  },
  INVALID_IDENTITY_TOKEN: {
    status: 401,
    error: 'invalid identity token',
    when: 'The identity token failed verification, and its nonce was not consumed; or it was used before.',
  },
  NONCE_ALREADY_USED: {
    status: 401,
    error: 'nonce already used',
    when: 'The nonce has been used for a sign-in. Request a new identity token with a new nonce.',
  },
  INVALID_REGISTRATION_TICKET: {
    status: 401,
    error: 'invalid registration ticket',
    when: 'The ticket is invalid or expired. Sign in with the identity provider again.',
  },

  FORBIDDEN: {
    status: 403,
    error: 'admins only',
    when: 'The caller does not have the role `admin`, or no longer has it.',
  },
  SCOPE_MISSING: {
    status: 403,
    error: 'the key does not allow this',
    when: 'The personal key lacks the scope `required`. Null: no key is accepted here; use a browser.',
  },
  SIGN_IN_AGAIN: {
    status: 403,
    error: 'sign in again',
    when:
      'This needs a sign-in at most `maxAgeSecs` old. Sign in with the identity provider again, with `prompt=login` ' +
      'and `max_age`, and repeat the request.',
  },
  ORIGIN_NOT_ALLOWED: {
    status: 403,
    error: 'origin not allowed',
    when: 'A page on an origin that is not in `CORS_ORIGINS` sent a request that changes something. Operators can add it.',
  },
  EMAIL_NOT_VERIFIED: {
    status: 403,
    error: 'email not verified',
    when: 'The e-mail of this ticket is not verified yet. Call `POST /api/auth/verify-otp` first.',
  },

  NOT_FOUND: {
    status: 404,
    error: 'not found',
    when: 'It does not exist or belongs to another user; the response does not say which. `what` names the kind.',
  },
  METHOD_NOT_ALLOWED: {
    status: 405,
    error: 'method not allowed',
    when: 'The path does not support this method. The header `Allow` lists those it supports.',
  },

  PRICE_MOVED: {
    status: 409,
    error: 'PRICE_MOVED',
    when:
      '`clientPrice` differs from the last published price by more than `trading.price_guard_pct` (2.5) per cent. Show ' +
      'the user `currentPrice` and ask again.',
  },
  MARKET_CLOSED: {
    status: 409,
    error: 'market closed',
    when: 'The match has not begun or is over, or the player is not on the pitch. `GET /api/matches/{id}/trade-window` has the details.',
  },
  MARKET_SUSPENDED: {
    status: 409,
    error: 'market suspended',
    when:
      'Trading is suspended because match data is late, play is interrupted, operators restrict it or, with ' +
      '`trading.protection` only, an in-game event is being priced. `tradeWindow.reason` says which.',
  },
  COOLDOWN_ACTIVE: {
    status: 409,
    error: 'cooldown_active',
    when: 'The hold, 180 seconds by default, is not over. The position can be closed from `closableAt` on.',
    retry: true,
  },
  POSITION_NOT_OPEN: {
    status: 409,
    error: 'position is not open',
    when: 'The position is already closed; `position` shows how.',
  },
  POSITION_CORRUPT: {
    status: 409,
    error: 'position is in an invalid state; contact support',
    when: 'The stored position is inconsistent. Its money is not moved until an operator has checked it.',
  },
  KEY_IN_FLIGHT: {
    status: 409,
    error: 'duplicate request; please retry',
    when: 'A request with this idempotency key is in progress. Retry with the same key.',
  },
  KEY_REUSED: {
    status: 409,
    error: 'duplicate request; please retry',
    when: 'The idempotency key was used with another body. Retry with a new key.',
  },
  USERNAME_TAKEN: { status: 409, error: 'username taken', when: 'Another user has this username. Choose another.' },
  KEY_LIMIT: {
    status: 409,
    error: 'a user has at most 10 keys; delete one first',
    when: 'The caller has 10 keys. Delete one of them first.',
  },
  LEAGUE_NOT_RUNNING: {
    status: 409,
    error: 'the league takes no orders now',
    when: 'The league takes new positions only between `startsAt` and `endsAt`. Open ones can be closed later.',
  },
  PURSE_MISMATCH: {
    status: 409,
    error: 'this match is not traded with that purse',
    when: 'A practice match is traded with `practice`, any other with `main`, and a league takes only its own matches.',
  },
  POSITIONS_OPEN: {
    status: 409,
    error: 'positions of this purse are open',
    when: 'A wallet is refilled only while it has no open position. Close `openPositions` positions first.',
  },
  NOT_RUINED: {
    status: 409,
    error: 'the wallet still has enough',
    when: 'A main wallet is refilled only below `below` units, and has `balance`.',
  },
  REFILLED_LATELY: { status: 409, error: 'refilled less than a week ago', when: 'The next refill is at `nextAt`.' },
  REBUILD_UNDER_WAY: {
    status: 409,
    error: 'another process is rebuilding the leaderboards',
    when: 'A rebuild is running in another process. Wait for it to finish.',
  },
  RULES_MOVE_PRICES: {
    status: 409,
    error: 'this setting would move running prices further than rules.max_move_pct',
    when:
      'The change would move a price of a running match by more than `rules.max_move_pct` per cent, or a running match ' +
      'has not answered. `dryRun=true` lists the moves; `force: true` makes the change anyway.',
  },
  MATCH_OVER: {
    status: 409,
    error: 'the match is already over',
    when: 'The match is settled or settling, so it cannot be ended.',
  },
  OWN_ROLE: {
    status: 409,
    error: 'you cannot remove your own admin role; ask another admin',
    when: 'An admin tried to remove their own admin role.',
  },
  OWN_STATUS: {
    status: 409,
    error: 'you cannot freeze your own account; ask another admin',
    when: 'An admin tried to change the status of their own account.',
  },
  FLAG_LIMIT: {
    status: 409,
    error: 'too many flags; delete one first',
    when: 'There are already `max` flags besides the built-in one.',
  },
  FLAG_BUILT_IN: {
    status: 409,
    error: 'this flag is built in and cannot be deleted',
    when: 'The server itself obeys this flag. It can be switched off.',
  },
  REPLAY_LIMIT: {
    status: 409,
    error: 'too many replays are running; stop one first',
    when: '`max` replays are already running. Stop one first.',
  },

  LENGTH_REQUIRED: {
    status: 411,
    error: 'length required',
    when: 'The body has no `Content-Length`, which this route needs. Send it.',
  },
  PAYLOAD_TOO_LARGE: {
    status: 413,
    error: 'body too large',
    when: 'The declared or received body exceeds 64 KiB, or the larger limit that its route names.',
  },
  UNSUPPORTED_MEDIA_TYPE: {
    status: 415,
    error: 'content type must be application/json, without a content encoding',
    when: '`Content-Type` is missing or is not `application/json` in UTF-8, or `Content-Encoding` is not `identity`.',
  },

  LOT_SIZE_INVALID: {
    status: 422,
    error: 'lot size invalid',
    when:
      '`lotSize` is below `minLot`, above `maxLot`, or not a multiple of `lotStep`. In a close `maxLot` is the whole ' +
      'position, and a part must leave at least one `lotStep`.',
  },
  LEVELS_INVALID: {
    status: 422,
    error: 'stop-loss / take-profit level invalid for the current price',
    when:
      'A long position needs stop-loss < price < take-profit, a short one take-profit < price < stop-loss, at the price ' +
      'after the order.',
  },
  POSITION_LIMIT: {
    status: 422,
    error: 'position limit reached',
    when: 'The caller already has `maxOpenPositions` open positions. Close one first.',
  },
  INSUFFICIENT_MARGIN: {
    status: 422,
    error: 'insufficient margin',
    when: 'The order needs a margin of `required`, but only `available` is free. `maxLotSize` lots would fit.',
  },
  ACCOUNT_FROZEN: {
    status: 403,
    error: 'account frozen; you can read and close positions, but not open any',
    when: 'An operator has frozen the account. Its positions can be closed. Ask the operator for the reason.',
  },
  SELF_EXCLUDED: {
    status: 403,
    error: 'you have paused trading; you can close positions, but not open any',
    when: "The caller's own cool-off or exclusion lasts until `until`. Open positions can be closed, and their levels set.",
  },
  LIMIT_REACHED: {
    status: 422,
    error: 'your own daily limit is reached',
    when:
      "`required`, `lostToday` and `atStake` together exceed the caller's own limit `dailyLoss`. " +
      "Today's losses stop counting at `freeAt` (midnight UTC).",
  },
  NEEDS_PROFILE: {
    status: 422,
    error: 'profile needed',
    when: 'The account is not registered yet. Complete the profile with the `registrationTicket` in the answer.',
  },

  REGISTRATIONS_FULL: {
    status: 429,
    error: 'too many registrations from your network today',
    when:
      '`auth.registrations_per_network_day` users have registered from this network today. Try again tomorrow (UTC), or ' +
      'from another network.',
    retry: true,
  },
  RATE_LIMITED: {
    status: 429,
    error: 'too many requests',
    when: 'The rate limit `limit` is exceeded. Wait as long as `Retry-After` says; `RateLimit` shows what is left.',
    retry: true,
  },
  TOO_MANY_ATTEMPTS: {
    status: 429,
    error: 'too many attempts',
    when: 'The three tries of this code are used up. Request another code.',
    retry: true,
  },
  RESEND_TOO_SOON: {
    status: 429,
    error: 'a code was sent less than a minute ago',
    when: 'A code was sent within the last minute. Ask again after `Retry-After`.',
    retry: true,
  },

  INTERNAL: {
    status: 500,
    error: 'internal error',
    when:
      'A fault in the server. Send the operators the `requestId`: the log has the details under it. An order may have ' +
      'happened: repeat it with the same key to find out.',
  },

  UNAVAILABLE: {
    status: 503,
    error: 'service unavailable',
    when:
      'The database or another dependency is unavailable, or too many requests wait. An order may have happened: ' +
      'repeat it with the same key.',
    retry: true,
  },
  COMING_SOON: {
    status: 503,
    error: 'coming soon',
    when: 'The flag `coming_soon` is set, and the caller is not an admin.',
    retry: true,
  },
  BUSY: {
    status: 503,
    error: 'too busy; please retry',
    when: 'The match is overloaded or moving to another process, or too many downloads are running. Nothing was done; retry.',
    retry: true,
  },
  UNKNOWN_OUTCOME: {
    status: 503,
    error: 'outcome not known yet; please retry with the same idempotency key',
    when: 'The match did not answer in time. The order may have happened: retry with the same key to find out.',
    retry: true,
  },
  NOT_READY: {
    status: 503,
    error: 'not ready',
    when: 'A check failed; `checks` says which.',
    retry: true,
  },
} as const satisfies Record<string, Meaning>

export type ErrorCode = keyof typeof ERROR_CODES
export type StatusOf<Code extends ErrorCode> = (typeof ERROR_CODES)[Code]['status']
export type ErrorStatus = Meaning['status']

/** Codes of every route. An unknown query parameter is a failed validation. */
const ALWAYS = ['VALIDATION_FAILED', 'RATE_LIMITED', 'INTERNAL', 'UNAVAILABLE'] as const
/** Codes of a route with path parameters, query parameters or headers. */
export const INPUT = ['VALIDATION_FAILED'] as const
/** … with an unsafe method. */
export const CHANGE = ['ORIGIN_NOT_ALLOWED', 'PAYLOAD_TOO_LARGE'] as const
/** … with a body. */
export const BODY = [...INPUT, ...CHANGE, 'MALFORMED_JSON', 'UNSUPPORTED_MEDIA_TYPE'] as const
/** … behind the gate `signedIn`. */
export const SIGNED_IN = ['UNAUTHORIZED', 'SCOPE_MISSING', 'COMING_SOON'] as const
/** … behind the gate `admin`. */
export const ADMIN = [...SIGNED_IN, 'FORBIDDEN'] as const
/** … behind the gate `freshAdmin`. */
export const FRESH_ADMIN = [...ADMIN, 'SIGN_IN_AGAIN'] as const

export type AlwaysCode = (typeof ALWAYS)[number]

/** Codes with their meanings. */
export type Meanings = Readonly<Record<string, Meaning>>

/** These codes and those of every route, grouped by status in ascending order; in a group they are in the table's. */
export function byStatus(codes: readonly string[], table: Meanings): ReadonlyMap<ErrorStatus, readonly string[]> {
  const groups = new Map<ErrorStatus, string[]>()
  const wanted = new Set<string>([...codes, ...ALWAYS])
  for (const [code, { status }] of Object.entries(table)) {
    if (wanted.has(code)) groups.set(status, [...(groups.get(status) ?? []), code])
  }
  return new Map([...groups].toSorted(([a], [b]) => a - b))
}
