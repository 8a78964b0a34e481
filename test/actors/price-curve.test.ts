import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { CONTRACT_SIZE, PRICE_MIN } from '../../actors/kernel/limits.ts'
import { lots, price, slope } from '../../actors/kernel/micros.ts'
import { curveOf, leavingPrice, openingPrice, type PriceCurve, priceAt } from '../../actors/market/price-curve.ts'
import { u } from '../support/fixtures.ts'

const MILLION = 1_000_000n

/** The crowd's part of the price at an imbalance, in millionths of a micro. */
function pushed(curve: PriceCurve, imbalance: bigint): bigint {
  const straight = BigInt(curve.slope) * imbalance
  const [low, high] = [-BigInt(curve.fall) * MILLION, BigInt(curve.rise) * MILLION]
  return straight < low ? low : straight > high ? high : straight
}

/** Twice the area under the crowd's part between two imbalances, cut where a cap begins: exact, and slow. */
function area(curve: PriceCurve, from: bigint, to: bigint): bigint {
  const k = BigInt(curve.slope)
  const [low, high] = from < to ? [from * k, to * k] : [to * k, from * k]
  const cuts = [-BigInt(curve.fall) * MILLION, BigInt(curve.rise) * MILLION].filter((x) => low < x && x < high)
  const ends = [low, ...cuts, high]
  const clamp = (x: bigint): bigint => pushed({ ...curve, slope: slope(1) }, x)
  return ends.slice(1).reduce((sum, x, n) => sum + (clamp(ends[n] ?? 0n) + clamp(x)) * (x - (ends[n] ?? 0n)), 0n)
}

const CURVES = fc
  .record({
    base: fc.oneof(fc.integer({ min: 5_000, max: 30_000 }), fc.integer({ min: 10_000, max: u(5_000) })),
    k0: fc.oneof(fc.integer({ min: 1, max: 100 }), fc.integer({ min: 1, max: 250_000 })),
    capPpm: fc.constantFrom(0, 100, 500, 5_000, 10_000, 99_999),
  })
  .map(({ base, k0, capPpm }) => curveOf(price(base), slope(k0), capPpm))
const IMBALANCES = fc.oneof(
  fc.integer({ min: -u(50), max: u(50) }),
  fc.integer({ min: -u(5_000), max: u(5_000) }),
  fc.integer({ min: -1e14, max: 1e14 }),
)
const EXPOSURES = fc
  .oneof(fc.integer({ min: -u(100), max: u(100) }), fc.integer({ min: -u(20_000), max: u(20_000) }))
  .filter((exposure) => exposure !== 0)

describe('the price curve', () => {
  it('[I9] the mean over a step is the area under the price divided by its length, rounded against those who leave', () => {
    fc.assert(
      fc.property(CURVES, IMBALANCES, EXPOSURES, (curve, crowd, exposure) => {
        const [from, size] = [BigInt(crowd), BigInt(Math.abs(exposure))]
        const mean = BigInt(leavingPrice(curve, lots(crowd), lots(exposure)) - curve.base)
        // mean × step against the area, both in halves of millionths of a micro times k0.
        const area2 = area(curve, from, from - BigInt(exposure))
        const parts = 2n * size * BigInt(curve.slope) * MILLION
        if (exposure > 0) expect(mean * parts <= area2 && area2 < (mean + 1n) * parts).toBe(true)
        else expect(mean * parts >= area2 && area2 > (mean - 1n) * parts).toBe(true)
      }),
      { numRuns: 3_000 },
    )
  })

  it('[I4] an opening fills at what leaving again at once pays, at every imbalance and size', () => {
    fc.assert(
      fc.property(CURVES, IMBALANCES, EXPOSURES, (curve, crowd, exposure) => {
        const fill = openingPrice(curve, lots(crowd), lots(exposure))
        expect(leavingPrice(curve, lots(crowd + exposure), lots(exposure))).toBe(fill)
      }),
    )
  })

  it('[I9] a fill lies between the price before the step and the price after it', () => {
    fc.assert(
      fc.property(CURVES, IMBALANCES, EXPOSURES, (curve, crowd, exposure) => {
        const fill = leavingPrice(curve, lots(crowd), lots(exposure))
        const ends = [priceAt(curve, lots(crowd)), priceAt(curve, lots(crowd - exposure))]
        expect(fill).toBeGreaterThanOrEqual(Math.min(...ends) - 1)
        expect(fill).toBeLessThanOrEqual(Math.max(...ends) + 1)
        expect(fill).toBeGreaterThanOrEqual(PRICE_MIN)
      }),
    )
  })

  it('[T34] what any group pays and is paid depends on where the imbalance began and ended, up to a micro a position', () => {
    const steps = fc.array(fc.tuple(fc.boolean(), EXPOSURES), { minLength: 1, maxLength: 40 })
    fc.assert(
      fc.property(CURVES, IMBALANCES, steps, (curve, began, ways) => {
        let [imbalance, paid, traded] = [BigInt(began), 0n, 0n]
        for (const [opens, exposure] of ways) {
          const [now, step] = [lots(Number(imbalance)), BigInt(exposure)]
          const at = opens ? openingPrice(curve, now, lots(exposure)) : leavingPrice(curve, now, lots(exposure))
          const moved = opens ? step : -step
          paid += moved * BigInt(at - curve.base)
          traded += step < 0n ? -step : step
          imbalance += moved
        }
        const parts = 2n * BigInt(curve.slope) * MILLION
        const [low, high] = began < imbalance ? [BigInt(began), imbalance] : [imbalance, BigInt(began)]
        const owed = area(curve, low, high) * (imbalance < began ? -1n : 1n)
        const off = paid * parts - owed
        expect((off < 0n ? -off : off) <= traded * parts).toBe(true)
      }),
      { numRuns: 500 },
    )
  })

  it('[T34] the whole book is paid what its entries paid, whoever holds it', () => {
    const entries = fc.array(EXPOSURES, { minLength: 1, maxLength: 40 })
    fc.assert(
      fc.property(CURVES, entries, (curve, exposures) => {
        let [imbalance, paid, size] = [0, 0n, 0n]
        for (const exposure of exposures) {
          paid += BigInt(exposure) * BigInt(openingPrice(curve, lots(imbalance), lots(exposure)))
          size += BigInt(Math.abs(exposure))
          imbalance += exposure
        }
        const out = BigInt(imbalance) * BigInt(leavingPrice(curve, lots(imbalance), lots(imbalance)))
        const gained = (out - paid) * BigInt(CONTRACT_SIZE)
        // In millionths of a micro of money: a micro of price on every lot that was ever opened.
        const most = (size + BigInt(Math.abs(imbalance))) * BigInt(CONTRACT_SIZE)
        expect(gained <= most && gained >= -most).toBe(true)
      }),
    )
  })

  it('[I3] the crowd pushes no price below 0.01, and a step along the floor costs the floor', () => {
    const curve = curveOf(PRICE_MIN, slope(u(0.01)), 10_000)
    expect(priceAt(curve, lots(-u(1_000)))).toBe(PRICE_MIN)
    expect(openingPrice(curve, lots(-u(10)), lots(-u(10)))).toBe(PRICE_MIN)
  })
})
