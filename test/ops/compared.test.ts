/** What two runs of a benchmark are compared by. */
import { expect, it } from 'vitest'
import { figuresOf, gainOf, spreadsOf } from '../../ops/bench/compared.ts'

it('takes rates and costs from a report, by name, and of a spread the median', () => {
  const report = {
    results: [
      { name: 'actor, 1 match', perSecond: { median: 3, min: 1, max: 9 }, p50Ms: 4, nodeMicros: 20, timesNaive: null },
    ],
    rounds: [{ connections: 16, opened: { perSecond: 7, answered: 8 } }],
    followed: { '1000 feed': { perCoreSecond: { median: 5, min: 5, max: 5 }, toOne: null } },
  }
  expect(Object.fromEntries(figuresOf(report))).toEqual({
    'results actor, 1 match perSecond': 3,
    'results actor, 1 match nodeMicros': 20,
    'rounds 16 connections opened perSecond': 7,
    'followed 1000 feed perCoreSecond': 5,
  })
})

it('a rate that halves and a cost that doubles are both half as good', () => {
  expect(gainOf('results actor perSecond', 10, 5)).toBe(0.5)
  expect(gainOf('results actor nodeMicros', 10, 20)).toBe(0.5)
})

it('two reports without a figure in common are not called equally fast', () => {
  expect(() => spreadsOf(new Map())).toThrow('nothing was compared')
  expect(spreadsOf(new Map([['a perSecond', [1, 3, 2]]]))).toEqual([
    { name: 'a perSecond', gain: { median: 2, min: 1, max: 3 } },
  ])
})
