/** A leveraged position on a player: its margin, PnL, washout price and hold. */
import type { FixtureId, InstrumentId, PositionId, UserId } from '../kernel/ids.ts'
import { CONTRACT_SIZE, LEVERAGE, type MARGIN_WARNINGS, PRICE_MIN } from '../kernel/limits.ts'
import {
  type Lots,
  lots,
  MICROS_PER_UNIT,
  type Money,
  money,
  mulDivCeil,
  mulDivFloor,
  type Price,
  price,
} from '../kernel/micros.ts'
import { isCommon, type Purse } from '../kernel/purse.ts'
import { type Instant, SECOND_MS } from '../kernel/world.ts'

export type Direction = 'long' | 'short'

export type ClosedBy = 'user' | 'stop_loss' | 'take_profit' | 'washout' | 'full_time' | 'void' | 'admin'

/** Why a position is void, where it was not the match that was called off. */
export type VoidReason = 'late_open' | 'operator'

/** The loss, in per cent of the margin, at which the owner is warned. */
export type MarginWarning = (typeof MARGIN_WARNINGS)[number]

/** Stop-loss and take-profit. */
export interface Levels {
  readonly stopLoss: Price | null
  readonly takeProfit: Price | null
}

export interface Close {
  readonly price: Price
  /** The base when it closed. */
  readonly base: Price
  /** Realised, never below −margin. */
  readonly pnl: Money
  readonly at: Instant
  readonly by: ClosedBy
  /** Null unless `void`, and when the match was not played. */
  readonly voidReason: VoidReason | null
  /** What an operator tells the owner. Only the store knows it. */
  readonly voidNote?: string
}

export interface Position extends Levels {
  readonly id: PositionId
  readonly userId: UserId
  /** Whose money it was opened with, and what it pays into. */
  readonly purse: Purse
  readonly instrumentId: InstrumentId
  readonly fixtureId: FixtureId
  readonly direction: Direction
  readonly lots: Lots
  readonly openPrice: Price
  /** The base when it opened. From here on the base moves with the match, not with the crowd. */
  readonly openBase: Price
  /** Debited at open, given back at close. */
  readonly margin: Money
  readonly openedAt: Instant
  /** From this instant its owner may close it. */
  readonly closableAt: Instant
  /** The last margin warning sent to its owner, in per cent lost. */
  readonly warned: MarginWarning | 0
  readonly close: Close | null
}

export const signOf = (direction: Direction): 1 | -1 => (direction === 'long' ? 1 : -1)

/** Signed lots: what an open position adds to the imbalance. Nothing in a league. */ // T45
export const exposureOf = (p: Pick<Position, 'purse' | 'direction' | 'lots'>): Lots =>
  lots(isCommon(p.purse) ? signOf(p.direction) * p.lots : 0)

/** Positions of one instant close at one price, so their order does not matter, but it must never differ. */
export const byAge = (a: Position, b: Position): number =>
  a.openedAt - b.openedAt || (a.id < b.id ? -1 : a.id > b.id ? 1 : 0)

/** price × lots × 5 ÷ 10 (specification 2.5), rounded up, so that the house never bears the fraction. */
export const marginFor = (at: Price, size: Lots): Money =>
  money(mulDivCeil(at, size * CONTRACT_SIZE, MICROS_PER_UNIT * LEVERAGE))

/** sign × (close − open) × lots × 5 (specification 2.5), rounded down, and not limited to the margin. */
export const pnlAt = (p: Pick<Position, 'direction' | 'lots' | 'openPrice'>, at: Price): Money =>
  money(mulDivFloor(signOf(p.direction) * (at - p.openPrice), p.lots * CONTRACT_SIZE, MICROS_PER_UNIT))

/** The PnL realised at this price. A gap never costs more than the margin; the house bears the rest. */
export const realisedPnl = (p: Pick<Position, 'direction' | 'lots' | 'openPrice' | 'margin'>, at: Price): Money =>
  money(Math.max(-p.margin, pnlAt(p, at)))

/**
 * What the match alone made of a position: sign × (base at close − base at open) × lots × 5, floored like its PnL. The
 * crowd moves prices and no base, so no group of accounts can lift it. Rankings by return count it.
 */ // R5
export const baseMoveOf = (p: Pick<Position, 'direction' | 'lots' | 'openBase' | 'margin'>, base: Price): Money =>
  realisedPnl({ ...p, openPrice: p.openBase }, base)

/**
 * The price at which the loss equals the margin: 10 % against the position. Rounded towards the open price, so that the
 * loss there never exceeds the margin. Null for a long so cheap that its washout lies below PRICE_MIN.
 */
export const washoutPrice = (p: Pick<Position, 'direction' | 'openPrice'>): Price | null => priceAtLoss(p, 100)

/** Whether a stop-loss can never fire, because the washout is reached before it. */ // T44
export function isBeyondWashout(p: Pick<Position, 'direction' | 'openPrice' | 'stopLoss'>): boolean {
  const washout = washoutPrice(p)
  if (p.stopLoss === null || washout === null) return false
  return p.direction === 'long' ? p.stopLoss < washout : p.stopLoss > washout
}

/** The price at which this share of the margin is lost, rounded towards the open price. */
export function priceAtLoss(p: Pick<Position, 'direction' | 'openPrice'>, percent: number): Price | null {
  const whole = LEVERAGE * 100
  const long = p.direction === 'long'
  const at = long ? mulDivCeil(p.openPrice, whole - percent, whole) : mulDivFloor(p.openPrice, whole + percent, whole)
  return at < PRICE_MIN ? null : price(at)
}

/** Whether these levels are valid at a price: long `stopLoss < price < takeProfit`, short mirrored. */
export function levelsValid(direction: Direction, levels: Levels, at: Price): boolean {
  const below = direction === 'long' ? levels.stopLoss : levels.takeProfit
  const above = direction === 'long' ? levels.takeProfit : levels.stopLoss
  return (below === null || below < at) && (above === null || above > at)
}

/** Whole seconds until the owner may close, 0 when they already may. */
export const holdSecsLeft = (p: Pick<Position, 'closableAt'>, now: Instant): number =>
  Math.max(0, Math.ceil((p.closableAt - now) / SECOND_MS))
