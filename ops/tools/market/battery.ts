/** A match played with the whole battery, in runs that do not disturb one another, and what came of it. */
import type { TradingRules } from '../../../actors/kernel/limits.ts'
import type { ScoringModel } from '../../../actors/market/pricing.ts'
import { FEED_NAMES, feedOf, type FeedName, IN_TIME, ROWS_LATE, WRONG_SCORERS } from './feeds.ts'
import { plotOf } from './plot.ts'
import { type Fixture, play, type Played } from './play.ts'
import type { Strategy } from './strategy.ts'
import { courtsideStrategies } from './strategies/courtside.ts'
import { CROWD } from './strategies/crowd.ts'
import { followers, publicStrategies } from './strategies/public.ts'
import { REACTIONS, witnessesOfLateRows, witnessesOfWrongScorers } from './strategies/reactions.ts'
import { type Swing, swingsOf } from './swings.ts'
import { type Tally, tallyOf } from './tally.ts'

export interface Terms {
  readonly rules: TradingRules
  readonly model: ScoringModel
}

/** What a line of the table is about. */
export interface Subject {
  readonly name: string
  readonly feed: FeedName
  readonly leadSecs: number
  /** A leader wins what the others lose: only what the group takes together comes from the house. */
  readonly isLeader: boolean
}

export interface MatchResult {
  readonly tallies: readonly (Subject & Tally)[]
  readonly swings: readonly Swing[]
}

/** How far the levels of strategies are from the price, in parts per million. */
const LEVEL_PPM = 5_000

/** The strategies that trade alone, with sizes that disturb nobody: one run of a feed is enough for all of them. */
function loners(feed: FeedName, seed: number): readonly Strategy[] {
  if (feed === IN_TIME) return [...publicStrategies(LEVEL_PPM, seed), ...REACTIONS, ...courtsideStrategies()]
  // A list that is always wrong would tell everybody who has not scored.
  if (feed === WRONG_SCORERS) return witnessesOfWrongScorers(120)
  const common = [...followers(seed), ...REACTIONS]
  return feed === ROWS_LATE ? [...common, ...witnessesOfLateRows(90)] : common
}

/** Plays a match with every strategy. */
export async function playBattery(
  fixture: Fixture,
  terms: Terms,
  seed: number,
  feeds: readonly FeedName[] = FEED_NAMES,
): Promise<MatchResult> {
  const crowd = await play({ fixture, ...terms, strategies: CROWD, bases: [] })
  const tallies = CROWD.flatMap((strategy) => linesOf(strategy, IN_TIME, crowd))
  for (const feed of feeds) {
    const snapshots = feedOf(feed)(fixture.snapshots)
    const strategies = loners(feed, seed)
    const bases = feed === IN_TIME ? crowd.bases : []
    const told = { ...fixture, snapshots, plot: plotOf(snapshots) }
    const played = await play({ fixture: told, ...terms, strategies, bases })
    tallies.push(...strategies.flatMap((strategy) => linesOf(strategy, feed, played)))
  }
  return { tallies, swings: swingsOf(crowd) }
}

function linesOf(
  { name, leadSecs, leader, isLeaderLucky = false }: Strategy,
  feed: FeedName,
  { trades, refused }: Played,
): readonly (Subject & Tally)[] {
  const own = trades.get(name) ?? []
  const subject: Subject = { name, feed, leadSecs, isLeader: false }
  const whole: Subject & Tally = { ...subject, ...tallyOf(own, refused.get(name) ?? 0) }
  if (leader === undefined) return [whole]
  const led = tallyOf(
    own.filter(({ account }) => account.endsWith(`/${leader}`)),
    0,
  )
  const luck = isLeaderLucky ? led.baseMoves : 0
  return [
    { ...whole, pnl: whole.pnl - luck, baseMoves: whole.baseMoves - luck },
    { ...subject, name: `… its ${leader}`, isLeader: true, ...led },
  ]
}
