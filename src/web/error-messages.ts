/** Error messages for the user: what happened and what to do next. */
import { ApiError } from './client/ask.ts'
import type { ErrorBody } from './client/wire.ts'
import { countdown, dayTime, lots, units } from './format.ts'
import { windowReason } from './served.ts'
import { plural, say, words } from './words.ts'

/** By error code; other errors show the server's text. */
const MESSAGES: Readonly<Record<string, (facts: ErrorBody) => string>> = {
  OFFLINE: () => words.errors.OFFLINE,
  PRICE_MOVED: (facts) => say(words.errors.PRICE_MOVED, { price: number(facts, 'currentPrice') }),
  INSUFFICIENT_MARGIN: (facts) =>
    say(words.errors.INSUFFICIENT_MARGIN, {
      required: number(facts, 'required'),
      available: number(facts, 'available'),
      most: lots(Number(facts['maxLotSize'])),
    }),
  LOT_SIZE_INVALID: (facts) =>
    say(words.errors.LOT_SIZE_INVALID, {
      least: Number(facts['minLot']),
      most: Number(facts['maxLot']),
      step: Number(facts['lotStep']),
    }),
  LEVELS_INVALID: (facts) => say(words.errors.LEVELS_INVALID, { price: number(facts, 'currentPrice') }),
  POSITION_LIMIT: (facts) => say(words.errors.POSITION_LIMIT, { n: Number(facts['maxOpenPositions']) }),
  ACCOUNT_FROZEN: () => words.errors.ACCOUNT_FROZEN,
  SELF_EXCLUDED: (facts) => say(words.errors.SELF_EXCLUDED, { until: dayTime(String(facts['until'])) }),
  LIMIT_REACHED: (facts) =>
    say(words.errors.LIMIT_REACHED, {
      limit: number(facts, 'dailyLoss'),
      lost: number(facts, 'lostToday'),
      stake: number(facts, 'atStake'),
    }),
  MARKET_CLOSED: (facts) => say(words.errors.MARKET_CLOSED, { why: because(facts) }),
  MARKET_SUSPENDED: (facts) => say(words.errors.MARKET_SUSPENDED, { why: because(facts) }),
  COOLDOWN_ACTIVE: (facts) =>
    say(words.errors.COOLDOWN_ACTIVE, { time: countdown(Number(facts['retry_after_secs']) * 1_000) }),
  POSITION_NOT_OPEN: () => words.errors.POSITION_NOT_OPEN,
  POSITION_CORRUPT: () => words.errors.POSITION_CORRUPT,
  NOT_FOUND: ({ what }) => (what === 'league' ? words.errors.noLeague : words.errors.NOT_FOUND),
  RATE_LIMITED: () => words.errors.RATE_LIMITED,
  UNAVAILABLE: () => words.errors.UNAVAILABLE,
  BUSY: () => words.errors.UNAVAILABLE,
  INTERNAL: () => words.errors.UNAVAILABLE,
  UNKNOWN_OUTCOME: () => words.errors.UNKNOWN_OUTCOME,
  KEY_IN_FLIGHT: () => words.errors.UNKNOWN_OUTCOME,
  LEAGUE_LIMIT: (facts) => say(words.errors.LEAGUE_LIMIT, { n: Number(facts['maxLeagues']) }),
  LEAGUE_FULL: (facts) => say(words.errors.LEAGUE_FULL, { n: Number(facts['maxMembers']) }),
  LEAGUE_OVER: () => words.errors.LEAGUE_OVER,
  LEAGUE_NOT_RUNNING: (facts) =>
    say(words.errors.LEAGUE_NOT_RUNNING, {
      from: dayTime(String(facts['startsAt'])),
      to: dayTime(String(facts['endsAt'])),
    }),
  SEASON_UNDECIDED: () => words.errors.SEASON_UNDECIDED,
  PURSE_MISMATCH: () => words.errors.PURSE_MISMATCH,
  POSITIONS_OPEN: () => words.errors.POSITIONS_OPEN,
  NOT_RUINED: (facts) => say(words.errors.NOT_RUINED, { below: number(facts, 'below') }),
  REFILLED_LATELY: (facts) => say(words.errors.REFILLED_LATELY, { next: dayTime(String(facts['nextAt'])) }),
  RULES_MOVE_PRICES: movingPrices,
  KEY_LIMIT: () => words.errors.KEY_LIMIT,
  FOLLOW_LIMIT: (facts) => say(words.errors.FOLLOW_LIMIT, { n: Number(facts['maxPlayers']) }),
  ALERT_LIMIT: (facts) => say(words.errors.ALERT_LIMIT, { n: Number(facts['maxAlerts']) }),
  REMINDER_LIMIT: (facts) => say(words.errors.REMINDER_LIMIT, { n: Number(facts['maxReminders']) }),
  MATCH_BEGUN: () => words.errors.MATCH_BEGUN,
  TOO_MANY_INVITES: () => words.errors.TOO_MANY_INVITES,
  COMING_SOON: () => words.errors.COMING_SOON,
  INVALID_IDENTITY_TOKEN: () => words.errors.notAccepted,
  NONCE_ALREADY_USED: () => words.errors.notAccepted,
  INVALID_REGISTRATION_TICKET: () => words.errors.INVALID_REGISTRATION_TICKET,
  REGISTRATIONS_FULL: () => words.errors.REGISTRATIONS_FULL,
  USERNAME_TAKEN: () => words.signIn.taken,
  CODE_EXPIRED: () => words.errors.CODE_EXPIRED,
  TOO_MANY_ATTEMPTS: () => words.errors.TOO_MANY_ATTEMPTS,
  RESEND_TOO_SOON: () => words.errors.RESEND_TOO_SOON,
  INVALID_CODE: (facts) => plural(Number(facts['attemptsRemaining']), words.errors.INVALID_CODE),
  VALIDATION_FAILED: ({ error, issues }) => {
    const [first] = (issues ?? []) as readonly { readonly path: string; readonly message: string }[]
    return first === undefined ? sentence(error) : sentence(`${first.path} ${first.message}`.trim())
  },
  UNAUTHORIZED: () => words.errors.UNAUTHORIZED,
  SIGN_IN_AGAIN: () => words.errors.SIGN_IN_AGAIN,
}

const number = (facts: ErrorBody, name: string): string => units(Number(facts[name]))

/** What a setting would do to the running matches. */
function movingPrices({ moves, maxMovePct, closes, unknownMatches }: ErrorBody): string {
  const unknown = (unknownMatches as readonly unknown[]).length
  const known =
    `This moves ${count(Number(moves), 'price', 'prices')} by up to ${Number(maxMovePct).toFixed(1)} % ` +
    `and closes ${count(Number(closes), 'position', 'positions')}.`
  return unknown === 0 ? known : `${known} ${count(unknown, 'match', 'matches')} cannot say yet what it would do there.`
}

const count = (n: number, one: string, many: string): string => `${n} ${n === 1 ? one : many}`

/** The server's reason why the trade window is not open. */
function because({ tradeWindow }: ErrorBody): string {
  const reason = (tradeWindow as { readonly reason?: string | null } | undefined)?.reason ?? null
  if (reason === 'not_on_pitch') return ` ${words.errors.bench}`
  return reason === null ? '' : `: ${windowReason(reason)}`
}

export const refusalMessage = (facts: ErrorBody): string => MESSAGES[facts.code]?.(facts) ?? sentence(facts.error)

export const messageFor = (error: unknown): string =>
  error instanceof ApiError ? refusalMessage(error.facts) : words.errors.page

const sentence = (text: string): string => `${text.charAt(0).toUpperCase()}${text.slice(1)}.`
