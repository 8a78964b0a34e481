/** A break from trading, as the page shows it. */
import { expect, it } from 'vitest'
import { breakOf, endAfter, longerThan } from '../../src/web/parts/own-break.ts'

const NOW = Date.parse('2026-05-02T14:00:00.000Z')
const after = (days: number): string => endAfter(days, NOW)
const NONE = { coolOffUntil: null, excludedUntil: null, pending: {} }

it('a break is extended only by a pause that ends after it', () => {
  const pauses = [{ days: 1 }, { days: 7 }, { days: 28 }]
  expect(longerThan(null, pauses, NOW)).toEqual(pauses)
  expect(longerThan(after(7), pauses, NOW)).toEqual([{ days: 28 }])
  expect(longerThan(after(365), pauses, NOW)).toEqual([])
  // One that ends early may be a shorter one instead.
  const year = { ...NONE, excludedUntil: after(365), pending: { excludedUntil: { value: null, at: after(1) } } }
  const { until, early } = breakOf(year)
  expect(longerThan(early ?? until, pauses, NOW)).toEqual([{ days: 7 }, { days: 28 }])
})

it('[L3] a break ends early where all of it does, at the end that waits and not before it applies', () => {
  const at = after(1)
  const year = { ...NONE, excludedUntil: after(365) }
  expect(breakOf(NONE)).toEqual({ until: null, early: null })
  expect(breakOf(year)).toEqual({ until: after(365), early: null })
  const ended = (value: string | null) => breakOf({ ...year, pending: { excludedUntil: { value, at } } }).early
  expect([ended(null), ended(after(182)), ended(after(0.5))]).toEqual([at, after(182), at])
  // The end of the cool-off is not that of the exclusion.
  const both = { ...year, coolOffUntil: after(7), pending: { coolOffUntil: { value: null, at } } }
  expect(breakOf(both)).toEqual({ until: after(365), early: null })
  // A break that is over before then ends as it would have.
  expect(
    breakOf({ ...NONE, coolOffUntil: after(0.5), pending: { coolOffUntil: { value: null, at } } }).early,
  ).toBeNull()
})
