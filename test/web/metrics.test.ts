import { expect, it } from 'vitest'
import { greatest, meanBetween, parseMetrics, total } from '../../src/web/control/metrics.ts'

const text = (count: number, sum: number) =>
  [
    '# HELP x_sockets Open sockets.',
    'x_sockets{door="feed"} 3',
    'x_sockets{door="room"} 2',
    'x_sockets_dropped_total 9',
    `x_commit_sum{verdict="committed"} ${sum}`,
    `x_commit_count{verdict="committed"} ${count}`,
    '',
  ].join('\n')

it('metrics are read by name over all labels, and a mean covers the time between two readings', () => {
  const [before, after] = [parseMetrics(text(2, 0.05)), parseMetrics(text(4, 0.07))]
  expect(total(before, 'x_sockets')).toBe(5)
  expect(greatest(before, 'x_sockets')).toBe(3)
  expect(greatest(before, 'x_age')).toBeNull()
  expect(meanBetween(before, after, 'x_commit')).toBeCloseTo(0.01)
  expect(meanBetween(after, after, 'x_commit')).toBeNull()
})
