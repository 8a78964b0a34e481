/** What users may do (open, change levels, close), and the triggers that a price move fires. */
import { type InstrumentId, positionId } from '../kernel/ids.ts'
import type { TradingRules } from '../kernel/limits.ts'
import { type Lots, lots, money, PPM, type Price } from '../kernel/micros.ts'
import { ownRefusal } from '../kernel/own-limits.ts'
import { isCommon } from '../kernel/purse.ts'
import { done, type Outcome, type Refusal, refused, type TradeWindow } from '../kernel/outcome.ts'
import { instant, type Instant } from '../kernel/world.ts'
import { type Cause, exitPrice, type Instrument, quoteAfter, quoteOf } from '../market/instrument.ts'
import { closingFill, leaguePrice, openingFill, standingPrice } from '../position/fills.ts'
import {
  type Close,
  type ClosedPosition,
  exposureOf,
  holdSecsLeft,
  lessPart,
  type Levels,
  levelsValid,
  marginFor,
  pnlAt,
  type Position,
  realisedPnl,
  split,
  withinMargin,
} from '../position/position.ts'
import { triggerAt, warningAt } from '../position/triggers.ts'
import type { ChangeLevels, ClosePart, ClosePosition, OpenPosition } from './messages.ts'
import { largestLots } from './largest-lots.ts'
import { untilOf } from './protection/protect.ts'
import type { Draft, MatchView } from './state.ts'
import type { Allowed, Terms } from './terms.ts'
import { walletName } from './store.ts'
import { type Due, dueOn } from './due.ts'
import { closeWindow, HALTED, isHalted, tradeWindow } from './suspension.ts'

/** The order of these checks is the order of precedence of the refusals. */ // T1
export function open(draft: Draft, command: OpenPosition, terms: Terms): Outcome<Allowed> {
  const { at, rules } = terms
  const instrument = draft.instrument(command.instrumentId)
  if (instrument === undefined) return refused({ code: 'not_found', what: 'instrument' })
  const refusal = openRefusal(draft, instrument, command, at, rules)
  if (refusal !== null) return refused(refusal)

  const purse = command.league ?? draft.info.purse
  const openPrice = openingFill(instrument, { ...command, purse })
  const position: Position = {
    id: positionId(command.idempotency?.id ?? terms.newId()),
    userId: command.userId,
    purse,
    instrumentId: instrument.id,
    fixtureId: draft.info.matchId,
    direction: command.direction,
    lots: command.lots,
    openPrice,
    openBase: instrument.base,
    margin: marginFor(openPrice, command.lots),
    stopLoss: command.stopLoss,
    takeProfit: command.takeProfit,
    openedAt: at,
    closableAt: instant(at + rules.holdMs),
    warned: 0,
    close: null,
  }
  const poor = walletRefusal(draft, instrument, position, terms)
  if (poor !== null) return refused(poor)
  draft.emit({ kind: 'position_opened', position })
  afterTrade(draft, instrument, terms)
  return done(allowed(draft, position))
}

/**
 * Why a wallet may not or cannot pay this opening, or null. Only wallets that a rejection has shown are checked here,
 * with what the batch has given back to them so far.
 */ // A13
function walletRefusal(draft: Draft, instrument: Instrument, order: Position, terms: Terms): Refusal | null {
  const { rules, wallets } = terms
  const found = wallets?.get(walletName(order))
  if (found === undefined) return null
  if (found.frozen === true) return { code: 'account_frozen' }
  const { freed, closed: left } = draft.givenBackTo(order)
  const own = ownRefusal(found.bounds, order.margin, terms.at, freed)
  if (own !== null) return own
  const available = money(Math.max(0, found.available + freed))
  if (order.margin > available) {
    const maxLots = largestLots(instrument, order, available, rules)
    return { code: 'insufficient_margin', required: order.margin, available, maxLots }
  }
  const held = found.openPositions - left
  return held < rules.openPositionsMax ? null : { code: 'position_limit', max: rules.openPositionsMax }
}

/** The answer for an open position, at current prices. */
function allowed(draft: Draft, position: Position): Allowed {
  const instrument = draft.listed(position.instrumentId)
  // If its own price move closed it again, nothing is left to close.
  const isOpen = draft.position(position.id) !== undefined
  const exit = isOpen ? closingFill(instrument, position) : (position.close?.price ?? position.openPrice)
  return { position, price: standingPrice(instrument, position.purse), exitPrice: exit }
}

/** An opening that a user considers. Without a client price the price guard does not apply. */
type OpeningIntent = Levels &
  Pick<OpenPosition, 'league' | 'direction' | 'lots'> & { readonly clientPrice: Price | null }

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
  const order = { ...intent, purse: intent.league ?? view.info.purse }
  const published = isCommon(order.purse) ? instrument.published : leaguePrice(instrument)
  if (intent.clientPrice !== null && priceMoved(intent.clientPrice, published, rules.priceGuardPpm)) {
    const currentPrice = standingPrice(instrument, order.purse)
    return { code: 'price_moved', currentPrice, lastPublishedPrice: published }
  }
  // Levels are judged by the price that the order leaves behind.
  const after = isCommon(order.purse) ? quoteAfter(instrument, exposureOf(order)).price : leaguePrice(instrument)
  return levelsRefusal(intent, after)
}

/** Levels must be on their sides of the published price (specification 3.3), and that is the only rule. */
const levelsRefusal = (p: Levels & Pick<Position, 'direction'>, currentPrice: Price): Refusal | null =>
  levelsValid(p.direction, p, currentPrice) ? null : { code: 'levels_invalid', currentPrice }

export function changeLevels(draft: Draft, command: ChangeLevels, terms: Terms): Outcome<Allowed> {
  const { at, rules } = terms
  const found = ownPosition(draft, command)
  if (!found.ok) return found
  const before = found.value
  const position: Position = {
    ...before,
    stopLoss: command.stopLoss === undefined ? before.stopLoss : command.stopLoss,
    takeProfit: command.takeProfit === undefined ? before.takeProfit : command.takeProfit,
  }
  const instrument = draft.listed(position.instrumentId)
  if (isHalted(draft.info, instrument, rules)) return refused(windowRefusal(HALTED)) // H11
  // While closes are refused, a level that fires at once would be one.
  const window = closeWindow(draft.info, instrument, at, rules)
  const fires = instrument.leavingFrom !== null || triggerAt(position, closingFill(instrument, position)) !== null
  if (window.status !== 'OPEN' && fires) return refused(windowRefusal(window))
  // A level that is kept has not fired, though the shown price may have passed it: it fires by what leaving would pay.
  const { stopLoss = null, takeProfit = null } = command
  const asked = { direction: position.direction, stopLoss, takeProfit }
  const invalid = levelsRefusal(asked, standingPrice(instrument, position.purse))
  if (invalid !== null) return refused(invalid)
  draft.emit({ kind: 'levels_changed', position })
  fireTriggers(draft, instrument.id, terms)
  return done(allowed(draft, draft.closed(position.id) ?? position))
}

export function close(draft: Draft, command: ClosePosition | ClosePart, terms: Terms): Outcome<Allowed> {
  const { at, rules } = terms
  const found = ownPosition(draft, command)
  if (!found.ok) return found
  const instrument = draft.listed(found.value.instrumentId)
  const window = closeWindow(draft.info, instrument, at, rules)
  if (window.status !== 'OPEN') return refused(windowRefusal(window))
  const whole = found.value
  const size = command.kind === 'close_part' ? command.lots : whole.lots
  if (!partValid(size, whole, rules)) {
    return refused({ code: 'lot_size_invalid', min: rules.lotStep, max: whole.lots, step: rules.lotStep })
  }
  const secsLeft = holdSecsLeft(whole, at)
  if (secsLeft > 0) {
    return refused({ code: 'cooldown_active', retryAfterSecs: secsLeft, closableAt: whole.closableAt })
  }
  const fill = closingFill(instrument, { ...whole, lots: size })
  const how = { price: fill, base: instrument.base, at, by: 'user', voidReason: null } as const
  const position = size === whole.lots ? emitClose(draft, whole, how, terms) : closePart(draft, whole, size, how, terms)
  afterTrade(draft, instrument, terms)
  const after = draft.listed(instrument.id)
  // A trigger that this set off may also have closed it.
  const rest = draft.position(whole.id)
  const left = rest === undefined ? {} : { rest: { position: rest, exitPrice: closingFill(after, rest) } }
  return done({ position, price: standingPrice(after, position.purse), exitPrice: position.close.price, ...left })
}

/** A part is some lot steps, and leaves at least one. */ // T38
const partValid = (size: Lots, { lots: whole }: Position, { lotStep }: TradingRules): boolean =>
  size === whole || (size > 0 && size % lotStep === 0 && whole - size >= lotStep)

/** Splits a part off and closes it. */
function closePart(draft: Draft, whole: Position, size: Lots, how: Omit<Close, 'pnl'>, terms: Terms): ClosedPosition {
  const { part, rest } = split(whole, positionId(terms.newId()), size)
  draft.emit({ kind: 'position_split', position: lessPart(rest, closed(part, how)), part })
  return emitClose(draft, part, how, terms)
}

function ownPosition(draft: Draft, command: ChangeLevels | ClosePosition | ClosePart): Outcome<Position> {
  const position = draft.position(command.positionId)
  if (position === undefined || position.userId !== command.userId) {
    return refused({ code: 'not_found', what: 'position' })
  }
  return position.openPrice === 0 ? refused({ code: 'position_corrupt' }) : done(position)
}

/** Closes at a price, for what that pays. No close fills beyond the washout price: the house bears the gap. */ // T4
export function emitClose(draft: Draft, position: Position, how: Omit<Close, 'pnl'>, terms: Terms): ClosedPosition {
  const after = closed(position, how)
  const until = untilOf(draft, after, terms)
  const beyond = -position.margin - pnlAt(position, how.price)
  draft.emit({
    kind: 'position_closed',
    position: after,
    ...(until === null ? {} : { movableUntil: until }),
    ...(beyond > 0 ? { beyondMargin: money(beyond) } : {}),
  })
  return after
}

function closed(position: Position, how: Omit<Close, 'pnl'>): ClosedPosition {
  const price = withinMargin(position, how.price)
  return { ...position, close: { ...how, price, pnl: realisedPnl(position, price) } }
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
export function emitMove(draft: Draft, before: Instrument, cause: Cause, providerEventId: number, terms: Terms): void {
  const quote = quoteOf(draft.listed(before.id))
  const previous = quoteOf(before)
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
 * Closes every position whose trigger its exit price has reached. Those of one round share one step, and one price: the
 * mean over all that they remove together, so that no group leaves for more than it moved. Their removal moves the
 * price and may reach others, so this repeats until nothing fires. Also emits margin warnings. It ends because every
 * round closes or warns. A round that is more than the batch has room for only begins: actors/match/shared-step.ts
 * closes it.
 */ // T11
export function fireTriggers(draft: Draft, id: InstrumentId, terms: Terms): void {
  for (;;) {
    const before = draft.listed(id)
    const due = dueOn(draft, before, draft.room)
    if (due.length === 0) return
    if (due.length > draft.room) {
      return draft.emit({ kind: 'leaving_changed', instrumentId: id, leavingFrom: before.imbalance })
    }
    leaveTogether(draft, { due, price: exitPrice(before, exposureOfLeaving(due)) }, id, terms)
  }
}

/** The total exposure of the positions that are closed, not only warned. */
export const exposureOfLeaving = (due: readonly Due[]): Lots =>
  lots(due.reduce((sum, one) => sum + (triggerAt(one.position, one.exit) === null ? 0 : exposureOf(one.position)), 0))

/** Warns or closes each of these, at the price of the step to which they belong. */
export function leaveTogether(
  draft: Draft,
  { due, price: fill }: { readonly due: readonly Due[]; readonly price: Price },
  id: InstrumentId,
  terms: Terms,
): void {
  const before = draft.listed(id)
  draft.room -= due.length
  const how = { base: before.base, at: terms.at, voidReason: null }
  for (const { position, exit } of due) {
    const by = triggerAt(position, exit)
    if (by === null) emitWarning(draft, position, exit)
    else emitClose(draft, position, { ...how, price: isCommon(position.purse) ? fill : leaguePrice(before), by }, terms)
  }
  emitMove(draft, before, 'trade', 0, terms)
}

function lotsValid(size: Lots, rules: TradingRules): boolean {
  return size >= rules.lotMin && size <= rules.lotMax && size % rules.lotStep === 0
}

function windowRefusal(window: TradeWindow): Refusal {
  return window.status === 'SUSPENDED' ? { code: 'market_suspended', window } : { code: 'market_closed', window }
}

/** Whether a client saw a price further from the last published one than the guard allows. Exactly at it passes. */
function priceMoved(clientPrice: Price, published: Price, guardPpm: number): boolean {
  return BigInt(Math.abs(clientPrice - published)) * BigInt(PPM) > BigInt(published) * BigInt(guardPpm)
}
