/**
 * What must hold in a small fixed season. The battery's table says it of many matches with error bars; here are the
 * parts of it that few matches can tell, and each rule of the market has one that fails without it.
 */
import { present } from '../../actors/kernel/assert.ts'
import { playerId } from '../../actors/kernel/ids.ts'
import { DEFAULT_RULES, ROI_FLOOR } from '../../actors/kernel/limits.ts'
import { lots, type Money, money, MICROS_PER_UNIT } from '../../actors/kernel/micros.ts'
import { SECOND_MS } from '../../actors/kernel/world.ts'
import { DEFAULT_MODEL, type ScoringModel } from '../../actors/market/pricing.ts'
import { roiPpm, stakeOf } from '../../actors/community/ranking.ts'
import { type MatchResult, playBattery } from '../../ops/tools/market/battery.ts'
import { leagueMatch, leagueResult } from '../../ops/tools/market/league.ts'
import type { Fixture } from '../../ops/tools/market/play.ts'
import { type Line, linesOf } from '../../ops/tools/market/report.ts'
import { BETS, returnOf, startersAtEnd } from '../../ops/tools/market/results.ts'
import { ActorRig } from '../support/actor-rig.ts'
import { GOAL, instrument, P, player, record, U } from '../support/fixtures.ts'

/** The season: few matches with the whole battery, and many that are only looked at when they have ended. */
export const MATCHES = 4
const FROM = 9_000
const RESULTS = 150

export const played = (n: number): Promise<MatchResult> =>
  playBattery(leagueMatch(FROM + n), { rules: DEFAULT_RULES, model: DEFAULT_MODEL }, FROM + n)

type Check = (line: Line) => string | null

const isAhead = (line: Line, secs: number): boolean => {
  const lead = /, (\d+) s ahead$/.exec(line.name)
  return line.knows === 'courtside' && lead !== null && Number(lead[1]) <= secs
}
const earns = (line: Line, most: number): string | null =>
  Math.abs(line.roiPct) > most ? `earns ${line.roiPct.toFixed(2)} %, more than ${most} %` : null

/** Nothing is won or lost by who opens ahead of the feed: they leave at the base before it. */
const lateOpens: Check = (line) => {
  if (!line.name.startsWith('opens') || !isAhead(line, 40)) return null
  if (line.voids < line.trades) return `${line.trades - line.voids} of ${line.trades} positions were not void`
  return earns(line, 0.6)
}

/** A goal taken back pays the side that stayed, which is loud in few matches. Without corrections it is 12 %. */
const LATE_CLOSES_MAX = 6

/**
 * The strategy holds a player both ways and leaves with the side that the news hurts. What that side is paid is
 * corrected, so half of the closes are.
 */
const lateCloses: Check = (line) => {
  if (!line.name.startsWith('closes') || !isAhead(line, 40)) return null
  const part = line.corrected / Math.max(1, line.trades)
  return part < 0.4 ? `only ${(100 * part).toFixed(0)} % of the closes were corrected` : above(line, LATE_CLOSES_MAX)
}

/** A hold that ends before the statistics are there lets users open what the statistics then make void. */
const holds: Check = (line) => {
  if (!line.name.startsWith('statistics')) return null
  const part = line.voids / Math.max(1, line.trades)
  return line.trades >= 10 && part > 0.5 ? `${(100 * part).toFixed(0)} % of the positions were void` : null
}

/** Groups that never reach the cap: there a base that moves under them changes nothing. */
const BELOW_CAP = ['nine take-profits', 'stop ladder']

/** The house pays no group for moving a price, whatever the order of its trades. */
const crowd: Check = ({ knows, isLeader, name, crowdPct }) => {
  if (knows !== 'public' || isLeader) return null
  const most = BELOW_CAP.includes(name) ? 0.02 : 0.3
  return Math.abs(crowdPct) > most ? `the crowd's part comes to ${crowdPct.toFixed(3)} %, not to nothing` : null
}

/** What the cap is worth, in per cent of margin, and a little for the rounding of steps. */
const CAP_PCT = 5.2

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
  if (name !== 'long the bench' && name !== 'levels a hair away') return null
  if (asked === 0) return 'was not tried'
  return trades > 0 ? `was allowed ${trades} times` : null
}

/** In few matches chance is loud; without the rules these earn 5 to 30 %. */
const AFTER_NEWS_MAX = 4.5
const afterNews: Check = (line) =>
  / \+\d+ s$/.test(line.name) && line.trades >= 10 ? above(line, AFTER_NEWS_MAX) : null
const above = ({ roiPct }: Line, most: number): string | null =>
  roiPct > most ? `earns ${roiPct.toFixed(2)} %, more than ${most} %` : null

/** Follows the price feed alone, some hundred times a match: here chance is quiet. */
const followers: Check = (line) => (line.name === 'follow moves of 0.1 %' ? earns(line, 0.5) : null)

const CHECKS: readonly Check[] = [lateOpens, lateCloses, holds, crowd, leaders, refused, afterNews, followers]

/** What does not hold in these matches. The same question may be asked after each of them. */
export function complaints(season: readonly MatchResult[]): readonly string[] {
  return linesOf(season).flatMap((line) =>
    CHECKS.flatMap((check) => {
      const complaint = check(line)
      return complaint === null ? [] : [`${line.name}: ${complaint}`]
    }),
  )
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

/** Defenders have no statistic of their own for a goal conceded: their ratings fall when the keeper's tells of it. */
export async function complaintsAboutTheBackLine(): Promise<readonly string[]> {
  const roles = { 1: 'FWD', 2: 'GK', 4: 'DEF' } as const
  const squad = ([1, 2, 4] as const).map((n) => player(n, { role: roles[n], details: {} }))
  const rig = await ActorRig.set({
    record: record({ instruments: ([1, 2, 4] as const).map((n) => instrument(n, { role: roles[n] })) }),
  })
  await rig.moves({ players: squad })
  const goal = { home: { id: 1, name: 'Harbour', goals: 1 }, events: [{ ...GOAL, playerId: playerId(1) }] }
  for (let n = 0; n < 3; n += 1) {
    rig.world.pass(10 * SECOND_MS)
    await rig.moves({ ...goal, players: squad })
  }
  const { status } = rig.actor.window(P(4))
  return status === 'OPEN' ? ['a defender may be shorted before the statistics tell of the goal'] : []
}

/** Ten accounts push a price up just before a goal; once they are void, they have what they had. */
export async function complaintsAboutPumps(): Promise<readonly string[]> {
  const rig = await ActorRig.set({
    rules: { lateVoidMs: DEFAULT_RULES.lateVoidMs },
    record: record({ instruments: [instrument(1, { role: 'FWD' })] }),
    users: 10,
  })
  const squad = [player(1, { role: 'FWD', details: {} })]
  await rig.moves({ players: squad })
  for (let n = 1; n <= 10; n += 1) {
    rig.actor.takeUnpublished()
    const published = present(rig.actor.view.instrument(P(1)), 'instrument').published
    await rig.opens({ userId: U(n), lots: lots(5 * MICROS_PER_UNIT), clientPrice: published })
  }
  rig.world.pass(10 * SECOND_MS)
  const goal = { home: { id: 1, name: 'Harbour', goals: 1 }, events: [{ ...GOAL, playerId: playerId(1) }] }
  await rig.moves({ ...goal, players: squad })
  const voids = [...rig.store.positions.values()].flatMap(({ close }) => (close?.by === 'void' ? [close] : []))
  const gained = voids.reduce((sum, { pnl }) => sum + pnl, 0) / MICROS_PER_UNIT
  if (voids.length < 10) return [`ten who pump before a goal: only ${voids.length} are void`]
  return Math.abs(gained) > 0.001 ? [`ten who pump before a goal: gain ${gained.toFixed(3)} units by leaving`] : []
}

const units = (n: number): Money => money(n * MICROS_PER_UNIT)

/** One lucky position of five units is no career. */
export function complaintsAboutBoards(): readonly string[] {
  const roi = (margin: number, baseMoves: number): number =>
    roiPpm({ baseMoves: units(baseMoves), stake: stakeOf(units(margin), ROI_FLOOR) })
  return roi(5, 5) >= roi(60_000, 1_200) ? ['boards: who won five units once leads who won a thousand'] : []
}
