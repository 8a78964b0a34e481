/** Quotes: what an opening would cost and return, computed without changing anything. */
import type { InstrumentId } from '../kernel/ids.ts'
import type { TradingRules } from '../kernel/limits.ts'
import { lots, type Lots, type Money, type Price, price } from '../kernel/micros.ts'
import { done, type Outcome, type Refusal, refused } from '../kernel/outcome.ts'
import type { Instant } from '../kernel/world.ts'
import { fillPrice, type Instrument, quoteOf, settlesAt } from '../market/instrument.ts'
import { type Direction, exposureOf, type Levels, marginFor, realisedPnl, washoutPrice } from '../position/position.ts'
import type { MatchView } from './state.ts'
import { openRefusal } from './trading.ts'

export interface QuoteQuery extends Levels {
  readonly instrumentId: InstrumentId
  readonly direction: Direction
  readonly lots: Lots
  /** The caller's free margin, or null when unknown. */
  readonly available: Money | null
  /** The caller's open positions in all matches, or null when unknown. */
  readonly openPositions: number | null
}

export interface QuoteAnswer {
  readonly fillPrice: Price
  /** What closing it again at once would fill at: the same, so a fresh position shows no profit and no loss. */
  readonly exitPrice: Price
  /** What full time would pay now, this order included. */
  readonly settlesAt: Price
  /** Fill price − current price: what the order's own effect on the price costs it. */
  readonly impact: Price
  readonly currentPrice: Price
  readonly margin: Money
  readonly washoutPrice: Price | null
  readonly pnlAtStopLoss: Money | null
  readonly pnlAtTakeProfit: Money | null
  /** The largest size the caller could open, 0 when they can afford none. */
  readonly maxLots: Lots
  /** Why this opening would be refused now, or null. */
  readonly refusal: Refusal | null
}

/** No PnL is given for a level above this multiple of the fill price: it could exceed the range of a quantity. */
const LEVEL_REACH = 1_000

/** What opening now would cost and return. A size over the limit is quoted at the limit. Changes nothing. */
export function quote(view: MatchView, query: QuoteQuery, at: Instant, rules: TradingRules): Outcome<QuoteAnswer> {
  const instrument = view.instrument(query.instrumentId)
  if (instrument === undefined) return refused({ code: 'not_found', what: 'instrument' })
  const current = quoteOf(instrument)
  const order = { direction: query.direction, lots: lots(Math.min(query.lots, rules.lotMax)) }
  const fill = fillPrice(instrument, exposureOf(order))
  const margin = marginFor(fill, order.lots)
  const opened = { ...order, openPrice: fill, margin }
  const pnlAtLevel = (level: Levels['stopLoss']) =>
    level === null || level > fill * LEVEL_REACH ? null : realisedPnl(opened, level)
  const maxLots =
    query.available === null ? rules.lotMax : largestLots(instrument, query.direction, query.available, rules)
  const marginRefusal: Refusal | null =
    query.available !== null && margin > query.available
      ? { code: 'insufficient_margin', required: margin, available: query.available, maxLots }
      : null
  const limitRefusal: Refusal | null =
    query.openPositions !== null && query.openPositions >= rules.openPositionsMax
      ? { code: 'position_limit', max: rules.openPositionsMax }
      : null
  return done({
    fillPrice: fill,
    exitPrice: fill,
    settlesAt: settlesAt(instrument, exposureOf(order)),
    impact: price(fill - current.price),
    currentPrice: current.price,
    margin,
    washoutPrice: washoutPrice(opened),
    pnlAtStopLoss: pnlAtLevel(query.stopLoss),
    pnlAtTakeProfit: pnlAtLevel(query.takeProfit),
    maxLots,
    refusal: openRefusal(view, instrument, { ...query, clientPrice: null }, at, rules) ?? marginRefusal ?? limitRefusal,
  })
}

/** The largest valid size whose margin fits, its own impact included; 0 when even the smallest does not fit. */
export function largestLots(instrument: Instrument, direction: Direction, available: Money, rules: TradingRules): Lots {
  let low = 0
  let high = Math.floor((rules.lotMax - rules.lotMin) / rules.lotStep) + 1
  const sizeAt = (n: number): Lots => lots(rules.lotMin + (n - 1) * rules.lotStep)
  const affordable = (n: number): boolean => {
    const fill = fillPrice(instrument, exposureOf({ direction, lots: sizeAt(n) }))
    return marginFor(fill, sizeAt(n)) <= available
  }
  while (low < high) {
    const middle = Math.ceil((low + high) / 2)
    if (affordable(middle)) low = middle
    else high = middle - 1
  }
  return low === 0 ? lots(0) : sizeAt(low)
}
