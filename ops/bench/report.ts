/** Results of several rounds as medians with their spread, and tables of them as plain text. */
import { present } from '../../actors/kernel/assert.ts'
import { whole } from '../rehearse/rig/options.ts'

/** How long to measure. */
export interface Pace {
  readonly rounds: number
  readonly seconds: number
  readonly warmUpSeconds: number
  /** A short run, also with smaller stocks. */
  readonly quick: boolean
}

/** The options of a benchmark that measures several times. */
export const PACED = {
  rounds: { type: 'string', default: '3' },
  seconds: { type: 'string', default: '3' },
  quick: { type: 'boolean', default: false },
  json: { type: 'boolean', default: false },
} as const

/** The pace that `--rounds`, `--seconds` and `--quick` ask for. */
export const paceOf = (asked: {
  readonly rounds: string
  readonly seconds: string
  readonly quick: boolean
}): Pace => ({
  rounds: asked.quick ? 1 : whole('rounds', asked.rounds, 1, 100),
  seconds: asked.quick ? 1 : whole('seconds', asked.seconds, 1, 3_600),
  warmUpSeconds: asked.quick ? 0.5 : 1,
  quick: asked.quick,
})

/** The result of one part of a benchmark, for people and for programs. */
export interface Section {
  readonly text: string
  readonly data: Readonly<Record<string, unknown>>
}

export interface Spread {
  readonly median: number
  readonly min: number
  readonly max: number
}

/** The median, the upper one of two middles. Throws if there are no values. */
export function spreadOf(figures: readonly number[]): Spread {
  const sorted = figures.toSorted((a, b) => a - b)
  const at = (n: number): number => present(sorted[n], 'a figure')
  return { median: at(sorted.length >> 1), min: at(0), max: at(sorted.length - 1) }
}

/** At least three significant digits, with thousands separated. */
export function figure(value: number): string {
  const decimals = value >= 100 ? 0 : value >= 10 ? 1 : 2
  return value.toLocaleString('en', { minimumFractionDigits: decimals, maximumFractionDigits: decimals })
}

export const withSpread = ({ median, min, max }: Spread): string =>
  min === max ? figure(median) : `${figure(median)} (${figure(min)}..${figure(max)})`

/** Aligns the first column left, numbers right. */
export function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const widths = head.map((_, column) => Math.max(...[head, ...rows].map((row) => row[column]?.length ?? 0)))
  const line = (row: readonly string[]): string =>
    row.map((cell, n) => (n === 0 ? cell.padEnd(widths[n] ?? 0) : cell.padStart(widths[n] ?? 0))).join('  ')
  return [line(head), widths.map((width) => '-'.repeat(width)).join('  '), ...rows.map(line)].join('\n')
}
