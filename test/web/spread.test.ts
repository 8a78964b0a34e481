import { expect, it } from 'vitest'
import { saidBy, spreadOf } from '../../src/web/features/what-if/spread.ts'

it('several seeds say more or less only beyond two standard errors', () => {
  const spread = spreadOf([1, 2, 3, 4])
  expect(spread).toMatchObject({ mean: 2.5, least: 1, most: 4 })
  expect(spread.error).toBeCloseTo(0.6455, 4)
  expect(saidBy(spread)).toBe('more')
  expect(saidBy(spreadOf([-1, -2, -3, -4]))).toBe('less')
  expect(saidBy(spreadOf([-1_331, 1_216, -200, 400]))).toBe('chance')
  expect(saidBy(spreadOf([0, 0]))).toBe('same')
  expect([spreadOf([5]).error, saidBy(spreadOf([5]))]).toEqual([null, 'unknown'])
})
