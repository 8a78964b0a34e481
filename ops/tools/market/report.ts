/** What trades say: return on margin with its standard error, by strategy, clustered by match. */
import type { ClosedBy } from '../../../actors/position/position.ts'
import type { Strategy, Trade } from './play.ts'

export interface Line {
  readonly name: string
  readonly knows: Strategy['knows']
  readonly trades: number
  /** Realised PnL ÷ margin of all trades, in per cent. */
  readonly roiPct: number
  /** Its standard error, in per cent: matches are drawn, trades of one match are not independent. */
  readonly errorPct: number
  /** Part of the trades that won, in per cent. */
  readonly hitPct: number
  /** What a season of 38 matches makes of 10,000 units that stake a fifth of the wallet on each match. */
  readonly season: number
  /** What the house pays (or takes, above zero), in units per 1,000 of margin. */
  readonly housePerMille: number
  readonly closedBy: Readonly<Partial<Record<ClosedBy, number>>>
}

const SEASON_MATCHES = 38
const STAKE = 0.2

/** One line a strategy; `matches` holds the trades of each match. */
export function lineOf({ name, knows }: Strategy, matches: readonly (readonly Trade[])[]): Line {
  const own = matches.map((trades) => trades.filter((t) => t.strategy === name))
  const sums = own.map((trades) => ({ pnl: sum(trades.map((t) => t.pnl)), margin: sum(trades.map((t) => t.margin)) }))
  const margin = sum(sums.map((s) => s.margin))
  const roi = margin === 0 ? 0 : sum(sums.map((s) => s.pnl)) / margin
  const spread = Math.sqrt(sum(sums.map((s) => (s.pnl - roi * s.margin) ** 2)))
  const all = own.flat()
  const perMatch = sums.filter((s) => s.margin > 0).map((s) => s.pnl / s.margin)
  return {
    name,
    knows,
    trades: all.length,
    roiPct: 100 * roi,
    errorPct: margin === 0 ? 0 : (100 * spread) / margin,
    hitPct: all.length === 0 ? 0 : (100 * all.filter((t) => t.pnl > 0).length) / all.length,
    season: seasonOf(perMatch),
    housePerMille: -1_000 * roi,
    closedBy: countBy(all.map((t) => t.closedBy)),
  }
}

function seasonOf(perMatch: readonly number[]): number {
  if (perMatch.length === 0) return 10_000
  let wallet = 10_000
  for (let n = 0; n < SEASON_MATCHES; n += 1) wallet *= 1 + STAKE * (perMatch[n % perMatch.length] ?? 0)
  return wallet
}

const sum = (values: readonly number[]): number => values.reduce((a, b) => a + b, 0)

function countBy(values: readonly ClosedBy[]): Partial<Record<ClosedBy, number>> {
  const counts: Partial<Record<ClosedBy, number>> = {}
  for (const value of values) counts[value] = (counts[value] ?? 0) + 1
  return counts
}

/** A strategy without private information that earns more than this, in per cent of margin, beats the market. */
const EDGE_MAX_PCT = 1

/** Above the bound and above chance: both, or a small sample would accuse everybody. */
export const beats = ({ roiPct, errorPct }: Line): boolean => roiPct > EDGE_MAX_PCT && roiPct > 2 * errorPct

export function tableOf(lines: readonly Line[]): string {
  const head = ['strategy', 'trades', 'ROI %', '± s.e.', 'hit %', 'a season of 10,000', 'void %', '']
  const rows = lines.map((line) => [
    line.name,
    String(line.trades),
    line.roiPct.toFixed(2),
    line.errorPct.toFixed(2),
    line.hitPct.toFixed(0),
    Math.round(line.season).toLocaleString('en'),
    ((100 * (line.closedBy.void ?? 0)) / Math.max(1, line.trades)).toFixed(1),
    beats(line) ? 'beats the market' : '',
  ])
  const cells = [head, ...rows]
  const widths = head.map((_, column) => Math.max(...cells.map((row) => row[column]?.length ?? 0)))
  const line = (row: readonly string[]): string =>
    row
      .map((cell, column) => (column === 0 ? cell.padEnd(widths[0] ?? 0) : cell.padStart(widths[column] ?? 0)))
      .join('  ')
  return cells.map((row) => line(row).trimEnd()).join('\n')
}
