import { expect, it } from 'vitest'
import { lots, money, price, slope } from '../../actors/kernel/micros.ts'
import { DEFAULT_RULES } from '../../actors/kernel/limits.ts'
import { fillPrice } from '../../actors/market/instrument.ts'
import { largestLots } from '../../actors/match/largest-lots.ts'
import { exposureOf, marginFor } from '../../actors/position/position.ts'
import { mostLots, passesGate } from '../../src/web/parts/confirm-gate.ts'
import { instrument } from '../support/fixtures.ts'

it('the confirm gate leaves 1 % of the free margin, and the largest size offered passes it', () => {
  expect([passesGate(99, 100), passesGate(99.01, 100)]).toEqual([true, false])
  const limits = { maxLot: 100, lotStep: 0.01 }
  expect(mostLots({ maxLotSize: 0.01 }, limits)).toBe(0)
  expect(mostLots({ maxLotSize: 100 }, limits)).toBe(100)
  for (const direction of ['long', 'short'] as const) {
    for (const free of [20, 1_000, 9_950]) {
      const player = instrument(1, { base: price(283_000_000), slope: slope(4_004) })
      const maxLotSize = largestLots(player, { purse: 'main', direction }, money(free * 1e6), DEFAULT_RULES) / 1e6
      const size = mostLots({ maxLotSize }, limits)
      const order = { purse: 'main', direction, lots: lots(Math.round(size * 1e6)) } as const
      const fill = fillPrice(player, exposureOf(order))
      expect(passesGate(marginFor(fill, order.lots) / 1e6, free), `${direction} ${free}`).toBe(true)
      expect(size).toBeGreaterThan(maxLotSize * 0.8)
    }
  }
})
