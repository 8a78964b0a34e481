/** When a match takes trades: its phase, the age of its feed, in-game events and the operator's restrictions. */
import type { TradingRules } from '../kernel/limits.ts'
import type { TradeWindow } from '../kernel/outcome.ts'
import { tradingMode } from '../kernel/trading-mode.ts'
import type { Instant } from '../kernel/world.ts'
import type { Instrument } from '../market/instrument.ts'
import { isInPlay } from '../market/phase.ts'
import type { MatchInfo } from './messages.ts'

const OPEN: TradeWindow = { status: 'OPEN', reason: null }
const suspended = (reason: string): TradeWindow => ({ status: 'SUSPENDED', reason })
const closed = (reason: string): TradeWindow => ({ status: 'CLOSED', reason })
const BEING_PRICED = suspended('an in-game event is being priced')
const AWAITED = suspended('the statistics after an in-game event are late: positions can be closed, not opened')
const LEAVING = suspended('levels that were reached are being closed')
const REDUCE_ONLY = suspended('positions can be closed, not opened')
export const HALTED = suspended('trading is halted')
/** A word for programs: clients tell it from the other reasons. */
const NOT_ON_PITCH = closed('not_on_pitch')

/**
 * The trade window of a match, or of one of its instruments. Only OPEN takes new positions. A closed match comes first,
 * then the operator's restrictions, then the state of the match.
 */ // H11
export function tradeWindow(
  info: MatchInfo,
  instrument: Instrument | null,
  now: Instant,
  rules: TradingRules,
): TradeWindow {
  const window = playWindow(info, instrument, now, rules)
  if (window.status === 'CLOSED') return window
  const restricted = restriction(info, instrument, rules)
  if (restricted !== null) return restricted
  // What happens on the pitch does not move this player, so only the crowd would: their price is for leaving.
  return instrument !== null && isBenched(info, instrument) ? NOT_ON_PITCH : window
}

const isBenched = ({ onPitch }: MatchInfo, { playerId }: Instrument): boolean =>
  onPitch !== null && !onPitch.includes(playerId)

/** The operator's restriction, or null when there is none. */
function restriction({ matchId }: MatchInfo, instrument: Instrument | null, rules: TradingRules): TradeWindow | null {
  switch (tradingMode(rules.modes, matchId, instrument?.id ?? null)) {
    case 'open':
      return null
    case 'reduce_only':
      return REDUCE_ONLY
    case 'halted':
      return HALTED
  }
}

function playWindow(info: MatchInfo, instrument: Instrument | null, now: Instant, rules: TradingRules): TradeWindow {
  const match = matchWindow(info, now, rules)
  return match.status !== 'OPEN' || instrument === null ? match : newsWindow(instrument, now)
}

/** After news closes wait for statistics that agree with it, for a while; opens wait longer. Both wait for a step. */
function newsWindow({ news, leavingFrom }: Instrument, now: Instant): TradeWindow {
  if (leavingFrom !== null) return LEAVING
  if (news === null || now >= news.opensFrom) return OPEN
  return now < news.closesFrom ? BEING_PRICED : AWAITED
}

function matchWindow(info: MatchInfo, now: Instant, rules: TradingRules): TradeWindow {
  if (info.settledAt !== null || info.settling !== null) return closed('the match has been settled')
  switch (info.phase) {
    case 'scheduled':
      return rules.preMatch ? OPEN : closed('the match has not kicked off')
    case 'ended':
    case 'final':
      return closed('the match is over')
    case 'off':
      return closed('the match will not be played')
    case 'frozen':
      return suspended('the state of the match is not known')
    case 'live':
    case 'break':
      return isStale(info, now, rules) ? suspended('the live feed is late') : OPEN
  }
}

/** Whether a user may close: when the price can be trusted and the match is not about to close the position itself. */
export function closeWindow(info: MatchInfo, instrument: Instrument, now: Instant, rules: TradingRules): TradeWindow {
  // Before kick-off nothing can be opened, but what is open may be closed.
  const waiting = info.settling === null && info.phase === 'scheduled'
  const shown = waiting ? newsWindow(instrument, now) : playWindow(info, instrument, now, rules)
  const window = shown === AWAITED ? OPEN : shown
  return window.status !== 'CLOSED' && isHalted(info, instrument, rules) ? HALTED : window
}

/** Whether an operator has stopped all user commands, level changes included. */
export const isHalted = (info: MatchInfo, instrument: Instrument, rules: TradingRules): boolean =>
  restriction(info, instrument, rules) === HALTED

/** Whether a match is in play and its feed has been silent too long to trust any price. */
export function isStale(info: MatchInfo, now: Instant, rules: TradingRules): boolean {
  return isInPlay(info.phase) && (info.sourceAt === null || now - info.sourceAt > rules.feedStaleMs)
}
