/** What users may do (open, change levels, close), and the triggers that a price move fires. */
import { type InstrumentId, positionId } from '../kernel/ids.ts'
import type { TradingRules } from '../kernel/limits.ts'
import type { Lots, Price } from '../kernel/micros.ts'
import { done, type Outcome, type Refusal, refused, type TradeWindow } from '../kernel/outcome.ts'
import { instant, type Instant } from '../kernel/world.ts'
import { priceMoved } from '../market/guards.ts'
import { type Cause, type Instrument, type Quote, quoteAfter, quoteOf } from '../market/instrument.ts'
import {
  type ClosedBy,
  exposureOf,
  holdSecsLeft,
  type Levels,
  levelsValid,
  marginFor,
  type Position,
  realisedPnl,
} from '../position/position.ts'
import { triggerAt, warningAt } from '../position/triggers.ts'
import type { ChangeLevels, ClosePosition, OpenPosition } from './messages.ts'
import type { Draft, MatchView } from './state.ts'
import { closeWindow, HALTED, isHalted, tradeWindow } from './suspension.ts'

/** The inputs of a decision: values only, so that it can be repeated. */
export interface Terms {
  readonly at: Instant
  readonly rules: TradingRules
  readonly newId: () => string
}

/** The result of a command that the rules allow. The commit still checks the wallet. */
export interface Allowed {
  readonly position: Position
  /** The price of its instrument right after it. */
  readonly price: Price
}

/** The order of these checks is the order of precedence of the refusals. */ // T1
export function open(draft: Draft, command: OpenPosition, terms: Terms): Outcome<Allowed> {
  const { at, rules } = terms
  const instrument = draft.instrument(command.instrumentId)
  if (instrument === undefined) return refused({ code: 'not_found', what: 'instrument' })
  const refusal = openRefusal(draft, instrument, command, at, rules)
  if (refusal !== null) return refused(refusal)

  const fill = quoteAfter(instrument, exposureOf(command), rules.impactCapPpm)
  const position: Position = {
    id: positionId(command.idempotency?.id ?? terms.newId()),
    userId: command.userId,
    instrumentId: instrument.id,
    fixtureId: draft.info.matchId,
    direction: command.direction,
    lots: command.lots,
    openPrice: fill.price,
    margin: marginFor(fill.price, command.lots),
    stopLoss: command.stopLoss,
    takeProfit: command.takeProfit,
    openedAt: at,
    closableAt: instant(at + rules.holdMs),
    warned: 0,
    close: null,
  }
  draft.emit({ kind: 'position_opened', position })
  afterTrade(draft, instrument, terms)
  return done({ position, price: quoteOf(draft.listed(instrument.id), rules.impactCapPpm).price })
}

/** An opening that a user considers. Without a client price the price guard does not apply. */
type OpeningIntent = Levels & Pick<OpenPosition, 'direction' | 'lots'> & { readonly clientPrice: Price | null }

/** Why the market would refuse this opening now, or null. Does not check the wallet. */
export function openRefusal(
  view: MatchView,
  instrument: Instrument,
  intent: OpeningIntent,
  at: Instant,
  rules: TradingRules,
): Refusal | null {
  const window = tradeWindow(view.info, instrument, at, rules)
  if (window.status !== 'OPEN') return windowRefusal(window)
  if (!lotsValid(intent.lots, rules)) {
    return { code: 'lot_size_invalid', min: rules.lotMin, max: rules.lotMax, step: rules.lotStep }
  }
  const current = quoteOf(instrument, rules.impactCapPpm)
  if (intent.clientPrice !== null && priceMoved(intent.clientPrice, instrument.published, rules.priceGuardPpm)) {
    return { code: 'price_moved', currentPrice: current.price, lastPublishedPrice: instrument.published }
  }
  // Levels are checked at the fill, the price after opening. Checked at the quote, an order's own impact could carry it
  // through its own stop-loss.
  const fill = quoteAfter(instrument, exposureOf(intent), rules.impactCapPpm)
  if (!levelsValid(intent.direction, intent, fill.price)) return { code: 'levels_invalid', currentPrice: fill.price }
  return null
}

export function changeLevels(draft: Draft, command: ChangeLevels, terms: Terms): Outcome<Allowed> {
  const found = ownPosition(draft, command)
  if (!found.ok) return found
  const position: Position = {
    ...found.value,
    stopLoss: command.stopLoss === undefined ? found.value.stopLoss : command.stopLoss,
    takeProfit: command.takeProfit === undefined ? found.value.takeProfit : command.takeProfit,
  }
  const instrument = draft.listed(position.instrumentId)
  // A level next to the price would be a close by another name.
  if (isHalted(draft.info, instrument, terms.rules)) return refused(windowRefusal(HALTED)) // H11
  const { price } = quoteOf(instrument, terms.rules.impactCapPpm)
  if (!levelsValid(position.direction, position, price)) return refused({ code: 'levels_invalid', currentPrice: price })
  draft.emit({ kind: 'levels_changed', position })
  return done({ position, price })
}

export function close(draft: Draft, command: ClosePosition, terms: Terms): Outcome<Allowed> {
  const { at, rules } = terms
  const found = ownPosition(draft, command)
  if (!found.ok) return found
  const instrument = draft.listed(found.value.instrumentId)
  const window = closeWindow(draft.info, instrument, at, rules)
  if (window.status !== 'OPEN') return refused(windowRefusal(window))
  const secsLeft = holdSecsLeft(found.value, at)
  if (secsLeft > 0) {
    return refused({ code: 'cooldown_active', retryAfterSecs: secsLeft, closableAt: found.value.closableAt })
  }
  const position = emitClose(draft, found.value, quoteOf(instrument, rules.impactCapPpm), 'user', at)
  afterTrade(draft, instrument, terms)
  return done({ position, price: quoteOf(draft.listed(instrument.id), rules.impactCapPpm).price })
}

function ownPosition(draft: Draft, command: ChangeLevels | ClosePosition): Outcome<Position> {
  const position = draft.position(command.positionId)
  if (position === undefined || position.userId !== command.userId) {
    return refused({ code: 'not_found', what: 'position' })
  }
  return position.openPrice === 0 ? refused({ code: 'position_corrupt' }) : done(position)
}

/**
 * Closes at the quote before its own removal, which is the published one: a round trip alone is exactly zero-sum.
 */ // T4
export function emitClose(draft: Draft, position: Position, at: Pick<Quote, 'price'>, by: ClosedBy, now: Instant) {
  const closed = { ...position, close: { price: at.price, pnl: realisedPnl(position, at.price), at: now, by } }
  draft.emit({ kind: 'position_closed', position: closed })
  return closed
}

function emitWarning(draft: Draft, position: Position, at: Price): void {
  const warned = warningAt(position, at)
  if (warned !== null) draft.emit({ kind: 'margin_warned', position: { ...position, warned } })
}

/** A trade moved the imbalance: emits the new price and fires the triggers it reaches. */
function afterTrade(draft: Draft, before: Instrument, terms: Terms): void {
  emitMove(draft, before, 'trade', 0, terms)
  fireTriggers(draft, before.id, terms)
}

/** Emits a price move unless the quote equals that of `before`. */
function emitMove(draft: Draft, before: Instrument, cause: Cause, providerEventId: number, terms: Terms): void {
  const quote = quoteOf(draft.listed(before.id), terms.rules.impactCapPpm)
  const previous = quoteOf(before, terms.rules.impactCapPpm)
  if (quote.price === previous.price && quote.base === previous.base && quote.imbalance === previous.imbalance) return
  draft.emit({
    kind: 'price_moved',
    instrumentId: before.id,
    quote,
    previous: previous.price,
    cause,
    providerEventId,
    at: terms.at,
  })
}

/**
 * Closes every position whose trigger the price has reached, all at that price. Their removal moves the price and may
 * reach others, so this repeats until nothing fires. Also emits margin warnings. It ends because every round closes or
 * warns.
 */ // T11
export function fireTriggers(draft: Draft, id: InstrumentId, terms: Terms): void {
  for (;;) {
    const before = draft.listed(id)
    const quote = quoteOf(before, terms.rules.impactCapPpm)
    // A corrupt position (open price zero) waits for an operator: no trigger touches its money.
    const firing = draft.firing(id, quote.price).filter((p) => p.openPrice > 0)
    if (firing.length === 0) return
    for (const position of firing) {
      const by = triggerAt(position, quote.price)
      if (by === null) emitWarning(draft, position, quote.price)
      else emitClose(draft, position, quote, by, terms.at)
    }
    emitMove(draft, before, 'trade', 0, terms)
  }
}

function lotsValid(size: Lots, rules: TradingRules): boolean {
  return size >= rules.lotMin && size <= rules.lotMax && size % rules.lotStep === 0
}

function windowRefusal(window: TradeWindow): Refusal {
  return window.status === 'SUSPENDED' ? { code: 'market_suspended', window } : { code: 'market_closed', window }
}
