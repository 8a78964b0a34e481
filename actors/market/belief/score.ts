/** Which score is believed. Pure. */
import { type FixturePlayer, type FixtureSnapshot, type SaidFixture, type Side, SIDES } from '../fixture.ts'
import { isGoal } from '../incidents.ts'
import type { Doubts } from './beliefs.ts'
import { isHeldAgainst, statedGoals } from './evidence.ts'
import { goalsCanFollow } from './plausible.ts'

interface Known extends Pick<FixtureSnapshot, Side> {
  readonly squad: readonly FixturePlayer[]
}

interface Around {
  /** The list says that something no longer counts. */
  readonly isExplained: boolean
  /** There is a shoot-out, or has been. */
  readonly isShootout: boolean
  /** Of play since the last update. */
  readonly minutes: number
}

/**
 * A score that falls waits, unless the list says why. In a shoot-out none moves that was level. A score has at least
 * the goals that the list has and the statistics of their scorers stated before: a provider may show an old one, or
 * that of the other side.
 */
export function scoreAfter(
  said: SaidFixture,
  known: Known,
  { goals: waiting }: Doubts,
  { isExplained, isShootout, minutes }: Around,
) {
  const goals: Record<Side, number | null> = { home: null, away: null }
  const doubts: Record<Side, number | null> = { home: null, away: null }
  let hasFallen = false
  const isLevel = known.home.goals === known.away.goals
  const kept = { home: known.home.goals, away: known.away.goals }
  if (isShootout && isLevel && kept.home !== null && !isScoreListed(said)) return { goals: kept, doubts, hasFallen }
  const vouched = isShootout ? { home: 0, away: 0 } : vouchedGoals(said, known)
  const withVouched = (side: Side, score: number | null): number | null =>
    score === null ? null : Math.max(score, vouched[side])
  const isHeld = SIDES.some((side) => isHeldAgainst(said, known, side))
  if (isHeld && !isExplained) {
    const least = { home: withVouched('home', kept.home), away: withVouched('away', kept.away) }
    return { goals: least, doubts: { home: said.home.goals, away: said.away.goals }, hasFallen }
  }
  for (const side of SIDES) {
    const [told, before, first] = [said[side].goals, known[side].goals, waiting[side]]
    const now = withVouched(side, told ?? before)
    const isBelieved =
      now === null ||
      before === null ||
      goalsCanFollow(before, now, minutes) ||
      (isExplained && now < before) ||
      (first !== null && goalsCanFollow(first, now, minutes))
    goals[side] = isBelieved ? (now ?? before) : before
    doubts[side] = isBelieved ? (told === null ? first : null) : now
    hasFallen ||= (goals[side] ?? 0) < (before ?? 0)
  }
  return { goals, doubts, hasFallen }
}

/** Goals that list and statistics agree on. */
function vouchedGoals({ events, players: rows }: SaidFixture, { squad }: Known): Readonly<Record<Side, number>> {
  const goalsOf = (side: Side): number =>
    Math.min(...[rows, []].map((players) => statedGoals({ events, players }, squad, side)))
  return { home: goalsOf('home'), away: goalsOf('away') }
}

/** Whether the list has as many goals of each side as the score, so that the score counts no kick of a shoot-out. */
const isScoreListed = (said: SaidFixture): boolean =>
  SIDES.every((side) => {
    const goals = said.events?.filter((row) => isGoal(row.kind) && row.side === side && !row.rescinded)
    return goals?.length === said[side].goals
  })
