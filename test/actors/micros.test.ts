import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  decimal,
  decimalText,
  lots,
  microsFromDecimal,
  MICROS_MAX,
  money,
  mulDivCeil,
  mulDivFloor,
  mulDivNearest,
  price,
} from '../../actors/kernel/micros.ts'
import {
  type Direction,
  isBeyondWashout,
  marginFor,
  pnlAt,
  realisedPnl,
  washoutPrice,
} from '../../actors/position/position.ts'
import { p, u } from '../support/fixtures.ts'

const micros = fc.integer({ min: -MICROS_MAX, max: MICROS_MAX })

describe('micros', () => {
  it('[M1] every quantity survives its decimal form, as a number and as text', () => {
    fc.assert(
      fc.property(micros, (value) => {
        expect(microsFromDecimal(decimal(value))).toBe(value)
        expect(microsFromDecimal(Number(decimalText(money(value))))).toBe(value)
        expect(decimalText(money(value))).not.toMatch(/e|\.$|0$(?<=\.\d*)/)
      }),
      { numRuns: 20_000 },
    )
  })

  it.each([NaN, Infinity, -Infinity, 1e308, 1e10, 0.0000001, 0.1 + 0.2, 1 / 3])(
    '[M2] %d is refused: not finite, too large, or finer than a millionth',
    (value) => expect(microsFromDecimal(value)).toBeNull(),
  )

  it('[M3] products round as their name says, on both sides of zero', () => {
    expect([mulDivFloor(7, 1, 2), mulDivFloor(-7, 1, 2)]).toEqual([3, -4])
    expect([mulDivCeil(7, 1, 2), mulDivCeil(-7, 1, 2)]).toEqual([4, -3])
    expect([mulDivNearest(7, 1, 2), mulDivNearest(-7, 1, 2), mulDivNearest(5, 1, 4)]).toEqual([4, -4, 1])
    expect(mulDivFloor(MICROS_MAX, 9_000_000, 9_000_001)).toBe(999_999_888_888_901)
  })

  it('[M3] floor, nearest and ceil differ by at most one and never cross', () => {
    fc.assert(
      fc.property(micros, fc.integer({ min: 0, max: 8e6 }), fc.integer({ min: 1e6, max: 1e9 }), (a, b, by) => {
        const [low, mid, high] = [mulDivFloor(a, b, by), mulDivNearest(a, b, by), mulDivCeil(a, b, by)]
        expect(low <= mid && mid <= high && high - low <= 1).toBe(true)
      }),
    )
  })

  it('[M3] a product beyond what a double holds is divided as exactly as one within', () => {
    const size = fc.oneof(fc.integer({ min: -1e6, max: 1e6 }), fc.integer({ min: -1e15, max: 1e15 }))
    fc.assert(
      fc.property(size, fc.integer({ min: -1e6, max: 1e6 }), (a, b) => {
        const product = BigInt(a) * BigInt(b)
        const down = product / 1_000_000n - (product % 1_000_000n < 0n ? 1n : 0n)
        expect(mulDivFloor(a, b, 1e6)).toBe(Number(down))
      }),
    )
  })

  it('[M2] what is not a safe integer in range cannot become a quantity', () => {
    for (const bad of [0.5, NaN, MICROS_MAX + 1]) expect(() => price(bad)).toThrow('not a quantity')
  })
})

describe('position arithmetic', () => {
  it('[M4] margin is price × lots × 5 ÷ 10: lot 0.5 at price 200 costs 50', () => {
    expect(marginFor(p(200), lots(u(0.5)))).toBe(u(50))
  })

  it('[M4] margin rounds up', () => {
    expect(marginFor(price(1), lots(10_000))).toBe(1)
  })

  it('[M5] pnl is the move × lots × 5: a move of 20 on lot 0.5 earns 50, a short loses it', () => {
    const position = { lots: lots(u(0.5)), openPrice: p(200) }
    expect(pnlAt({ ...position, direction: 'long' }, p(220))).toBe(u(50))
    expect(pnlAt({ ...position, direction: 'short' }, p(220))).toBe(u(-50))
  })

  it('[M5] pnl rounds down, so the house never pays a fraction', () => {
    const position = { lots: lots(10_000), openPrice: p(200) }
    expect(pnlAt({ ...position, direction: 'long' }, price(u(200) + 1))).toBe(0)
    expect(pnlAt({ ...position, direction: 'short' }, price(u(200) + 1))).toBe(-1)
  })

  it('[M6] a loss never exceeds the margin, however far the price has jumped', () => {
    const position = { direction: 'long', lots: lots(u(1)), openPrice: p(200), margin: money(u(100)) } as const
    expect(realisedPnl(position, p(1))).toBe(u(-100))
  })

  it('[M6] the washout price is a tenth against the position, and no loss at it exceeds the margin', () => {
    expect(washoutPrice({ direction: 'long', openPrice: p(200) })).toBe(u(180))
    expect(washoutPrice({ direction: 'short', openPrice: p(200) })).toBe(u(220))
    const beyond = (direction: Direction, stopLoss: number) =>
      isBeyondWashout({ direction, openPrice: p(200), stopLoss: p(stopLoss) })
    expect([beyond('long', 179.999_999), beyond('long', 180), beyond('long', 190)]).toEqual([true, false, false])
    expect([beyond('short', 220.000_001), beyond('short', 220), beyond('short', 210)]).toEqual([true, false, false])
    expect(isBeyondWashout({ direction: 'long', openPrice: p(200), stopLoss: null })).toBe(false)
    const prices = fc.integer({ min: 20_000, max: 2_000_000_000 })
    const sizes = fc.integer({ min: 1, max: 10_000 })
    fc.assert(
      fc.property(prices, sizes, fc.constantFrom('long' as const, 'short' as const), (at, steps, direction) => {
        const position = { direction, openPrice: price(at), lots: lots(steps * 10_000) }
        const washout = washoutPrice(position)
        if (washout === null) return
        expect(-pnlAt(position, washout)).toBeLessThanOrEqual(marginFor(position.openPrice, position.lots))
      }),
    )
  })
})
