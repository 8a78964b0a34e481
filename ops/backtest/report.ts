/** What came of a backtest as a text with a drawing for the terminal. */
import type { BacktestResult } from './backtest.ts'

const START = 10_000

/** What half of the traders are at or below, minute by minute, in units. */
const medianOf = ({ equity }: BacktestResult): readonly number[] =>
  (equity[0] ?? []).map((_, minute) => {
    const sorted = equity.map((own) => own[minute] ?? START).toSorted((a, b) => a - b)
    return sorted[sorted.length >> 1] ?? START
  })

/** The deepest fall from an earlier height, in units. */
const fallOf = (curve: readonly number[]): number => {
  let [height, fall] = [-Infinity, 0]
  for (const value of curve) {
    height = Math.max(height, value)
    fall = Math.max(fall, height - value)
  }
  return fall
}

export function described(name: string, result: BacktestResult, ms: number): string {
  const finals = result.equity.map((own) => own.at(-1) ?? START).toSorted((a, b) => a - b)
  const mean = finals.reduce((sum, value) => sum + value, 0) / Math.max(1, finals.length)
  const won = finals.filter((value) => value > START).length
  const median = medianOf(result)
  const counts = (of: Readonly<Record<string, number>>): string =>
    Object.entries(of)
      .map(([code, count]) => `${code} ${count}`)
      .join(', ') || 'none'
  return [
    `${name}: ${result.traders} traders in ${(ms / 1_000).toFixed(1)} s`,
    `  they end with ${mean.toFixed(2)} on average: ${(finals[0] ?? 0).toFixed(2)} to ${(finals.at(-1) ?? 0).toFixed(2)}, ` +
      `${won} of them with more than ${START}; the house won ${result.house.toFixed(2)}`,
    `  ${result.opened} positions, closed by: ${counts(result.closedBy)}; refused: ${counts(result.refused)}`,
    `  the median trader's deepest fall: ${fallOf(median).toFixed(2)}`,
    drawn(median),
  ].join('\n')
}

const BLOCKS = '▁▂▃▄▅▆▇█'

/** A curve as one line of blocks, a minute each, between its lowest and its highest value. */
function drawn(curve: readonly number[]): string {
  const [least, most] = [Math.min(...curve), Math.max(...curve)]
  const scale = (BLOCKS.length - 1) / Math.max(1e-9, most - least)
  const line = curve.map((value) => BLOCKS[Math.round((value - least) * scale)]).join('')
  return `  ${line}  ${least.toFixed(2)} to ${most.toFixed(2)}`
}
