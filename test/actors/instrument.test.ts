import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { DEFAULT_RULES, PRICE_MIN } from '../../actors/kernel/limits.ts'
import { lots, price, slope } from '../../actors/kernel/micros.ts'
import { quoteAfter, quoteAt, quoteOf, slopeFor, startPrice } from '../../actors/market/instrument.ts'
import { type Phase, phaseOf } from '../../actors/market/phase.ts'
import { pnlAt } from '../../actors/position/position.ts'
import { instrument, p, snapshot, u } from '../support/fixtures.ts'

const CAP = DEFAULT_RULES.impactCapPpm

describe('quote', () => {
  it('[I1] price = base + k_mod × imbalance, for both signs', () => {
    expect(quoteAt(p(200), lots(u(10)), slope(u(0.01)), CAP)).toMatchObject({ price: u(200.1), slope: u(0.01) })
    expect(quoteAt(p(200), lots(u(-10)), slope(u(0.01)), CAP).price).toBe(u(199.9))
  })

  it('[I2] the crowd moves a price by at most 1 % of its base, and k_mod shows the slope that is left', () => {
    const crowded = quoteAt(p(200), lots(u(1000)), slope(u(0.01)), CAP)
    expect(crowded).toMatchObject({ price: u(202), slope: u(0.002) })
    expect(quoteAt(p(200), lots(u(-9999)), slope(u(0.01)), CAP).price).toBe(u(198))
  })

  it('[I3] no price falls below 0.01', () => {
    expect(quoteAt(PRICE_MIN, lots(u(-1000)), slope(u(0.01)), CAP).price).toBe(PRICE_MIN)
  })

  it('[I4] a round trip with nothing else moving is exactly zero-sum, at every imbalance and size', () => {
    const imbalances = fc.integer({ min: -5_000, max: 5_000 })
    const sizes = fc.integer({ min: 1, max: 10_000 })
    fc.assert(
      fc.property(imbalances, sizes, fc.constantFrom('long' as const, 'short' as const), (crowd, steps, direction) => {
        const size = lots(steps * 10_000)
        const before = instrument(1, { imbalance: lots(u(crowd)) })
        const exposure = lots(direction === 'long' ? size : -size)
        const fill = quoteAfter(before, exposure, CAP)
        const held = { ...before, imbalance: fill.imbalance }
        expect(pnlAt({ direction, lots: size, openPrice: fill.price }, quoteOf(held, CAP).price)).toBe(0)
      }),
    )
  })

  it('[I5] a settled instrument stands still, whoever has been paid out', () => {
    const settled = instrument(1, { settlement: p(212), imbalance: lots(u(5)) })
    expect(quoteOf(settled, CAP).price).toBe(u(212))
    expect(quoteAfter(settled, lots(u(10)), CAP).price).toBe(u(212))
  })
})

describe('calibration', () => {
  it('[I6] twenty fresh wallets fully invested in a starter of price 200 move him one per cent', () => {
    const k0 = slopeFor(p(200), true)
    expect(k0).toBe(u(0.001))
    expect(quoteAt(p(200), lots(20 * u(100)), k0, CAP).price).toBe(u(202))
    expect(slopeFor(p(200), false)).toBe(u(0.002))
  })

  it('[I7] a match starts a player at 0.6 × his last price + 0.4 × his anchor', () => {
    expect(startPrice('FWD', p(220), p(200))).toBe(u(212))
    expect(startPrice('FWD', null, p(180))).toBe(u(180))
    expect(startPrice('GK', null, null)).toBe(u(120))
    expect(startPrice('GK', price(u(100)), null)).toBe(u(108))
  })
})

describe('phase', () => {
  const of = (state: string | null, stateId: number | null, ticking = false): Phase =>
    phaseOf({ state, stateId, periods: snapshot().periods.map((period) => ({ ...period, ticking })) })

  it.each([
    ['NS', 1, 'scheduled'],
    ['INPLAY_1ST_HALF', 2, 'live'],
    ['HT', 3, 'break'],
    ['BREAK', 4, 'break'],
    ['FT', 5, 'ended'],
    ['INPLAY_ET', 6, 'live'],
    ['AET', 7, 'ended'],
    ['FT_PEN', 8, 'final'],
    ['FINISHED', 5, 'final'],
    ['INPLAY_PENALTIES', 9, 'live'],
    ['POSTPONED', 10, 'off'],
    ['SUSPENDED', 11, 'frozen'],
    ['ABANDONED', 15, 'off'],
    ['INPLAY_2ND_HALF', 22, 'live'],
    ['INPLAY_ET_SECOND_HALF', 23, 'live'],
    ['PEN_BREAK', 25, 'break'],
  ] as const)('[I8] %s (%i) is %s: the name decides', (state, id, phase) => expect(of(state, id)).toBe(phase))

  it.each([
    [2, 'live'],
    [3, 'break'],
    [5, 'ended'],
    [6, 'ended'],
    [7, 'ended'],
    [8, 'final'],
    [99, 'frozen'],
  ] as const)('[I8] a bare %i is %s', (id, phase) => expect(of(null, id)).toBe(phase))

  it('[I8] an unknown name freezes whatever the number, and a ticking period is never an end', () => {
    expect(of('SOMETHING_NEW', 5)).toBe('frozen')
    expect(of('FT', 5, true)).toBe('live')
    expect(of(null, 6, true)).toBe('live')
    expect(of('FT_PEN', 8, true)).toBe('live')
  })
})
