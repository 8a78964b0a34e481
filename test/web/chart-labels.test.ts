/** Which marks of the chart have room for their labels. */
import { expect, it } from 'vitest'
import { CHARACTER, labelled } from '../../src/web/parts/chart-labels.ts'

it('of marks that are near each other the newest has a label, and one on the other side of the line has its own', () => {
  const mark = (x: number, text: string, position = 'above') => ({ x, text, position })
  const wide = CHARACTER * 'Goal 31′'.length
  const marks = [
    mark(0, 'Goal 31′'),
    mark(wide - 1, 'Goal 32′'),
    mark(wide + 2, '0.5', 'below'),
    mark(wide * 1.5, 'Goal 33′'),
    mark(wide * 2.5, 'Goal 50′'),
  ]
  const texts = labelled(marks, ({ x }) => x).map(({ text }) => text)
  expect(texts).toEqual(['Goal 31′', '', '0.5', 'Goal 33′', 'Goal 50′'])
})
