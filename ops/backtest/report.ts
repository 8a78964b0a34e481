/** What came of a backtest: as a text with a drawing for the terminal, as JSON, and as an SVG. */
import type { BacktestResult } from './backtest.ts'

/** The curves of the traders that a report shows, in units, a value for each minute. */
interface Curves {
  readonly low: readonly number[]
  readonly median: readonly number[]
  readonly high: readonly number[]
}

const START = 10_000
const [LOW, MEDIAN, HIGH] = [0.05, 0.5, 0.95]

/** The value that this share of the traders is at or below, minute by minute. */
function curvesOf({ equity }: BacktestResult): Curves {
  const minutes = equity[0]?.length ?? 0
  const at = (share: number): number[] =>
    Array.from({ length: minutes }, (_, minute) => {
      const sorted = equity.map((own) => own[minute] ?? START).toSorted((a, b) => a - b)
      return sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? START
    })
  return { low: at(LOW), median: at(MEDIAN), high: at(HIGH) }
}

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
  const { median } = curvesOf(result)
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

const [WIDTH, HEIGHT, MARGIN] = [800, 300, 40]

/** The middle of the traders, and the band that holds nine tenths of them. */
export function equitySvg(name: string, result: BacktestResult): string {
  const { low, median, high } = curvesOf(result)
  const [least, most] = [Math.min(START, ...low), Math.max(START, ...high)]
  const x = (minute: number): number => MARGIN + (minute * (WIDTH - 2 * MARGIN)) / Math.max(1, median.length - 1)
  const y = (value: number): number =>
    HEIGHT - MARGIN - ((value - least) * (HEIGHT - 2 * MARGIN)) / Math.max(1e-9, most - least)
  const points = (curve: readonly number[]): string[] =>
    curve.map((value, minute) => `${x(minute).toFixed(1)},${y(value).toFixed(1)}`)
  const band = [...points(high), ...points(low).toReversed()].join(' ')
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${HEIGHT}" font-family="sans-serif" font-size="12">`,
    `<rect width="${WIDTH}" height="${HEIGHT}" fill="#fff"/>`,
    `<text x="${MARGIN}" y="20">${escaped(name)}: equity of ${result.traders} traders, median and 5 % to 95 %</text>`,
    `<polygon points="${band}" fill="#cfe3ff"/>`,
    `<line x1="${MARGIN}" x2="${WIDTH - MARGIN}" y1="${y(START).toFixed(1)}" y2="${y(START).toFixed(1)}" stroke="#999" stroke-dasharray="4"/>`,
    `<polyline points="${points(median).join(' ')}" fill="none" stroke="#1757b8" stroke-width="2"/>`,
    `<text x="2" y="${(y(most) + 4).toFixed(1)}">${most.toFixed(0)}</text>`,
    `<text x="2" y="${(y(least) + 4).toFixed(1)}">${least.toFixed(0)}</text>`,
    '</svg>',
    '',
  ].join('\n')
}

const escaped = (text: string): string => text.replace(/[&<>"']/g, (sign) => `&#${sign.charCodeAt(0)};`)
