/** Discrete actions that the statistics tell of, and when the list of events does not. */
import type { PlayerRole } from './fixture.ts'
import { type Incident, isCard, isGoal } from './incidents.ts'
import { type Counts, STATISTIC } from './scoring.ts'

/** Discrete actions according to the statistics. */
export function countsIn(details: Readonly<Record<number, number>>, role: PlayerRole): Counts {
  const penaltyGoals = details[STATISTIC.penaltyGoals] ?? 0
  const all: Counts = {
    goal: Math.max(0, (details[STATISTIC.goals] ?? 0) - penaltyGoals),
    penalty_goal: penaltyGoals,
    assist: details[STATISTIC.assists] ?? 0,
    own_goal: details[STATISTIC.ownGoals] ?? 0,
    conceded: details[STATISTIC.conceded] ?? 0,
    yellow: details[STATISTIC.yellow] ?? 0,
    red: details[STATISTIC.red] ?? 0,
    second_yellow: details[STATISTIC.secondYellow] ?? 0,
    penalty_saved: role === 'GK' ? (details[STATISTIC.penaltiesSaved] ?? 0) : 0,
  }
  return Object.fromEntries(Object.entries(all).filter(([, n]) => n > 0))
}

/**
 * The counts that must come from statistics: penalties saved always (no row of the list names the goalkeeper), goals
 * and cards in fixtures whose list has never shown one.
 */
export function countsNotListed(incidents: readonly Incident[], fromDetails: Counts): Counts {
  const goalsListed = incidents.some((i) => isGoal(i.kind))
  const cardsListed = incidents.some((i) => isCard(i.kind))
  const { penalty_saved, yellow, red, second_yellow, ...goals } = fromDetails
  const listed = {
    penalty_saved,
    ...(cardsListed ? {} : { yellow, red, second_yellow }),
    ...(goalsListed ? {} : goals),
  }
  return Object.fromEntries(Object.entries(listed).filter(([, n]) => n !== undefined))
}
