/** Quotes: what an opening would cost and return, computed without changing anything. */
import type { InstrumentId, LeagueId } from '../kernel/ids.ts'
import type { TradingRules } from '../kernel/limits.ts'
import { type Lots, lots, type Money, money, type Price, price } from '../kernel/micros.ts'
import { done, type Outcome, type Refusal, refused } from '../kernel/outcome.ts'
import { leftToLose, type OwnBounds, ownRefusal } from '../kernel/own-limits.ts'
import type { Purse } from '../kernel/purse.ts'
import type { Instant } from '../kernel/world.ts'
import { openingFill, standingPrice } from '../position/fills.ts'
import { type Direction, type Levels, marginFor, realisedPnl, washoutPrice } from '../position/position.ts'
import { largestLots } from './largest-lots.ts'
import type { MatchView } from './state.ts'
import { openRefusal } from './trading.ts'

/** The part of a wallet that decides what can be opened. */
export interface Means {
  /** Its free margin. */
  readonly available: Money
  /** The open positions of the purse, in all matches. */
  readonly openPositions: number
  /** Whether their owner is frozen, and opens nothing. */
  readonly frozen?: boolean | undefined
  /** What their owner allows themselves. */
  readonly bounds?: OwnBounds | undefined
}

export interface QuoteQuery extends Levels {
  readonly instrumentId: InstrumentId
  /** The league whose purse would pay; absent for the purse of the match. */
  readonly league?: LeagueId | undefined
  readonly direction: Direction
  readonly lots: Lots
  /** The price that the caller was shown. Absent: whether it has moved since is not asked. */
  readonly clientPrice?: Price | undefined
  /** The caller's known wallets. The match uses the one that would pay. */
  readonly means: Readonly<Partial<Record<Purse, Means>>>
}

export interface QuoteAnswer {
  readonly fillPrice: Price
  /** The fill of closing it at once. It equals the fill price, so a new position shows no profit and no loss. */
  readonly exitPrice: Price
  /** Fill price − current price: the cost of the order's own effect on the price. */
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

/** Quotes an opening: its cost and its return. A size over the limit is quoted at the limit. Changes nothing. */
export function quote(view: MatchView, query: QuoteQuery, at: Instant, rules: TradingRules): Outcome<QuoteAnswer> {
  const instrument = view.instrument(query.instrumentId)
  if (instrument === undefined) return refused({ code: 'not_found', what: 'instrument' })
  const purse = query.league ?? view.info.purse
  const order = { purse, direction: query.direction, lots: lots(Math.min(query.lots, rules.lotMax)) }
  const current = standingPrice(instrument, purse)
  const fill = openingFill(instrument, order)
  const margin = marginFor(fill, order.lots)
  const opened = { ...order, openPrice: fill, margin }
  const pnlAtLevel = (level: Levels['stopLoss']) =>
    level === null || level > fill * LEVEL_REACH ? null : realisedPnl(opened, level)
  const means = query.means[purse]
  // The owner's own limit for a day may allow less than the wallet pays for.
  const affordable = means === undefined ? null : money(Math.min(means.available, leftToLose(means.bounds)))
  const maxLots = affordable === null ? rules.lotMax : largestLots(instrument, order, affordable, rules)
  const frozenRefusal: Refusal | null = means?.frozen === true ? { code: 'account_frozen' } : null
  const marginRefusal: Refusal | null =
    means !== undefined && margin > means.available
      ? { code: 'insufficient_margin', required: margin, available: means.available, maxLots }
      : null
  const limitRefusal: Refusal | null =
    means !== undefined && means.openPositions >= rules.openPositionsMax
      ? { code: 'position_limit', max: rules.openPositionsMax }
      : null
  return done({
    fillPrice: fill,
    exitPrice: fill,
    impact: price(fill - current),
    currentPrice: current,
    margin,
    washoutPrice: washoutPrice(opened),
    pnlAtStopLoss: pnlAtLevel(query.stopLoss),
    pnlAtTakeProfit: pnlAtLevel(query.takeProfit),
    maxLots,
    refusal:
      openRefusal(view, instrument, { ...query, clientPrice: query.clientPrice ?? null }, at, rules) ??
      frozenRefusal ??
      ownRefusal(means?.bounds, margin, at) ??
      marginRefusal ??
      limitRefusal,
  })
}
