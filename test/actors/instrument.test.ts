import { describe, expect, it } from 'vitest'
import { DEFAULT_RULES } from '../../actors/kernel/limits.ts'
import { lots, price, slope } from '../../actors/kernel/micros.ts'
import {
  exitPrice,
  fillPrice,
  quoteAfter,
  quoteOf,
  slopeFor,
  slopeInForce,
  anchorOf,
  lastIn,
  startPrice,
} from '../../actors/market/instrument.ts'
import { type Phase, phaseOf } from '../../actors/market/phase.ts'
import { instrument, p, snapshot, u } from '../support/fixtures.ts'

const crowded = (imbalance: number) => instrument(1, { imbalance: lots(u(imbalance)) })

describe('quote', () => {
  it('[I1] price = base + k_mod × imbalance, for both signs', () => {
    expect([quoteOf(crowded(10)).price, slopeInForce(crowded(10))]).toEqual([u(200.1), 0.01])
    expect(quoteOf(crowded(-10)).price).toBe(u(199.9))
    // Beyond the cap the slope differs from k0 by less than a micro at first.
    for (const from of [853.8, 854.51, 860]) {
      for (const imbalance of [from, -from].map((n) => lots(u(n)))) {
        const one = instrument(1, { base: p(94.3483), slope: slope(221), imbalance })
        const shown = u(94.3483) + slopeInForce(one) * imbalance
        expect(Math.abs(quoteOf(one).price - shown)).toBeLessThanOrEqual(0.5)
      }
    }
  })

  it('[I2] the crowd moves a price by at most a fifth of a per cent of its base, and k_mod shows the slope that is left', () => {
    expect(DEFAULT_RULES.impactCapPpm).toBe(2_000)
    expect([quoteOf(crowded(1000)).price, slopeInForce(crowded(1000))]).toEqual([u(200.4), 0.0004])
    expect(quoteOf(crowded(-9999)).price).toBe(u(199.6))
  })

  it('[I5] a settled instrument stands still, whichever positions have been paid', () => {
    const settled = instrument(1, { settlement: p(212), imbalance: lots(u(5)) })
    expect([quoteOf(settled).price, quoteAfter(settled, lots(u(10))).price]).toEqual([u(212), u(212)])
    expect([fillPrice(settled, lots(u(1))), exitPrice(settled, lots(u(1)))]).toEqual([u(212), u(212)])
  })

  it('[T33] once the match has ended the quote stands still, and everybody leaves at it', () => {
    for (const imbalance of [40, -40, 4_000]) {
      const before = crowded(imbalance)
      const standing = quoteOf(before).price
      for (const left of [imbalance, imbalance - 30, 0]) {
        const ended = { ...before, imbalance: lots(u(left)), endedImbalance: before.imbalance }
        expect(quoteOf(ended)).toEqual({ price: standing, base: u(200), imbalance: u(imbalance) })
        expect(slopeInForce(ended)).toBe(slopeInForce(before))
        for (const exposure of [1, -30]) expect(exitPrice(ended, lots(u(exposure)))).toBe(standing)
      }
    }
  })
})

describe('calibration', () => {
  it('[I6] two fresh wallets fully invested in a starter of price 200 move the price by a tenth of a per cent', () => {
    const k0 = slopeFor(p(200), true)
    expect(k0).toBe(u(0.001))
    expect(quoteOf(instrument(1, { slope: k0, imbalance: lots(2 * u(100)) })).price).toBe(u(200.2))
    expect(slopeFor(p(200), false)).toBe(u(0.002))
  })

  it('[I7] a match starts a player at 0.6 × the last price + 0.4 × the anchor', () => {
    expect(startPrice(p(220), p(200))).toBe(u(212))
    expect(lastIn(p(212), p(200))).toBe(u(220))
    expect(lastIn(p(180), p(180))).toBeNull()
    for (let n = 1; n <= 500; n++) {
      const [last, anchor] = [price(50_000_000 + n * 777_773), price(120_000_000 + n * 123_457)]
      expect(Math.abs((lastIn(startPrice(last, anchor), anchor) ?? 0) - last)).toBeLessThanOrEqual(2)
    }
    expect(startPrice(null, p(180))).toBe(u(180))
    expect(startPrice(p(100), anchorOf('GK', null, null))).toBe(u(108))
  })

  it('[I7] an anchor is what was known before, and with n matches their mean with weight n ÷ (n + 10)', () => {
    expect(anchorOf('GK', null, null)).toBe(u(120))
    expect(anchorOf('FWD', p(180), null)).toBe(u(180))
    expect(anchorOf('FWD', p(180), { matches: 10, mean: p(220) })).toBe(u(200))
    expect(anchorOf('MID', null, { matches: 30, mean: p(240) })).toBe(u(230))
    expect(anchorOf('MID', p(300), { matches: 1, mean: p(300) })).toBe(u(300))
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
    expect(of(null, 8, true)).toBe('live')
  })

  it('[I8] the name of a certain end closes the market, and must be confirmed while a period ticks', () => {
    expect(of('FT_PEN', 8, true)).toBe('ended')
    expect(of('FINISHED', 5, true)).toBe('ended')
  })
})
