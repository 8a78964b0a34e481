/** When a match takes trades: its phase, the age of its feed and the operator's restrictions. */
import type { TradingRules } from '../kernel/limits.ts'
import type { TradeWindow } from '../kernel/outcome.ts'
import { tradingMode } from '../kernel/trading-mode.ts'
import type { Instant } from '../kernel/world.ts'
import type { Instrument } from '../market/instrument.ts'
import { isInPlay, type Phase } from '../market/phase.ts'
import type { MatchInfo } from './messages.ts'
import { heldBy } from './protection/held.ts'

const OPEN: TradeWindow = { status: 'OPEN', reason: null }
const suspended = (reason: string): TradeWindow => ({ status: 'SUSPENDED', reason })
const closed = (reason: string): TradeWindow => ({ status: 'CLOSED', reason })
const BEING_PRICED = suspended('an in-game event is being priced')
const AWAITED = suspended('the statistics after an in-game event are late: positions can be closed, not opened')
const LATE = suspended('the live feed is late')
const FROZEN = suspended('the match clock stands still')
/** Why a match that may go on takes no trades, by the provider's state. Any other state is not known. */
const FROZEN_BY: Readonly<Record<string, TradeWindow>> = {
  SUSPENDED: suspended('the match is interrupted'),
  INTERRUPTED: suspended('the match is interrupted'),
  AWAITING_UPDATES: LATE,
}
const LEAVING = suspended('levels that were reached are being closed')
const QUARANTINED = suspended('the stored state of the match cannot be read: an operator will settle or void it')
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

/** Whether an instrument is listed as active: before kick-off the whole squad, then those on the pitch. */
export const isActive = (info: MatchInfo, instrument: Instrument): boolean =>
  info.phase === 'scheduled' || !isBenched(info, instrument)

/** Whether the price of an instrument lives: the match is in play, its feed is good, and the player is on the pitch. */
export const isTicking = (info: MatchInfo, instrument: Instrument, now: Instant, rules: TradingRules): boolean =>
  isInPlay(info.phase) && feedFault(info, now, rules) === null && !isBenched(info, instrument)

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
  return match.status !== 'OPEN' || instrument === null ? match : instrumentWindow(instrument, now, rules)
}

/** Levels that fired together leave before anyone else trades. Protection may hold a player after news. */
function instrumentWindow(instrument: Instrument, now: Instant, rules: TradingRules): TradeWindow {
  if (instrument.leavingFrom !== null) return LEAVING
  const held = heldBy(instrument, now, rules)
  return held === null ? OPEN : held === 'closes' ? BEING_PRICED : AWAITED
}

function matchWindow(info: MatchInfo, now: Instant, rules: TradingRules): TradeWindow {
  if (info.settledAt !== null || info.settling !== null) return closed('the match has been settled')
  if (info.quarantine !== undefined) return QUARANTINED
  switch (info.phase) {
    case 'scheduled':
      return rules.preMatch ? OPEN : closed('the match has not kicked off')
    case 'ended':
    case 'final':
      return closed('the match is over')
    case 'off':
      return closed('the match will not be played')
    case 'frozen':
      return FROZEN_BY[info.state ?? ''] ?? suspended('the state of the match is not known')
    case 'live':
    case 'break':
      return feedFault(info, now, rules) ?? OPEN
  }
}

/** The phases in which nothing can be opened, and what is open may be closed at the standing price. */
const CLOSE_ONLY: ReadonlySet<Phase> = new Set(['scheduled', 'ended', 'final'])

/** Whether a user may close: until settlement begins, while the price can be trusted. */
export function closeWindow(info: MatchInfo, instrument: Instrument, now: Instant, rules: TradingRules): TradeWindow {
  const isPutOff = info.phase === 'off' && info.kickedOffAt === null
  const waits = info.settling === null && (isPutOff || CLOSE_ONLY.has(info.phase))
  const shown = waits ? instrumentWindow(instrument, now, rules) : playWindow(info, instrument, now, rules)
  const window = shown === AWAITED ? OPEN : shown
  return window.status !== 'CLOSED' && isHalted(info, instrument, rules) ? HALTED : window
}

/** Whether an operator has stopped all user commands, level changes included. */
export const isHalted = (info: MatchInfo, instrument: Instrument, rules: TradingRules): boolean =>
  restriction(info, instrument, rules) === HALTED

/** Why no price of a match in play can be trusted: its feed is silent, or answers with a clock that stands still. */
function feedFault(info: MatchInfo, now: Instant, rules: TradingRules): TradeWindow | null {
  if (info.sourceAt === null || now - info.sourceAt > rules.feedStaleMs) return LATE
  return info.clock !== null && now - info.clock.movedAt > rules.feedFrozenMs ? FROZEN : null
}

/** Whether a match is in play and no price of it can be trusted. */
export const isStale = (info: MatchInfo, now: Instant, rules: TradingRules): boolean =>
  isInPlay(info.phase) && feedFault(info, now, rules) !== null
