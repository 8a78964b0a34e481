/** What a step of the chart is, of a history of ticks. */
import { expect, it } from 'vitest'
import { stepAt, stepsOf } from '../../src/web/price-steps.ts'

const tick = (at: number, price: number, more: object = {}) => ({
  at: new Date(at).toISOString(),
  price,
  cause: 'match' as const,
  eventId: null as number | null,
  ...more,
})

it('a step of several ticks is the event among them, else the largest, and its change is that of all', () => {
  const goal = tick(2_200, 107, { cause: 'event', eventId: 7 })
  const large = tick(3_500, 120)
  const steps = stepsOf([tick(1_000, 100), tick(2_100, 110), goal, tick(3_100, 108), large, tick(3_900, 119)])
  expect(steps.map(({ time }) => time)).toEqual([1, 2, 3])
  expect(steps.map(({ tick: why }) => why)).toEqual([tick(1_000, 100), goal, large])
  expect(steps[0]?.changePct).toBe(null)
  expect(steps[1]?.changePct).toBeCloseTo(7, 9)
  expect(steps[2]?.changePct).toBeCloseTo((119 / 107 - 1) * 100, 9)
})

it('the step from one match to the next says so, and has no change', () => {
  const listing = tick(2_000, 60, { cause: 'listing' })
  const steps = stepsOf([tick(1_000, 100), listing, tick(3_000, 61)])
  expect(steps.map(({ isNewMatch }) => isNewMatch)).toEqual([false, true, false])
  expect(steps[1]?.changePct).toBe(null)
  expect(steps[2]?.changePct).toBeCloseTo((61 / 60 - 1) * 100, 9)
})

it('what follows the end of a match is another one, even where its listing fell into the same second', () => {
  const steps = stepsOf([tick(1_000, 100), tick(2_000, 101, { cause: 'settlement' }), tick(9_000, 92), tick(9_900, 93)])
  expect(steps.map(({ isNewMatch }) => isNewMatch)).toEqual([false, false, true])
  expect(steps[2]?.changePct).toBe(null)
})

it('between two steps the earlier one stands', () => {
  const steps = stepsOf([tick(1_000, 100), tick(5_000, 101)])
  expect(stepAt(steps, 4)?.time).toBe(1)
  expect(stepAt(steps, 5)?.time).toBe(5)
  expect(stepAt(steps, 0)).toBe(null)
})
