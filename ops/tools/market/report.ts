/**
 * What matches say, by strategy. Standard errors are clustered by match: matches are drawn, trades of one match are not
 * independent.
 */
import { DEFAULT_RULES, LEVERAGE } from '../../../actors/kernel/limits.ts'
import type { MatchResult, Subject } from './battery.ts'
import { FEED_NAMES, IN_TIME } from './feeds.ts'
import type { Mode } from './modes.ts'
import type { Tally } from './tally.ts'
import { HONEST } from './strategies/public.ts'
import { WHISTLE } from './strategies/crowd.ts'

export interface Line extends Subject, Tally {
  /** Realised PnL ÷ margin of all trades, in per cent. */
  readonly roiPct: number
  readonly errorPct: number
  /** The share of fills that news moved, of two a trade, in per cent. */
  readonly movedPct: number
  readonly movedErrorPct: number
  /** What of it base moves did not make, in per cent of margin: paid by the crowd, or by the house. */
  readonly crowdPct: number
  /** What a season of 38 matches makes of 10,000 units that stake a fifth of the wallet on each match. */
  readonly season: number
}

const SEASON_MATCHES = 38
const STAKE = 0.2

const sum = (values: readonly number[]): number => values.reduce((a, b) => a + b, 0)

/** One line a strategy and feed, in the order of the first match. */
export function linesOf(results: readonly MatchResult[]): readonly Line[] {
  const byName = Map.groupBy(
    results.flatMap(({ tallies }) => tallies),
    ({ name, feed }) => `${feed}/${name}`,
  )
  return [...byName.values()].flatMap((tallies) => (tallies[0] === undefined ? [] : [lineOf(tallies[0], tallies)]))
}

function lineOf({ name, feed, leadSecs, isLeader }: Subject, tallies: readonly Tally[]): Line {
  const total = (of: (tally: Tally) => number): number => sum(tallies.map(of))
  const [margin, pnl, baseMoves] = [total((t) => t.margin), total((t) => t.pnl), total((t) => t.baseMoves)]
  const played = tallies.filter((t) => t.margin > 0)
  const roi = ratioOf(played.map((t) => [t.pnl, t.margin]))
  const moved = ratioOf(played.map((t) => [t.moves, 2 * t.trades]))
  return {
    name,
    feed,
    leadSecs,
    isLeader,
    margin,
    pnl,
    baseMoves,
    trades: total((t) => t.trades),
    wins: total((t) => t.wins),
    voids: total((t) => t.voids),
    moves: total((t) => t.moves),
    refused: total((t) => t.refused),
    roiPct: roi.pct,
    errorPct: roi.errorPct,
    movedPct: moved.pct,
    movedErrorPct: moved.errorPct,
    crowdPct: margin === 0 ? 0 : (100 * (pnl - baseMoves)) / margin,
    season: seasonOf(played.map((t) => t.pnl / t.margin)),
  }
}

/** The ratio of two sums over matches, and its standard error, in per cent. Of one match alone nothing is known. */
function ratioOf(matches: readonly (readonly [part: number, of: number])[]): { pct: number; errorPct: number } {
  const whole = sum(matches.map(([, of]) => of))
  if (whole === 0) return { pct: 0, errorPct: 0 }
  const ratio = sum(matches.map(([part]) => part)) / whole
  const spread = Math.sqrt(sum(matches.map(([part, of]) => (part - ratio * of) ** 2)))
  const small = Math.sqrt(matches.length / (matches.length - 1))
  return { pct: 100 * ratio, errorPct: matches.length === 1 ? Infinity : (100 * small * spread) / whole }
}

function seasonOf(perMatch: readonly number[]): number {
  if (perMatch.length === 0) return 10_000
  let wallet = 10_000
  for (let n = 0; n < SEASON_MATCHES; n += 1) wallet *= 1 + STAKE * (perMatch[n % perMatch.length] ?? 0)
  return wallet
}

/** Nobody earns more than this, in per cent of margin, by what the rules promise to be worth nothing. */
const EDGE_MAX_PCT = 1

/** Of fewer trades the spread says nothing: a rare loss, such as a penalty saved, may be missing from it. */
const TRADES_MIN = 20

/**
 * Whether a line earns what the rules promise that nobody earns: above the bound and above chance, or a small sample
 * would accuse everybody.
 */
const beats = ({ isLeader, leadSecs, trades, roiPct, errorPct }: Line, { safeLeadSecs }: Mode): boolean =>
  !isLeader && trades >= TRADES_MIN && leadSecs <= safeLeadSecs && roiPct > EDGE_MAX_PCT && roiPct > 2 * errorPct

/** The mean of honest trades may be this far from nothing, in per cent of margin, or within chance of it. */
const HONEST_MEAN_MAX_PCT = 0.3
/** News may move this share of honest fills, in per cent, or what is within chance of it. A trade has two. */
const HONEST_MOVED_MAX_PCT = 15

const labelOf = ({ name, feed }: Subject): string => (feed === IN_TIME ? name : `${name}, ${feed}`)

/** The lines that pass a bound, as people would name them. */
export const suspectsIn = (lines: readonly Line[], mode: Mode): ReadonlySet<string> =>
  new Set(lines.filter((line) => beats(line, mode) || isUnfairToHonest(line)).map(labelOf))

const share = (part: number, of: number): number => (100 * part) / Math.max(1, of)

/** Whether honest users win or lose by the rules what they should not. */
function isUnfairToHonest({ name, movedPct, movedErrorPct, roiPct, errorPct }: Line): boolean {
  if (name !== HONEST) return false
  const mean = Math.abs(roiPct)
  const isMoved = movedPct - 2 * movedErrorPct > HONEST_MOVED_MAX_PCT
  return isMoved || (mean > HONEST_MEAN_MAX_PCT && mean > 2 * errorPct)
}

const leadText = (leadSecs: number): string => {
  if (leadSecs === 0) return 'public'
  return leadSecs === Infinity ? 'recording' : `${leadSecs} s`
}

/** What each strategy earns while the feed is in time. */
export function tableOf(lines: readonly Line[], marked: ReadonlySet<string>): string {
  const head = ['strategy', 'lead', 'trades', 'ROI %', '± s.e.', 'hit %', '10,000 after a season', 'house', 'crowd %']
  const rows = lines
    .filter(({ feed }) => feed === IN_TIME)
    .map((line) => [
      line.name,
      leadText(line.leadSecs),
      String(line.trades),
      line.roiPct.toFixed(2),
      line.errorPct.toFixed(2),
      share(line.wins, line.trades).toFixed(0),
      Math.round(line.season).toLocaleString('en'),
      Math.round(-line.pnl).toLocaleString('en'),
      line.crowdPct.toFixed(2),
      share(line.voids, line.trades).toFixed(1),
      line.name === HONEST
        ? `${line.movedPct.toFixed(1)} ± ${line.movedErrorPct.toFixed(1)}`
        : line.movedPct.toFixed(1),
      line.refused === 0 ? '' : String(line.refused),
      verdictOn(line, marked),
    ])
  return aligned([[...head, 'void %', 'moved %', 'refused', ''], ...rows])
}

/** What the same strategies earn, in per cent of margin, by how the feed tells the match. */
export function feedTableOf(lines: readonly Line[], marked: ReadonlySet<string>): string {
  const byName = Map.groupBy(lines, ({ name }) => name)
  const rows = [...byName].flatMap(([name, own]) => {
    if (own.every(({ feed }) => feed === IN_TIME)) return []
    const cells = FEED_NAMES.map((feed) => {
      const line = own.find((one) => one.feed === feed)
      if (line === undefined || line.trades === 0) return ''
      return `${line.roiPct.toFixed(2)} ± ${line.errorPct.toFixed(2)}${marked.has(labelOf(line)) ? '!' : ' '}`
    })
    return [[name, leadText(own[0]?.leadSecs ?? 0), ...cells]]
  })
  return aligned([['strategy', 'lead', ...FEED_NAMES], ...rows])
}

const verdictOn = (line: Line, marked: ReadonlySet<string>): string => {
  if (!marked.has(labelOf(line))) return ''
  return line.name === HONEST ? 'unfair' : 'beats the market'
}

function aligned(cells: readonly (readonly string[])[]): string {
  const widths = cells[0]?.map((_, column) => Math.max(...cells.map((row) => row[column]?.length ?? 0))) ?? []
  const line = (row: readonly string[]): string =>
    row.map((cell, n) => (n === 0 ? cell.padEnd(widths[0] ?? 0) : cell.padStart(widths[n] ?? 0))).join('  ')
  return cells.map((row) => line(row).trimEnd()).join('\n')
}

/** Half of what the cap is worth, in per cent of margin: more the whistle may not give to anybody. */
const WHISTLE_MAX_PCT = (DEFAULT_RULES.impactCapPpm / 10_000) * LEVERAGE * 0.5

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
  return Math.max(whistle.givenPct, Math.abs(whistle.housePct)) > WHISTLE_MAX_PCT
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
