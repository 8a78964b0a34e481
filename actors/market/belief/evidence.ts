/** What a list of events says about counts that fall: it explains them, or vouches for what they were. */
import type { PlayerId } from '../../kernel/ids.ts'
import type { FixtureEvent, FixturePlayer, FixtureSnapshot, SaidFixture, Side } from '../fixture.ts'
import { isGoal, isTakenBack, isVar, near } from '../incidents.ts'
import type { ReportedEvent } from '../match-report.ts'
import { STATISTIC } from '../scoring.ts'
import { otherSide } from './known-players.ts'
import { type Details, isCount } from './plausible.ts'
import { family } from './rows.ts'

export interface Evidence {
  /** A new row says that something no longer counts: scores and statistics may fall at once. */
  readonly isExplained: boolean
  /** The same for these players: a row now names another. */
  readonly corrected: ReadonlySet<PlayerId | null>
  /** The players of rows that no longer count. */
  readonly takenBack: ReadonlySet<PlayerId | null>
  /** How much of this statistic of a player is vouched for by rows that count, or by the score. */
  readonly vouchedFor: (player: PlayerId, type: number) => number
}

export function evidenceIn({ events }: Pick<SaidFixture, 'events'>, reported: readonly ReportedEvent[]): Evidence {
  const counting = reported.filter(({ retracted }) => !retracted)
  const known = new Map(reported.map((row) => [row.id, row]))
  const listed = new Set(events?.map(({ id }) => id))
  const corrected = new Set<PlayerId | null>()
  for (const row of events ?? []) {
    for (const before of counting.filter((one) => isInPlaceOf(row, one, { known, listed }))) {
      const isOther = row.playerId !== before.playerId
      if (isOther) corrected.add(before.playerId)
      const isOtherRelated = row.relatedPlayerId !== before.relatedPlayerId
      if (isOtherRelated && (isOther || row.relatedPlayerId !== null)) corrected.add(before.relatedPlayerId)
    }
  }
  const isStanding = (row: ReportedEvent): boolean => isGoal(row.kind) || events === null || listed.has(row.id)
  return {
    isExplained: events?.some((row) => isTakenBack(row) && !wasTakenBack(known.get(row.id))) === true,
    corrected,
    takenBack: playersOf([...reported.filter(({ retracted }) => retracted), ...(events?.filter(isTakenBack) ?? [])]),
    vouchedFor: (player, type) => counting.filter((row) => isStanding(row) && isStatedBy(row, player, type)).length,
  }
}

const wasTakenBack = (row: ReportedEvent | undefined): boolean => row !== undefined && isTakenBack(row)

const playersOf = (rows: readonly FixtureEvent[]): ReadonlySet<PlayerId | null> =>
  new Set(rows.flatMap(({ playerId, relatedPlayerId }) => [playerId, relatedPlayerId]))

/** Whether a row has the id of one that counts and says something else, or is new and takes its place. */
function isInPlaceOf(
  row: FixtureEvent,
  before: ReportedEvent,
  { known, listed }: { readonly known: ReadonlyMap<number, ReportedEvent>; readonly listed: ReadonlySet<number> },
): boolean {
  // No statistic counts substitutions.
  if (row.kind === 'substitution') return false
  const isSame = row.playerId === before.playerId && row.relatedPlayerId === before.relatedPlayerId
  if (row.id === before.id) return !isSame && row.playerId !== null
  const isNew = !known.has(row.id) && !listed.has(before.id)
  return isNew && family(row.kind) === family(before.kind) && row.side === before.side && near(row, before) && !isSame
}

/** Whether a row is what a statistic of a player counts. Every goal is conceded by a keeper. */
function isStatedBy({ kind, playerId, relatedPlayerId }: ReportedEvent, player: PlayerId, type: number): boolean {
  if (isGoal(kind)) {
    if (type === STATISTIC.conceded) return true
    if (type === STATISTIC.assists) return relatedPlayerId === player
    return playerId === player && statedBy(kind).includes(type)
  }
  if (playerId !== player) return false
  if (kind === 'yellow') return type === STATISTIC.yellow
  return (kind === 'red' || kind === 'second_yellow') && (type === STATISTIC.red || type === STATISTIC.secondYellow)
}

/**
 * Whether a score has fallen although the list has its goals, and the statistics those of their scorers; or by several
 * goals that the statistics had: a provider takes back one at a time.
 */
export function isHeldAgainst(
  { events, players, ...said }: SaidFixture,
  { squad, ...known }: Pick<FixtureSnapshot, Side> & { readonly squad: FixtureSnapshot['players'] },
  side: Side,
): boolean {
  const [now, before] = [said[side].goals, known[side].goals]
  if (now === null || before === null || now >= before) return false
  const fall = (of: Side): number => Math.max(0, (known[of].goals ?? 0) - (said[of].goals ?? known[of].goals ?? 0))
  const stated = ({ playerId, side: own, details: last }: FixturePlayer): number => {
    const details = players.find((one) => one.playerId === playerId)?.details ?? {}
    const isCounted = Object.keys(details).some((type) => isCount(Number(type)))
    return statedIn((isCounted ? details : last) ?? {}, own === side ? 'goal' : 'own_goal')
  }
  if (fall('home') + fall('away') > 1 && squad.reduce((sum, one) => sum + stated(one), 0) >= before) return true
  return statedGoals({ events, players }, squad, side) >= before
}

/** A review is dated so near to the goal that it means: play may have gone on, or added time be missing. */
const REVIEWED_MINUTES = 5

/** The goals of a side that the list has and the statistics of scorers state who had none taken back. */
export function statedGoals(
  { events, players }: Pick<SaidFixture, 'events' | 'players'>,
  squad: FixtureSnapshot['players'],
  side: Side,
): number {
  const statedOf = ({ kind, playerId: scorer }: FixtureEvent): number => {
    const of = (row: { readonly playerId: PlayerId }): boolean => row.playerId === scorer
    return statedIn(players.find(of)?.details ?? squad.find(of)?.details ?? {}, kind)
  }
  const sideOf = ({ kind, playerId: scorer, side: filed }: FixtureEvent): Side | null => {
    const player = squad.find(({ playerId }) => playerId === scorer)
    return player === undefined ? filed : kind === 'own_goal' ? otherSide(player.side) : player.side
  }
  const isReview = (row: FixtureEvent): boolean => isTakenBack(row) && (isGoal(row.kind) || isVar(row.kind))
  const reviews = events?.filter(isReview) ?? []
  const isReviewed = (row: FixtureEvent): boolean =>
    reviews.some(
      (review) =>
        (review.playerId === null || review.playerId === row.playerId) &&
        (review.side === null || row.side === null || review.side === row.side) &&
        near(review, row, REVIEWED_MINUTES),
    )
  const goals = events?.filter((row) => isGoal(row.kind) && sideOf(row) === side && !isReviewed(row)) ?? []
  // A row that is listed twice is one goal of its scorer.
  const isStated = (row: FixtureEvent, n: number): boolean =>
    goals.slice(0, n).filter(({ playerId }) => playerId === row.playerId).length < statedOf(row)
  return goals.filter(isStated).length
}

const statedIn = (details: Details, kind: FixtureEvent['kind']): number =>
  Math.max(...statedBy(kind).map((type) => details[type] ?? 0))

/** The statistics of its scorer that count a goal. */
const statedBy = (kind: FixtureEvent['kind']): readonly number[] =>
  kind === 'own_goal' ? [STATISTIC.ownGoals] : [STATISTIC.goals, STATISTIC.penaltyGoals]
