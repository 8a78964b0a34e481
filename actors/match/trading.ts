/** What users may do (open, change levels, close), and the triggers that a price move fires. */
import { type InstrumentId, positionId } from '../kernel/ids.ts'
import type { TradingRules } from '../kernel/limits.ts'
import { type Lots, lots, money, mulDivCeil, type Price, price } from '../kernel/micros.ts'
import { ownRefusal } from '../kernel/own-limits.ts'
import { isCommon } from '../kernel/purse.ts'
import { done, type Outcome, type Refusal, refused, type TradeWindow } from '../kernel/outcome.ts'
import { instant, type Instant } from '../kernel/world.ts'
import { priceMoved } from '../market/price-guard.ts'
import { type Cause, exitPrice, type Instrument, quoteAfter, quoteOf } from '../market/instrument.ts'
import { closingFill, leaguePrice, openingFill, standingPrice } from '../position/fills.ts'
import {
  type Close,
  exposureOf,
  holdSecsLeft,
  type Levels,
  levelsValid,
  marginFor,
  type Position,
  realisedPnl,
} from '../position/position.ts'
import type { ClosedPosition } from '../position/recent-close.ts'
import { triggerAt, warningAt } from '../position/triggers.ts'
import type { ChangeLevels, ClosePosition, OpenPosition } from './messages.ts'
import { largestLots } from './largest-lots.ts'
import { locksAtClose } from './late-closes.ts'
import type { Draft, MatchView } from './state.ts'
import { type WalletFound, walletName } from './store.ts'
import { type Due, dueOn } from './due.ts'
import { closeWindow, HALTED, isHalted, tradeWindow } from './suspension.ts'

/** The inputs of a decision: values only, so that it can be repeated. */
export interface Terms {
  readonly at: Instant
  readonly rules: TradingRules
  readonly newId: () => string
  /** What wallets held when the store last rejected this batch, by name. Orders of others are left to the commit. */
  readonly wallets?: ReadonlyMap<string, WalletFound>
}

/** The result of a command that the rules allow. The commit still checks the wallet. */
export interface Allowed {
  readonly position: Position
  /** The price of its instrument right after it. */
  readonly price: Price
  /** What closing the position then fills at; its close price once it is closed. */
  readonly exitPrice: Price
}

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
  const { freed, closed } = draft.givenBackTo(order)
  const own = ownRefusal(found.bounds, order.margin, terms.at, freed)
  if (own !== null) return own
  const available = money(Math.max(0, found.available + freed))
  if (order.margin > available) {
    const maxLots = largestLots(instrument, order, available, rules)
    return { code: 'insufficient_margin', required: order.margin, available, maxLots }
  }
  const held = found.openPositions - closed
  return held < rules.openPositionsMax ? null : { code: 'position_limit', max: rules.openPositionsMax }
}

/** The answer for an open position, at current prices. */
function allowed(draft: Draft, position: Position): Allowed {
  const instrument = draft.listed(position.instrumentId)
  // Closed again by what it has set off: then nothing of it is left to leave with.
  const isOpen = draft.position(position.id) !== undefined
  const exit = isOpen ? closingFill(instrument, position) : position.openPrice
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
  // Levels are checked as things stand once it is open: an order is never stopped by its own impact.
  const after = isCommon(order.purse) ? quoteAfter(instrument, exposureOf(order)).price : leaguePrice(instrument)
  const invalid = levelsRefusal(intent, after, openingFill(instrument, order))
  if (invalid !== null) return invalid
  return rules.holdMs > 0 ? distanceRefusal([intent.stopLoss, intent.takeProfit], after, rules) : null
}

/** Levels must be on their sides of the published price, and of the price that leaving would pay, which fires them. */
function levelsRefusal(
  p: Levels & Pick<Position, 'direction'>,
  published: Price,
  exit: Price,
): Extract<Refusal, { code: 'levels_invalid' }> | null {
  const wrong = [published, exit].find((at) => !levelsValid(p.direction, p, at))
  return wrong === undefined ? null : { code: 'levels_invalid', currentPrice: wrong }
}

/** While the hold runs, a level next to the price would be a close by another name. */
function distanceRefusal(
  levels: readonly (Price | null)[],
  at: Price,
  { levelDistancePpm }: TradingRules,
): Extract<Refusal, { code: 'level_too_close' }> | null {
  const distance = price(mulDivCeil(at, levelDistancePpm, 1_000_000))
  const isNear = levels.some((level) => level !== null && Math.abs(level - at) < distance)
  return isNear ? { code: 'level_too_close', currentPrice: at, distance } : null
}

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
  // While closes are refused, a level cannot be moved towards the price either.
  const window = closeWindow(draft.info, instrument, at, rules)
  const mayLoosen = instrument.leavingFrom === null
  if (window.status !== 'OPEN' && !(mayLoosen && isLoosened(before, position))) return refused(windowRefusal(window))
  const published = standingPrice(instrument, position.purse)
  const invalid = levelsRefusal(position, published, closingFill(instrument, position))
  if (invalid !== null) return refused(invalid)
  const set = (['stopLoss', 'takeProfit'] as const).filter((side) => position[side] !== before[side])
  const levels = set.map((side) => position[side])
  const near = holdSecsLeft(before, at) > 0 ? distanceRefusal(levels, published, rules) : null
  if (near !== null) return refused(near)
  draft.emit({ kind: 'levels_changed', position })
  return done(allowed(draft, position))
}

/** Whether every level is as it was, removed, or further from the price. */
function isLoosened(before: Position, after: Position): boolean {
  const sign = before.direction === 'long' ? 1 : -1
  const isFree = (was: Price | null, is: Price | null, away: number): boolean =>
    is === null || is === was || (was !== null && (is - was) * away > 0)
  return isFree(before.stopLoss, after.stopLoss, -sign) && isFree(before.takeProfit, after.takeProfit, sign)
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
  const fill = closingFill(instrument, found.value)
  const how = { price: fill, base: instrument.base, at, by: 'user', voidReason: null } as const
  const position = emitClose(draft, found.value, how, terms)
  afterTrade(draft, instrument, terms)
  return done({ position, price: standingPrice(draft.listed(instrument.id), position.purse), exitPrice: fill })
}

function ownPosition(draft: Draft, command: ChangeLevels | ClosePosition): Outcome<Position> {
  const position = draft.position(command.positionId)
  if (position === undefined || position.userId !== command.userId) {
    return refused({ code: 'not_found', what: 'position' })
  }
  return position.openPrice === 0 ? refused({ code: 'position_corrupt' }) : done(position)
}

/** Closes at a price, for what that pays. */ // T4
export function emitClose(draft: Draft, position: Position, how: Omit<Close, 'pnl'>, terms: Terms): ClosedPosition {
  const closed = { ...position, close: { ...how, pnl: realisedPnl(position, how.price) } }
  draft.emit({ kind: 'position_closed', position: closed, locks: locksAtClose(draft, closed, terms) })
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
