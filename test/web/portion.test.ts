import { expect, it } from 'vitest'
import { lotsOf, openedOf } from '../../src/web/parts/portion.ts'

it('[T38] a portion is whole lot steps, and leaves at least one', () => {
  expect(lotsOf(1, 0.01, 0.01)).toBe(0.01)
  expect(lotsOf(0.5, 0.01, 0.01)).toBeNull()
  expect([lotsOf(0.75, 0.02, 0.01), lotsOf(0.25, 0.02, 0.01)]).toEqual([0.01, 0.01])
  expect([0.75, 0.5, 0.25].map((part) => lotsOf(part as 0.75 | 0.5 | 0.25, 1.01, 0.01))).toEqual([0.76, 0.51, 0.25])
})

it('a position that was closed in parts was opened once, with all its lots', () => {
  const open = { id: 'a', partOf: null, lotSize: 0.7 }
  const closed = [0.1, 0.2].map((lotSize, n) => ({ id: `part ${n}`, partOf: 'a', lotSize }))
  const other = { id: 'b', partOf: null, lotSize: 0.5 }
  expect(openedOf([open, ...closed, other])).toEqual([{ ...open, lotSize: 1 }, other])
})
