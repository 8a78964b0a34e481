/**
 * The price as a function of the crowd, and what a step along it costs.
 *
 * Write I for the imbalance, k for `k0` and C for the cap of the crowd's part. The price at I is B + f(I), where
 *
 *   f(I) = k·I   while |k·I| ≤ C
 *   f(I) = ±C    beyond
 *
 * A trade that moves the imbalance from I to J fills at the mean of the price over that step,
 *
 *   B + (F(J) − F(I)) ÷ (J − I),   where F(I) = ∫₀ᴵ f = k·I² ÷ 2          while |k·I| ≤ C
 *                                                    = C·|I| − C² ÷ 2k   beyond
 *
 * so a step costs the difference of F between its ends, and B for each lot. Costs of steps add up: while B stands
 * still, what any group of trades pays and is paid in all depends on where the imbalance began and where it ended, and
 * on nothing else. No order of opens, closes and fired levels makes money out of the slope, whatever shape f has.
 *
 * Everything is an integer. With n = k·|I| and c = 10⁶·C, both in millionths of a micro, 2·10⁶·k·F is the whole number
 *
 *   n²           while n ≤ c
 *   c·(2n − c)   beyond
 *
 * and only the last division rounds. It rounds against the position that leaves: longs are paid a price rounded down,
 * shorts one rounded up. An opening fills at what leaving again at once would pay, to the micro, so a fresh position
 * shows nothing and a round trip alone is exactly zero-sum. What rounding can leave to a position is less than one
 * micro of price.
 */
import { PRICE_MIN } from '../kernel/limits.ts'
import {
  type Lots,
  lots,
  MICROS_PER_UNIT,
  mulDivCeil,
  mulDivFloor,
  mulDivNearest,
  type Price,
  price,
  type Slope,
  PPM,
} from '../kernel/micros.ts'

const PICOS_PER_MICRO = 1_000_000

export interface PriceCurve {
  /** The price without a crowd, never below the lowest price there is. */
  readonly base: Price
  /** `k0`: what one lot moves the price while the cap is not reached. */
  readonly slope: Slope
  /** The most that a crowd of longs adds to the base, in micros. */
  readonly rise: number
  /** The most that a crowd of shorts takes from it: as much, but not below the lowest price there is. */
  readonly fall: number
}

export function curveOf(base: Price, slope: Slope, capPpm: number): PriceCurve {
  const foot = price(Math.max(PRICE_MIN, base))
  const cap = mulDivFloor(foot, capPpm, PPM)
  return { base: foot, slope, rise: cap, fall: Math.min(cap, foot - PRICE_MIN) }
}

/** The crowd's part of the price, f(I), to the nearest micro. */
export function crowdAt(curve: PriceCurve, imbalance: Lots): number {
  if (isCapped(curve, imbalance)) return capAt(curve, imbalance)
  return mulDivNearest(imbalance, curve.slope, MICROS_PER_UNIT)
}

/** The price at an imbalance. */
export const priceAt = (curve: PriceCurve, imbalance: Lots): Price => price(curve.base + crowdAt(curve, imbalance))

/**
 * The price at which positions with this total exposure leave together, out of an imbalance that still contains them:
 * the mean over the step from I to I − exposure. Longs and shorts that cancel out make no step and leave at the current
 * price.
 */
export function leavingPrice(curve: PriceCurve, imbalance: Lots, exposure: Lots): Price {
  if (exposure === 0) return priceAt(curve, imbalance)
  const after = imbalance - exposure
  const [capped, cappedAfter] = [isCapped(curve, imbalance), isCapped(curve, after)]
  if (!capped && !cappedAfter) {
    // The mean of a straight line is its middle.
    const mulDiv = exposure > 0 ? mulDivFloor : mulDivCeil
    return price(curve.base + mulDiv(imbalance + after, curve.slope, 2 * MICROS_PER_UNIT))
  }
  if (capped && cappedAfter && imbalance > 0 === after > 0) return price(curve.base + capAt(curve, imbalance))
  const cost = costTo(curve, imbalance) - costTo(curve, after)
  const lotsTimes = 2n * BigInt(PICOS_PER_MICRO) * BigInt(curve.slope) * BigInt(exposure)
  return price(curve.base + (exposure > 0 ? floorDiv(cost, lotsTimes) : -floorDiv(-cost, lotsTimes)))
}

/** The fill of an opening: what closing it at once would pay. */
export const openingPrice = (curve: PriceCurve, imbalance: Lots, exposure: Lots): Price =>
  leavingPrice(curve, lots(imbalance + exposure), exposure)

/** 2·10⁶·k × F(I): the one place where the curve is integrated. */
function costTo(curve: PriceCurve, imbalance: number): bigint {
  const n = BigInt(curve.slope) * BigInt(Math.abs(imbalance))
  const c = BigInt(boundAt(curve, imbalance)) * BigInt(PICOS_PER_MICRO)
  const twice = n + n
  return n <= c ? n * n : c * (twice - c)
}

/** How much of the crowd's part the cap allows on this side of zero. */
const boundAt = (curve: PriceCurve, imbalance: number): number => (imbalance < 0 ? curve.fall : curve.rise)

const capAt = (curve: PriceCurve, imbalance: number): number => (imbalance < 0 ? 0 - curve.fall : curve.rise)

function isCapped(curve: PriceCurve, imbalance: number): boolean {
  const [size, bound] = [Math.abs(imbalance), boundAt(curve, imbalance)]
  const [n, c] = [curve.slope * size, bound * PICOS_PER_MICRO]
  // One of the two exact is enough: the other is then exact as well, or far greater.
  if (Number.isSafeInteger(n) || Number.isSafeInteger(c)) return n > c
  return BigInt(curve.slope) * BigInt(size) > BigInt(bound) * BigInt(PICOS_PER_MICRO)
}

/** a ÷ b, rounded towards −∞. */
function floorDiv(a: bigint, b: bigint): number {
  const [dividend, divisor] = b < 0n ? [-a, -b] : [a, b]
  const quotient = dividend / divisor
  return Number(dividend % divisor < 0n ? quotient - 1n : quotient)
}
