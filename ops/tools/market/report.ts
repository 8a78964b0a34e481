/** What matches say: return on margin with its standard error, by strategy, clustered by match. */
import { DEFAULT_RULES, LEVERAGE } from '../../../actors/kernel/limits.ts'
import type { MatchResult, Subject } from './battery.ts'
import type { Tally } from './tally.ts'
import { HONEST } from './strategies/public.ts'
import { WHISTLE } from './strategies/crowd.ts'

export interface Line extends Subject, Tally {
  /** Realised PnL ÷ margin of all trades, in per cent. */
  readonly roiPct: number
  /** Its standard error, in per cent: matches are drawn, trades of one match are not independent. */
  readonly errorPct: number
  /** What of it base moves did not make, in per cent of margin: paid by the crowd, or by the house. */
  readonly crowdPct: number
  /** What a season of 38 matches makes of 10,000 units that stake a fifth of the wallet on each match. */
  readonly season: number
}

const SEASON_MATCHES = 38
const STAKE = 0.2

const sum = (values: readonly number[]): number => values.reduce((a, b) => a + b, 0)

/** One line a strategy, in the order of the first match. */
export function linesOf(results: readonly MatchResult[]): readonly Line[] {
  const byName = Map.groupBy(
    results.flatMap(({ tallies }) => tallies),
    ({ name }) => name,
  )
  return [...byName.values()].flatMap((tallies) => (tallies[0] === undefined ? [] : [lineOf(tallies[0], tallies)]))
}

function lineOf({ name, knows, isLeader }: Subject, tallies: readonly Tally[]): Line {
  const total = (of: (tally: Tally) => number): number => sum(tallies.map(of))
  const [margin, pnl, baseMoves] = [total((t) => t.margin), total((t) => t.pnl), total((t) => t.baseMoves)]
  const roi = margin === 0 ? 0 : pnl / margin
  const played = tallies.filter((t) => t.margin > 0)
  const spread = Math.sqrt(sum(played.map((t) => (t.pnl - roi * t.margin) ** 2)))
  const small = played.length > 1 ? Math.sqrt(played.length / (played.length - 1)) : 1
  return {
    name,
    knows,
    isLeader,
    margin,
    pnl,
    baseMoves,
    trades: total((t) => t.trades),
    wins: total((t) => t.wins),
    voids: total((t) => t.voids),
    corrected: total((t) => t.corrected),
    refused: total((t) => t.refused),
    roiPct: 100 * roi,
    errorPct: margin === 0 ? 0 : (100 * small * spread) / margin,
    crowdPct: margin === 0 ? 0 : (100 * (pnl - baseMoves)) / margin,
    season: seasonOf(played.map((t) => t.pnl / t.margin)),
  }
}

function seasonOf(perMatch: readonly number[]): number {
  if (perMatch.length === 0) return 10_000
  let wallet = 10_000
  for (let n = 0; n < SEASON_MATCHES; n += 1) wallet *= 1 + STAKE * (perMatch[n % perMatch.length] ?? 0)
  return wallet
}

/** A strategy without private information that earns more than this, in per cent of margin, beats the market. */
const EDGE_MAX_PCT = 1
/** Somebody ahead of the feed is on the safe side of the late window up to here. */
const LEAD_MAX_SECS = 40

/** Above the bound and above chance: both, or a small sample would accuse everybody. */
const isAbove = ({ roiPct, errorPct }: Line): boolean => roiPct > EDGE_MAX_PCT && roiPct > 2 * errorPct

/** Whether a line earns what the rules promise that nobody earns. */
export function beats(line: Line): boolean {
  if (line.isLeader || line.knows === 'recording') return false
  if (line.knows === 'public') return isAbove(line)
  const lead = /^(?:opens|closes).*, (\d+) s ahead$/.exec(line.name)
  return lead !== null && Number(lead[1]) <= LEAD_MAX_SECS && isAbove(line)
}

/** Each may cost this share of honest trades at most, in per cent. */
const HONEST_COST_MAX_PCT = 2.5

const share = (part: number, of: number): number => (100 * part) / Math.max(1, of)

/** Whether the rules cost honest users more than they may. */
export function isDear({ name, voids, corrected, trades }: Line): boolean {
  if (name !== HONEST) return false
  return Math.max(share(voids, trades), share(corrected, trades)) >= HONEST_COST_MAX_PCT
}

export function tableOf(lines: readonly Line[]): string {
  const head = ['strategy', 'trades', 'ROI %', '± s.e.', 'hit %', '10,000 after a season', 'house', 'crowd %', 'void %']
  const rows = lines.map((line) => [
    line.name,
    String(line.trades),
    line.roiPct.toFixed(2),
    line.errorPct.toFixed(2),
    share(line.wins, line.trades).toFixed(0),
    Math.round(line.season).toLocaleString('en'),
    Math.round(-line.pnl).toLocaleString('en'),
    line.crowdPct.toFixed(2),
    share(line.voids, line.trades).toFixed(1),
    share(line.corrected, line.trades).toFixed(1),
    line.refused === 0 ? '' : String(line.refused),
    beats(line) ? 'beats the market' : isDear(line) ? 'pays too much' : '',
  ])
  const cells = [[...head, 'corrected %', 'refused', ''], ...rows]
  const widths = cells[0]?.map((_, column) => Math.max(...cells.map((row) => row[column]?.length ?? 0))) ?? []
  const line = (row: readonly string[]): string =>
    row.map((cell, n) => (n === 0 ? cell.padEnd(widths[0] ?? 0) : cell.padStart(widths[n] ?? 0))).join('  ')
  return cells.map((row) => line(row).trimEnd()).join('\n')
}

/** Half of what the cap is worth, in per cent of margin: more the whistle may not give to anybody. */
const WHISTLE_MAX_PCT = (DEFAULT_RULES.impactCapPpm / 10_000) * LEVERAGE * 0.5
/** What the cap, a part of the base, grows and shrinks by while the base moves: in per cent of margin. */
const WHISTLE_HOUSE_MAX_PCT = 0.2

/** What the whistle moves from a full, one-sided book to a latecomer on the other side; null when there was no book. */
function whistleIn(lines: readonly Line[]) {
  const whole = lines.find(({ name }) => name === WHISTLE)
  const late = lines.find(({ name, isLeader }) => isLeader && name.endsWith('contrarian'))
  if (whole === undefined || late === undefined || whole.margin === 0) return null
  const margin = whole.margin - late.margin
  const takenPct = (-100 * (whole.pnl - whole.baseMoves - (late.pnl - late.baseMoves))) / margin
  return { takenPct, givenPct: late.crowdPct, house: whole.pnl - whole.baseMoves, housePct: whole.crowdPct }
}

/** Whether the whistle costs the house, or gives more than it may. */
export function isWhistleUnfair(lines: readonly Line[]): boolean {
  const whistle = whistleIn(lines)
  if (whistle === null) return false
  return whistle.givenPct > WHISTLE_MAX_PCT || Math.abs(whistle.housePct) > WHISTLE_HOUSE_MAX_PCT
}

export function whistleOf(lines: readonly Line[]): string {
  const whistle = whistleIn(lines)
  if (whistle === null) return 'no book at the whistle'
  return (
    `The whistle takes ${whistle.takenPct.toFixed(2)} % of their margin from a one-sided book and gives ` +
    `${whistle.givenPct.toFixed(2)} % (at most ${WHISTLE_MAX_PCT}) to who shorts in the last minute; the house pays ` +
    `${whistle.house.toFixed(2)} units, ${whistle.housePct.toFixed(3)} % of all margin.` +
    (isWhistleUnfair(lines) ? ' That is more than it may.' : '')
  )
}
