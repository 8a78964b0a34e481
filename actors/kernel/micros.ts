/**
 * The one decimal scale: money, prices, lots and slopes are integer counts of millionths in branded numbers. Every
 * product states how it rounds, and no value ever has a fraction.
 */
import { InvariantBroken } from './assert.ts'

declare const brand: unique symbol

/** An amount of game units, in millionths. */
export type Money = number & { readonly [brand]: 'money' }
/** Units per share of a player, in millionths. */
export type Price = number & { readonly [brand]: 'price' }
/** The size of a position, in millionths of a lot. Signed where it is an exposure or an imbalance. */
export type Lots = number & { readonly [brand]: 'lots' }
/** Price per lot of imbalance (`k_mod`), in millionths. */
export type Slope = number & { readonly [brand]: 'slope' }

type Micros = Money | Price | Lots | Slope

export const MICROS_PER_UNIT = 1_000_000
/** Ratios are counted in parts per million. */
export const PPM = 1_000_000

/** The largest magnitude of a quantity: a billion units. Sums of a few stay exact in a double. */
export const MICROS_MAX = 1e15

// Everything below runs a hundred times per trade, so messages are built only on failure.

function checked(value: number): number {
  if (!Number.isSafeInteger(value) || Math.abs(value) > MICROS_MAX) {
    throw new InvariantBroken(`not a quantity in micros: ${value}`)
  }
  return value === 0 ? 0 : value // -0 would break equality and hashing
}

export const money = (micros: number): Money => checked(micros) as Money
export const price = (micros: number): Price => checked(micros) as Price
export const lots = (micros: number): Lots => checked(micros) as Lots
export const slope = (micros: number): Slope => checked(micros) as Slope

/**
 * A decimal from the wire as micros, or null when it is not a finite number with at most six decimals in range.
 * 0.1 + 0.2 is refused, not rounded: a caller can write down the number it means.
 */
export function microsFromDecimal(value: number): number | null {
  if (!Number.isFinite(value) || Math.abs(value) * MICROS_PER_UNIT > MICROS_MAX) return null
  const micros = Math.round(value * MICROS_PER_UNIT)
  return micros / MICROS_PER_UNIT === value ? checked(micros) : null
}

/** The nearest micros of a computed ratio, such as a model's output, a percentage or a price to compare. */
export function microsNearest(value: number): number {
  return checked(Math.round(value * MICROS_PER_UNIT))
}

/** The JSON form. Exact to six decimals for every |micros| ≤ MICROS_MAX (checked over random values in the tests). */
export function decimal(micros: Micros | number): number {
  return micros / MICROS_PER_UNIT
}

/** The text form, for the fast store and the database: never exponential, no trailing zeros. */
export function decimalText(micros: Micros): string {
  const digits = Math.abs(micros).toString().padStart(7, '0')
  const fraction = digits.slice(-6).replace(/0+$/, '')
  return `${micros < 0 ? '-' : ''}${digits.slice(0, -6)}${fraction === '' ? '' : `.${fraction}`}`
}

type Rounding = (quotient: number, remainder: number, divisor: number) => number

// The quotient is truncated towards zero, so only the side that truncation gets wrong needs a correction.
const floor: Rounding = (q, r) => (r < 0 ? q - 1 : q)
const ceil: Rounding = (q, r) => (r > 0 ? q + 1 : q)
const nearest: Rounding = (q, r, d) => {
  const near = Math.abs(r) < d - Math.abs(r)
  return near ? q : r < 0 ? q - 1 : q + 1 // halves away from zero: long and short round alike
}

function mulDiv(a: number, b: number, divisor: number, round: Rounding): number {
  if (!Number.isSafeInteger(a) || !Number.isSafeInteger(b)) throw new InvariantBroken(`not integers: ${a}, ${b}`)
  if (!Number.isSafeInteger(divisor) || divisor <= 0) throw new InvariantBroken(`not a positive divisor: ${divisor}`)
  const product = a * b
  let remainder = product % divisor
  let quotient = (product - remainder) / divisor
  // Only a product beyond 2⁵³ needs a BigInt, which takes ten times as long.
  if (!Number.isSafeInteger(product)) {
    const exact = BigInt(a) * BigInt(b)
    quotient = Number(exact / BigInt(divisor))
    remainder = Number(exact % BigInt(divisor))
  }
  const rounded = round(quotient, remainder, divisor)
  if (!Number.isSafeInteger(rounded)) throw new InvariantBroken(`${a} × ${b} ÷ ${divisor} is out of range`)
  return rounded
}

/** a × b ÷ divisor, rounded towards −∞. */
export const mulDivFloor = (a: number, b: number, divisor: number): number => mulDiv(a, b, divisor, floor)
/** a × b ÷ divisor, rounded towards +∞. */
export const mulDivCeil = (a: number, b: number, divisor: number): number => mulDiv(a, b, divisor, ceil)
/** a × b ÷ divisor, rounded to nearest, halves away from zero. */
export const mulDivNearest = (a: number, b: number, divisor: number): number => mulDiv(a, b, divisor, nearest)
