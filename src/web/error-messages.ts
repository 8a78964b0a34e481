/** Error messages for the user: what happened and what to do next. */
import { ApiError } from './client/api.ts'
import type { ErrorBody } from './client/wire.ts'
import { countdown, lots, units } from './format.ts'

/** By error code; other errors show the server's text. */
const MESSAGES: Readonly<Record<string, (facts: ErrorBody) => string>> = {
  OFFLINE: () => 'The server cannot be reached. Check your connection and try again.',
  PRICE_MOVED: (facts) => `The price has moved to ${number(facts, 'currentPrice')}. Check it and try again.`,
  INSUFFICIENT_MARGIN: (facts) =>
    `This needs ${number(facts, 'required')} and you have ${number(facts, 'available')}. ` +
    `The largest size that fits is ${lots(Number(facts['maxLotSize']))}.`,
  LOT_SIZE_INVALID: (facts) =>
    `Between ${String(facts['minLot'])} and ${String(facts['maxLot'])} lots, in steps of ${String(facts['lotStep'])}.`,
  LEVELS_INVALID: (facts) =>
    `At ${number(facts, 'currentPrice')} a long needs its stop below and its target above; a short the other way round.`,
  LEVEL_TOO_CLOSE: (facts) =>
    `Until you may close it, a stop or target must be at least ${number(facts, 'minDistance')} away from ` +
    `${number(facts, 'currentPrice')}.`,
  POSITION_LIMIT: (facts) => `You may hold ${String(facts['maxOpenPositions'])} positions. Close one first.`,
  ACCOUNT_FROZEN: () => 'Your account is frozen. You can read and close your positions, but not open any.',
  SELF_EXCLUDED: (facts) =>
    `You have paused trading until ${new Date(String(facts['until'])).toLocaleString()}. You can still close.`,
  LIMIT_REACHED: (facts) =>
    `This is over your own limit of ${number(facts, 'dailyLoss')} a day: ${number(facts, 'lostToday')} lost today, ` +
    `${number(facts, 'atStake')} at stake.`,
  MARKET_CLOSED: (facts) => `The market is closed${because(facts)}.`,
  MARKET_SUSPENDED: (facts) => `Trading is suspended for now${because(facts)}.`,
  COOLDOWN_ACTIVE: (facts) => `You can close this in ${countdown(Number(facts['retry_after_secs']) * 1_000)}.`,
  POSITION_NOT_OPEN: () => 'This position is already closed.',
  RATE_LIMITED: () => 'Too many requests. Wait a moment and try again.',
  LEAGUE_LIMIT: (facts) => `You take part in ${String(facts['maxLeagues'])} leagues. Leave one first.`,
  LEAGUE_FULL: (facts) => `${String(facts['maxMembers'])} people have joined. The league is full.`,
  LEAGUE_OVER: () => 'This league is over.',
  LEAGUE_NOT_RUNNING: (facts) =>
    `This league takes trades from ${new Date(String(facts['startsAt'])).toLocaleString()} to ` +
    `${new Date(String(facts['endsAt'])).toLocaleString()}.`,
  SEASON_UNDECIDED: () => 'Your last season is still being decided. Try again in a few minutes.',
  PURSE_MISMATCH: () => 'This match is not part of that league.',
  POSITIONS_OPEN: () => 'Close your practice positions first. Then it can be refilled.',
  NOT_RUINED: (facts) => `Your wallet is refilled only below ${number(facts, 'below')} units.`,
  REFILLED_LATELY: (facts) =>
    `You had a refill less than a week ago. The next one: ${new Date(String(facts['nextAt'])).toLocaleString()}.`,
  PROCEEDS_LOCKED: () => 'News may still correct what you have just closed. Try again in a few minutes.',
  RULES_MOVE_PRICES: movingPrices,
  KEY_LIMIT: () => 'You have 10 keys. Delete one first.',
  COMING_SOON: () => 'Not open yet. Come back soon.',
  INVALID_CODE: (facts) =>
    `That is not the code. ${count(Number(facts['attemptsRemaining']), 'try is', 'tries are')} left.`,
  VALIDATION_FAILED: ({ error, issues }) => {
    const [first] = (issues ?? []) as readonly { readonly path: string; readonly message: string }[]
    return first === undefined ? sentence(error) : sentence(`${first.path} ${first.message}`.trim())
  },
  UNAUTHORIZED: () => 'You have been signed out.',
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
  if (reason === 'not_on_pitch') return ' for players on the bench, until they come on'
  return reason === null ? '' : `: ${reason}`
}

export const refusalMessage = (facts: ErrorBody): string => MESSAGES[facts.code]?.(facts) ?? sentence(facts.error)

export const messageFor = (error: unknown): string =>
  error instanceof ApiError ? refusalMessage(error.facts) : 'Something went wrong on this page. Reload it.'

const sentence = (text: string): string => `${text.charAt(0).toUpperCase()}${text.slice(1)}.`
