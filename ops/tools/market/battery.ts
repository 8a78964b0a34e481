/** A match played with the whole battery, in runs that do not disturb one another, and what came of it. */
import type { InstrumentId } from '../../../actors/kernel/ids.ts'
import type { TradingRules } from '../../../actors/kernel/limits.ts'
import type { Price } from '../../../actors/kernel/micros.ts'
import type { ScoringModel } from '../../../actors/market/pricing.ts'
import { withLateStatistics } from './plot.ts'
import { type Fixture, play } from './play.ts'
import type { Knowledge, Strategy } from './strategy.ts'
import { courtsideStrategies } from './strategies/courtside.ts'
import { CROWD } from './strategies/crowd.ts'
import { afterLateStatistics, publicStrategies } from './strategies/public.ts'
import { type Swing, swingsOf } from './swings.ts'
import { type Tally, tallyOf } from './tally.ts'

/** Seconds by which statistics trail the list of events in a run of their own. */
const STATISTICS_LATE = 30

export interface Terms {
  readonly rules: TradingRules
  readonly model: ScoringModel
}

/** What a line of the table is about. */
export interface Subject {
  readonly name: string
  readonly knows: Knowledge
  /** A leader wins what the others lose: only what the group takes together comes from the house. */
  readonly isLeader: boolean
}

export interface MatchResult {
  readonly tallies: readonly (Subject & Tally)[]
  readonly swings: readonly Swing[]
}

/** The strategies that trade alone, with sizes that disturb nobody: one run is enough for all of them. */
const loners = ({ rules }: Terms, seed: number): readonly Strategy[] => [
  ...publicStrategies(rules.levelDistancePpm, seed),
  ...courtsideStrategies(rules),
]

/** Plays a match with every strategy. */
export async function playBattery(fixture: Fixture, terms: Terms, seed: number): Promise<MatchResult> {
  const late = withLateStatistics(fixture.snapshots, STATISTICS_LATE / 10)
  const none: readonly ReadonlyMap<InstrumentId, Price>[] = []
  const strategies = { crowd: CROWD, late: afterLateStatistics(STATISTICS_LATE), loners: loners(terms, seed) }
  const crowd = await play({ fixture, ...terms, strategies: strategies.crowd, bases: none })
  const behind = { ...fixture, snapshots: late }
  const runs = [
    [strategies.crowd, crowd],
    [strategies.late, await play({ fixture: behind, ...terms, strategies: strategies.late, bases: none })],
    [strategies.loners, await play({ fixture, ...terms, strategies: strategies.loners, bases: crowd.bases })],
  ] as const
  const tallies = runs.flatMap(([of, played]) => of.flatMap((strategy) => linesOf(strategy, played)))
  return { tallies, swings: swingsOf(crowd) }
}

function linesOf(
  { name, knows, leader }: Strategy,
  { trades, refused }: Awaited<ReturnType<typeof play>>,
): readonly (Subject & Tally)[] {
  const own = trades.get(name) ?? []
  const whole = { name, knows, isLeader: false, ...tallyOf(own, refused.get(name) ?? 0) }
  if (leader === undefined) return [whole]
  const led = own.filter(({ account }) => account.endsWith(`/${leader}`))
  return [whole, { name: `… its ${leader}`, knows, isLeader: true, ...tallyOf(led, 0) }]
}
