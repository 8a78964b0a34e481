/** Units to lots and back, in the ticket. */
import { expect, it } from 'vitest'
import { draft } from '../../src/web/parts/order-draft.ts'
import { lotsFor, needsReview, setLots, setStake, stakeOf, stepLots } from '../../src/web/parts/stake.ts'

const contract = { contractSize: 5, leverage: 10, lotStep: 0.01, minLot: 0.01, maxLot: 100 }

it('a stake buys no more than it pays for, in whole steps and within the limits', () => {
  expect(stakeOf(0.5, 200, contract)).toBe(50)
  expect(lotsFor(50, 200, contract)).toBe(0.5)
  expect(lotsFor(50.9, 200, contract)).toBe(0.5)
  expect(lotsFor(0.9, 200, contract), 'less than the smallest order').toBe(0)
  expect(lotsFor(1e9, 200, contract)).toBe(100)
  for (const stake of [0, -5, Number.NaN]) expect(lotsFor(stake, 200, contract)).toBe(0)
  for (let cents = 100; cents < 30_000; cents += 7) {
    const lots = lotsFor(cents / 100, 283.37, contract)
    expect(stakeOf(lots, 283.37, contract)).toBeLessThanOrEqual(cents / 100 + 0.001)
    expect(stakeOf(lots + 0.01, 283.37, contract)).toBeGreaterThan(cents / 100)
  }
})

it('the fields of stake and lots follow each other', () => {
  setStake('50', 200, contract)
  expect(draft.lots.value).toBe('0.5')
  setLots('2', 200, contract)
  expect(draft.stake.value).toBe('200.00')
  stepLots(200, contract, -1)
  expect([draft.lots.value, draft.stake.value]).toEqual(['1.9', '190.00'])
  setLots('', 200, contract)
  expect(draft.stake.value).toBe('')
})

it('more than a quarter of the wallet is reviewed', () => {
  expect([needsReview(2_500, 10_000), needsReview(2_500.01, 10_000)]).toEqual([false, true])
})
