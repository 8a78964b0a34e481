/**
 * The goals, cards and substitutions that count now. The provider's list is complete, but it may lose rows, change them
 * and bring them back. So it is compared with the rows seen before, and nothing is summed over time.
 */
import { type FixtureSnapshot, type Side, SIDES } from '../fixture.ts'
import {
  concernsAll,
  clockMinute,
  counts,
  type Incident,
  isDisallowed,
  isGoal,
  isListed,
  isUpheld,
  isVar,
  type MatchNews,
  near,
  REVIEW_SECS,
  scoringSide,
  within,
} from '../incidents.ts'
import { STATISTIC } from '../scoring.ts'
import { type Candidate, isReviewed, pairRows } from './rows.ts'

interface Reconciled {
  readonly incidents: readonly Incident[]
  readonly news: readonly MatchNews[]
  /** The first ids of events that counted before and no longer do. */
  readonly cancelled: readonly number[]
}

/**
 * The incidents after this snapshot, and the news among them. A snapshot without a list keeps the last one. `secs` of
 * play have been played.
 */
export function reconcile(snapshot: FixtureSnapshot, remembered: readonly Incident[], secs: number): Reconciled {
  const candidates = pairRows(snapshot, remembered, secs)
  const annulled = annulledBy(candidates)
  const standing = candidates.filter((c) => stands(c, candidates, snapshot) && !annulled.has(c))
  const kept = withinScore(standing, snapshot)
  const counted = new Set([...kept, ...heldAgainst(annulled, kept, snapshot, secs)])
  const results = candidates.map((c) => ({
    before: c.before,
    now: { ...c.row, standing: standingOf(c, counted.has(c), annulled.has(c)) },
  }))
  return {
    incidents: results.map((r) => r.now),
    news: results.flatMap((r) => newsOf(r.now, r.before)),
    cancelled: results.flatMap(({ now, before }) =>
      before !== null && counts(before) && !counts(now) ? [now.firstId] : [],
    ),
  }
}

/** Whether a snapshot lists an event that is not remembered, under whatever id. */
export const bringsNewEvents = (snapshot: FixtureSnapshot, remembered: readonly Incident[]): boolean =>
  pairRows(snapshot, remembered, 0).some(({ before }) => before === null)

/**
 * A row counts while it is listed. A vanished row counts for one more list, and as long as something else vouches for
 * it: the score for a goal, the statistics for a card or a substitute. A correction or a review takes it back at once.
 */
function stands(c: Candidate, all: readonly Candidate[], snapshot: FixtureSnapshot): boolean {
  const { row, before } = c
  if (c.rescinded || (row.playerId === null && row.kind !== 'substitution')) return false
  if (row.kind === 'penalty_missed' && isGoalToo(row, all, snapshot)) return false
  if (c.present) return true
  const isReviewable = row.kind !== 'substitution'
  if (before === null || !counts(before) || !isListed(row) || c.isCorrected || (isReviewable && isReviewed(row, all)))
    return false
  // A player comes on once, and what is stated of another penalty vouches for none.
  const isTold = !isGoal(row.kind) && all.some((other) => other.present && isOfSame(other.row, row))
  return before.standing === 'counted' || (!isTold && isVouchedFor(row, snapshot))
}

/** Whether a miss is a goal that is listed twice: one of its player and minute, which alone the statistics state. */
function isGoalToo(row: Candidate['row'], all: readonly Candidate[], { players }: FixtureSnapshot): boolean {
  const goals = all.filter((c) => c.present && isGoal(c.row.kind) && c.row.playerId === row.playerId)
  const details = players.find(({ playerId }) => playerId === row.playerId)?.details ?? {}
  return (
    goals.some((goal) => near(goal.row, row, 0)) &&
    (details[STATISTIC.goals] ?? 0) >= goals.length &&
    (details[STATISTIC.penaltiesMissed] ?? 0) === 0
  )
}

const isOfSame = (a: Candidate['row'], b: Candidate['row']): boolean => a.kind === b.kind && a.playerId === b.playerId

/** The score says how many goals there are: `withinScore` keeps no more. */
function isVouchedFor({ kind, side, playerId }: Candidate['row'], snapshot: FixtureSnapshot): boolean {
  if (isGoal(kind)) return side !== null && snapshot[side].goals !== null
  const player = snapshot.players.find((one) => one.playerId === playerId)
  const details = player?.details ?? {}
  const isStated = (...types: readonly number[]): boolean => types.some((type) => (details[type] ?? 0) > 0)
  if (kind === 'yellow') return isStated(STATISTIC.yellow)
  if (kind === 'red' || kind === 'second_yellow') return isStated(STATISTIC.red, STATISTIC.secondYellow)
  if (kind === 'penalty_missed') return isStated(STATISTIC.penaltiesMissed)
  // What a starter has done does not say that they came on.
  return kind === 'substitution' && player?.starter === false && Object.values(details).some((value) => value > 0)
}

/**
 * A VAR row that disallows a goal means the latest goal of its player, whether or not that is still listed, and each
 * such goal with the row. One that a later review gives again stands.
 */
function annulledBy(all: readonly Candidate[]): ReadonlyMap<Candidate, Candidate> {
  const annulled = new Map<Candidate, Candidate>()
  for (const review of all) {
    if (!review.present || !isDisallowed(review.row.addition)) continue
    const latest = all
      .filter((c) => isGoal(c.row.kind) && c.row.playerId !== null && c.row.playerId === review.row.playerId)
      .filter((c) => within(review.row, c.row) || review.row.minute === null || c.row.minute === null)
      .toSorted((a, b) => clockMinute(b.row) - clockMinute(a.row) || Number(a.present) - Number(b.present))[0]
    if (latest !== undefined && !all.some((other) => isGivenBy(other, review))) annulled.set(latest, review)
  }
  return annulled
}

/** Whether a review is a later one, of the same player if of any, and says that the goal stands. */
const isGivenBy = ({ row, present }: Candidate, { row: before }: Candidate): boolean =>
  present &&
  isUpheld(row) &&
  (row.playerId === null || row.playerId === before.playerId) &&
  (clockMinute(row) - clockMinute(before) || row.id - before.id) > 0

/** Goals that list and score hold against a review, long after it. */
function heldAgainst(
  annulled: ReadonlyMap<Candidate, Candidate>,
  counted: readonly Candidate[],
  snapshot: FixtureSnapshot,
  secs: number,
): readonly Candidate[] {
  const known = (side: Side): number =>
    counted.filter(({ row }) => isGoal(row.kind) && scoringSide(row) === side).length
  const missing = {
    home: (snapshot.home.goals ?? 0) - known('home'),
    away: (snapshot.away.goals ?? 0) - known('away'),
  }
  return [...annulled].flatMap(([goal, review]) => {
    const side = scoringSide(goal.row)
    if (!goal.present || goal.rescinded || side === null || secs - review.row.listedAt < REVIEW_SECS) return []
    return missing[side]-- > 0 ? [goal] : []
  })
}

/**
 * Keeps each side's goals within the current score: rows that repeat another are dropped first, then those of
 * players in no line-up, then those that repeat another minutes later, then those that no statistics state, then
 * vanished rows, then those that have not counted yet, then the latest.
 */
function withinScore(standing: readonly Candidate[], snapshot: FixtureSnapshot): readonly Candidate[] {
  const goals = standing.filter((c) => isGoal(c.row.kind))
  const capped = SIDES.flatMap((side) => {
    const score = snapshot[side].goals
    const own = goals.filter((c) => scoringSide(c.row) === side).toSorted(inOrder)
    if (score === null || own.length <= score) return own
    const [repeated, later] = [repeatedIn(own, snapshot), repeatedIn(own, snapshot, LATER_MINUTES)]
    const isStranger = ({ row }: Candidate): boolean => !snapshot.players.some((one) => one.playerId === row.playerId)
    const isStated = ({ row }: Candidate, n: number): boolean =>
      own.slice(0, n).filter((other) => other.row.playerId === row.playerId).length < statedOf(row, snapshot)
    const unstated = new Set(own.filter((goal, n) => !isStated(goal, n)))
    const doubt = (goal: Candidate): number =>
      (repeated.has(goal) ? 16 : 0) +
      (isStranger(goal) ? 8 : 0) +
      (later.has(goal) ? 4 : 0) +
      (unstated.has(goal) ? 2 : 0) +
      (goal.present ? 0 : 1)
    return own.toSorted((a, b) => doubt(a) - doubt(b)).slice(0, score)
  })
  return [...standing.filter((c) => !isGoal(c.row.kind)), ...capped]
}

/** What has counted comes first. */
function inOrder(a: Candidate, b: Candidate): number {
  const isKnown = ({ before }: Candidate): number => Number(before !== null && counts(before))
  return isKnown(b) - isKnown(a) || clockMinute(a.row) - clockMinute(b.row) || a.row.id - b.row.id
}

/** A row that repeats a goal may be dated as much later. */
const LATER_MINUTES = 3

/**
 * Goals in the minutes after an earlier one of their player, if the statistics state fewer, or the score has had no
 * goal for the row before.
 */
function repeatedIn(goals: readonly Candidate[], snapshot: FixtureSnapshot, minutes?: number): ReadonlySet<Candidate> {
  const found = new Set<Candidate>()
  for (const goal of goals) {
    const { row } = goal
    const own = goals.filter((other) => other.row.playerId === row.playerId)
    const isNear = (other: Candidate): boolean => !found.has(other) && near(other.row, row, minutes)
    const isDoubtful = statedOf(row, snapshot) < own.length || goal.before?.standing === 'seen'
    if (isDoubtful && own.slice(0, own.indexOf(goal)).some(isNear)) found.add(goal)
  }
  return found
}

/** The goals, or own goals, that the statistics of the player of a row state. */
function statedOf({ kind, playerId: scorer }: Candidate['row'], { players }: FixtureSnapshot): number {
  const type = kind === 'own_goal' ? STATISTIC.ownGoals : STATISTIC.goals
  return players.find(({ playerId }) => playerId === scorer)?.details?.[type] ?? 0
}

function standingOf(c: Candidate, counted: boolean, annulled: boolean): Incident['standing'] {
  if (counted) return c.present ? 'counted' : 'missing'
  const without = c.before === null || c.before.standing === 'seen' || isVar(c.row.kind)
  return without && c.present && !c.rescinded && !annulled ? 'seen' : 'cancelled'
}

function newsOf(now: Incident, before: Incident | null): readonly MatchNews[] {
  const wasThere = before !== null && before.standing !== 'cancelled'
  const news = (kind: MatchNews['kind'], wholeMatch = false): readonly MatchNews[] => {
    const players = [now.playerId, now.kind === 'goal' ? now.relatedPlayerId : null]
    return [{ eventId: now.id, kind, playerIds: players.filter((id) => id !== null), wholeMatch }]
  }
  if (isVar(now.kind)) return before === null ? news('var', concernsAll(now)) : []
  if (now.standing === 'cancelled') {
    return isGoal(now.kind) && before !== null && counts(before) ? news('goal_cancelled') : []
  }
  if (isGoal(now.kind)) {
    const named = wasThere && before.playerId === null && now.playerId !== null
    return !wasThere || named ? news('goal', now.playerId === null) : []
  }
  if (wasThere) return []
  if (now.kind === 'red' || now.kind === 'second_yellow') return news('red_card')
  return now.kind === 'penalty_missed' ? news('penalty') : []
}
