/** Levels as they are typed. */
import { expect, it } from 'vitest'
import { levelIn } from '../../src/web/typed.ts'

it('a level is a price in either spelling, removed only by an empty field', () => {
  expect(['45.5', '45,5', ' 45 '].map(levelIn)).toEqual([45.5, 45.5, 45])
  expect(['', ' '].map(levelIn)).toEqual([null, null])
  expect(['1e', '-', '0', '-3', '1,234.5', 'x'].map(levelIn)).toEqual(Array.from({ length: 6 }))
})
