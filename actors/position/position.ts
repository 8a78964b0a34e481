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
import { type Instant, isPending, SECOND_MS } from '../kernel/world.ts'

export const DIRECTIONS = ['long', 'short'] as const
export type Direction = (typeof DIRECTIONS)[number]

export const CLOSED_BY = ['user', 'stop_loss', 'take_profit', 'washout', 'full_time', 'void', 'admin'] as const
export type ClosedBy = (typeof CLOSED_BY)[number]

/** Why a position is void, where it was not the match that was called off. */
export type VoidReason = 'operator'

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
  /** Null unless an operator voided the position alone. */
  readonly voidReason: VoidReason | null
  /** What an operator tells the owner. Only the store knows it. */
  readonly voidNote?: string
}

/** What the parts of a position came to that are closed already. */
export interface Parted {
  readonly lots: Lots
  readonly margin: Money
  readonly pnl: Money
  /** Σ of what the match alone made of them. */
  readonly baseMove: Money
}

/** One move of one fill of a position. */
export interface FillMove {
  readonly fill: 'open' | 'close'
  readonly at: Instant
  /** In micros of price. */
  readonly by: number
  /** `event` where a row of the list of events is behind it, else the statistics alone. */
  readonly reason: 'event' | 'statistics'
  /** The price before it, not limited to the margin. */
  readonly from: Price
}

export interface Position extends Levels {
  readonly id: PositionId
  /** The position that it is a closed part of; absent for one that was opened. */
  readonly partOf?: PositionId
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
  /** Its parts that are closed; absent without any. Lists of positions leave it out. */
  readonly parted?: Parted
  readonly close: Close | null
  /** How news has moved its fills (actors/position/moved.ts); absent for most. */
  readonly moved?: readonly FillMove[] | undefined
}

export type ClosedPosition = Position & { readonly close: Close }

export const signOf = (direction: Direction): 1 | -1 => (direction === 'long' ? 1 : -1)

/** Signed lots: what an open position adds to the imbalance. Nothing in a league. */ // T37
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

type Opened = 'direction' | 'openPrice' | 'moved'

/**
 * Splits a part off an open position. The rest keeps everything but the part's lots and its share of the margin, which
 * is rounded down, so that the two add up to the micro.
 */ // T38
export function split(
  position: Position,
  id: PositionId,
  size: Lots,
): { readonly part: Position; readonly rest: Position } {
  const margin = money(mulDivFloor(position.margin, size, position.lots))
  const { parted: _, ...shared } = position
  const rest = { ...position, lots: lots(position.lots - size), margin: money(position.margin - margin) }
  return { part: { ...shared, id, partOf: position.id, lots: size, margin }, rest }
}

/** The rest of a position, one of whose parts has closed. */
export const lessPart = (rest: Position, part: ClosedPosition): Position => ({
  ...rest,
  parted: countedIn(rest.parted ?? NO_PARTS, part, 1),
})

/** The rest of a position, one of whose closed parts has moved. */
export const lessMove = (rest: Position, before: ClosedPosition, part: ClosedPosition): Position => ({
  ...rest,
  parted: countedIn(countedIn(rest.parted ?? NO_PARTS, before, -1), part, 1),
})

const countedIn = ({ lots: size, margin, pnl, baseMove }: Parted, part: ClosedPosition, times: 1 | -1): Parted => ({
  lots: lots(size + times * part.lots),
  margin: money(margin + times * part.margin),
  pnl: money(pnl + times * part.close.pnl),
  baseMove: money(baseMove + times * baseMoveOf(part, part.close.base)),
})

const NO_PARTS: Parted = { lots: lots(0), margin: money(0), pnl: money(0), baseMove: money(0) }

/**
 * The price at which the loss equals the margin: 10 % against the position. Rounded towards the open price, so that the
 * loss there never exceeds the margin. Null for a long so cheap that its washout lies below PRICE_MIN.
 */
export const washoutPrice = (p: Pick<Position, Opened>): Price | null => priceAtLoss(p, 100)

/** Whether a stop-loss can never fire, because the washout is reached before it. */ // T36
export function isBeyondWashout(p: Pick<Position, Opened | 'stopLoss'>): boolean {
  const washout = washoutPrice(p)
  if (p.stopLoss === null || washout === null) return false
  return p.direction === 'long' ? p.stopLoss < washout : p.stopLoss > washout
}

/** The nearest price to this one at which a close costs no more than the margin. */
export function withinMargin(p: Pick<Position, Opened>, at: Price): Price {
  const washout = washoutPrice(p)
  if (washout === null) return at
  return price(p.direction === 'long' ? Math.max(washout, at) : Math.min(washout, at))
}

/** The price at which this share of the margin is lost, rounded towards the open price. */
export function priceAtLoss(p: Pick<Position, Opened>, percent: number): Price | null {
  // The margin is that of the price which was pressed, whatever has moved the fill since.
  const pressed = p.moved?.find(({ fill }) => fill === 'open')?.from ?? p.openPrice
  const at = p.openPrice - signOf(p.direction) * mulDivFloor(pressed, percent, LEVERAGE * 100)
  return at < PRICE_MIN ? null : price(at)
}

/** Whether these levels are valid at a price: long `stopLoss < price < takeProfit`, short mirrored. */
export function levelsValid(direction: Direction, levels: Levels, at: Price): boolean {
  const below = direction === 'long' ? levels.stopLoss : levels.takeProfit
  const above = direction === 'long' ? levels.takeProfit : levels.stopLoss
  return (below === null || below < at) && (above === null || above > at)
}

/** Whole seconds until the owner may close, 0 when they already may. */
export const holdSecsLeft = (p: Pick<Position, 'openedAt' | 'closableAt'>, now: Instant): number =>
  isPending(p.closableAt, now, p.closableAt - p.openedAt) ? Math.ceil((p.closableAt - now) / SECOND_MS) : 0
