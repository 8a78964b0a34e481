import { expect, it } from 'vitest'
import { lotsOf } from '../../src/web/parts/portion.ts'

it('[T38] a portion is whole lot steps, and leaves at least one', () => {
  expect(lotsOf(1, 0.01, 0.01)).toBe(0.01)
  expect(lotsOf(0.5, 0.01, 0.01)).toBeNull()
  expect([lotsOf(0.75, 0.02, 0.01), lotsOf(0.25, 0.02, 0.01)]).toEqual([0.01, 0.01])
  expect([0.75, 0.5, 0.25].map((part) => lotsOf(part as 0.75 | 0.5 | 0.25, 1.01, 0.01))).toEqual([0.76, 0.51, 0.25])
})
