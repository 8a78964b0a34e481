/**
 * What must hold in a small fixed season. The battery's table says it of many matches with error bars; here are the
 * parts of it that few matches can tell, and each rule of the market has one that fails without it.
 */
import { DEFAULT_RULES, ROI_FLOOR } from '../../actors/kernel/limits.ts'
import { type Money, money, MICROS_PER_UNIT } from '../../actors/kernel/micros.ts'
import { DEFAULT_MODEL, type ScoringModel } from '../../actors/market/pricing.ts'
import { roiPpm, stakeOf } from '../../actors/community/ranking.ts'
import { type MatchResult, playBattery } from '../../ops/tools/market/battery.ts'
import { IN_TIME } from '../../ops/tools/market/feeds.ts'
import { leagueMatch, leagueResult } from '../../ops/tools/market/league.ts'
import type { Fixture } from '../../ops/tools/market/play.ts'
import { type Line, linesOf } from '../../ops/tools/market/report.ts'
import { BETS, returnOf, startersAtEnd } from '../../ops/tools/market/results.ts'

/** The season: few matches with the whole battery, and many that are only looked at when they have ended. */
export const MATCHES = 4
const FROM = 9_000
const LATE = 'statistics 60 s late'
const RESULTS = 150

export const played = (n: number): Promise<MatchResult> =>
  playBattery(leagueMatch(FROM + n), { rules: DEFAULT_RULES, model: DEFAULT_MODEL }, FROM + n, [IN_TIME, LATE])

type Check = (line: Line) => string | null

const earns = (line: Line, most: number): string | null =>
  Math.abs(line.roiPct) > most ? `earns ${line.roiPct.toFixed(2)} %, more than ${most} %` : null

/** Groups that never reach the cap: there a base that moves under them changes nothing. */
const BELOW_CAP = ['nine take-profits', 'stop ladder']

/** The house pays no group for moving a price, whatever the order of its trades. */
const crowd: Check = ({ leadSecs, isLeader, name, crowdPct }) => {
  if (leadSecs > 0 || isLeader) return null
  const most = BELOW_CAP.includes(name) ? 0.02 : 0.3
  return Math.abs(crowdPct) > most ? `the crowd's part comes to ${crowdPct.toFixed(3)} %, not to nothing` : null
}

/** What the cap is worth, in per cent of margin, and a little for the rounding of steps. */
const CAP_PCT = 2.2

/**
 * One who leads others takes from them what the cap is worth: both ways if some push the price down before and up
 * after.
 */
const leaders: Check = ({ isLeader, name, trades, crowdPct }) => {
  if (!isLeader || trades === 0) return null
  if (name.endsWith('leader') && crowdPct < 1)
    return `takes ${crowdPct.toFixed(2)} % from followers: base moves hide it`
  return crowdPct > (name.endsWith('friend') ? 2 : 1) * CAP_PCT
    ? `takes ${crowdPct.toFixed(2)} % from others, more than the cap allows`
    : null
}

const refused: Check = ({ name, trades, refused: asked }) => {
  if (name !== 'long the bench') return null
  if (asked === 0) return 'was not tried'
  return trades > 0 ? `was allowed ${trades} times` : null
}

/** Follows the price feed alone, some hundred times a match: here chance is quiet. */
const followers: Check = (line) => (line.name === 'follow moves of 0.1 %' ? earns(line, 0.7) : null)

const CHECKS: readonly Check[] = [crowd, leaders, refused, followers]

/** Without what usually follows an event in its price, statistics that come late are worth 6 to 24 %. */
const LATENESS_MAX = 4

/** Who acts on what the list shows earns the same whenever the statistics come: in the same matches. */
function lateness(lines: readonly Line[]): readonly string[] {
  return lines.flatMap((line) => {
    const inTime = lines.find(({ name, feed }) => name === line.name && feed === IN_TIME)
    if (line.feed !== LATE || inTime === undefined || line.trades < 10) return []
    const by = line.roiPct - inTime.roiPct
    return Math.abs(by) > LATENESS_MAX ? [`${line.name}: ${by.toFixed(2)} % more when statistics are late`] : []
  })
}

/** What does not hold in these matches. The same question may be asked after each of them. */
export function complaints(season: readonly MatchResult[]): readonly string[] {
  const lines = linesOf(season)
  const own = lines.flatMap((line) =>
    CHECKS.flatMap((check) => {
      const complaint = check(line)
      return complaint === null ? [] : [`${line.name}: ${complaint}`]
    }),
  )
  return [...own, ...lateness(lines)]
}

/** The most that a bet on public knowledge may earn by chance over the small season, in per cent. */
const KNOWN_MAX = 7

/** Drawn once: the matches are the same under every model. */
let results: readonly Fixture[] | null = null

/** What prices and odds, known to everybody, earn until full time. */
export function complaintsAboutPar(model: ScoringModel = DEFAULT_MODEL): readonly string[] {
  results ??= Array.from({ length: RESULTS }, (_, n) => leagueResult(FROM + n))
  const ends = results.map((fixture) => startersAtEnd(fixture, model))
  return Object.entries(BETS).flatMap(([name, bet]) => {
    const { roiPct } = returnOf(bet, ends)
    return Math.abs(roiPct) > KNOWN_MAX ? [`${name}: earns ${roiPct.toFixed(1)} %, more than ${KNOWN_MAX} %`] : []
  })
}

const units = (n: number): Money => money(n * MICROS_PER_UNIT)

/** One lucky position of five units is no career. */
export function complaintsAboutBoards(): readonly string[] {
  const roi = (margin: number, baseMoves: number): number =>
    roiPpm({ baseMoves: units(baseMoves), stake: stakeOf(units(margin), ROI_FLOOR) })
  return roi(5, 5) >= roi(60_000, 1_200) ? ['boards: who won five units once leads who won a thousand'] : []
}
