/**
 * Discrete actions that the statistics tell of: those that the list of events does not have yet, and those that it has
 * and the statistics do not.
 */
import type { PlayerRole } from './fixture.ts'
import { type Counts, type DiscreteAction, STATISTIC } from './scoring.ts'
import type { Tally } from './tally.ts'

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
    penalty_missed: details[STATISTIC.penaltiesMissed] ?? 0,
    penalty_saved: role === 'GK' ? (details[STATISTIC.penaltiesSaved] ?? 0) : 0,
  }
  return Object.fromEntries(Object.entries(all).filter(([, n]) => n > 0))
}

/**
 * Actions that list and statistics count alike. A player is booked and sent off once at most: providers disagree about
 * what a second yellow card adds to either. No row of the list names a keeper who saves a penalty.
 */
const ALIKE: readonly { readonly actions: readonly DiscreteAction[]; readonly once?: true }[] = [
  { actions: ['goal', 'penalty_goal'] },
  { actions: ['assist'] },
  { actions: ['own_goal'] },
  { actions: ['penalty_missed'] },
  { actions: ['penalty_saved'] },
  { actions: ['yellow'], once: true },
  { actions: ['red', 'second_yellow'], once: true },
  { actions: ['conceded'] },
]

/** What the list and the statistics differ in. */
export interface Differences {
  /** Stated, and not listed. */
  readonly ahead: Counts
  /** Listed, new, and not stated yet. */
  readonly owed: Counts
}

const NONE: Differences = { ahead: {}, owed: {} }

/** `takenBack` is what the list has taken back and the statistics have not. */
export function differencesIn({ listed, fresh }: Tally, stated: Counts, takenBack: Counts): Differences {
  let found = NONE
  for (const { actions, once } of ALIKE) {
    const sum = (of: Counts): number => {
      const n = actions.reduce((total, action) => total + (of[action] ?? 0), 0)
      return once === true ? Math.min(1, n) : n
    }
    const difference = sum(listed) - sum(stated)
    const action = actions.find((one) => (difference > 0 ? fresh : stated)[one] !== undefined)
    if (difference === 0 || action === undefined) continue
    const by = difference > 0 ? Math.min(difference, sum(fresh)) : Math.max(0, -difference - sum(takenBack))
    const side = difference > 0 ? 'owed' : 'ahead'
    if (by > 0) found = { ...found, [side]: { ...found[side], [action]: by } }
  }
  return found
}

/** What the list has taken back, and the statistics still state. */
export function takenBackOf(before: { listed: Counts; takenBack: Counts }, listed: Counts, stated: Counts): Counts {
  const left: Partial<Record<DiscreteAction, number>> = {}
  for (const { actions } of ALIKE) {
    for (const action of actions) {
      const [was, is] = [before.listed[action] ?? 0, listed[action] ?? 0]
      const back = (before.takenBack[action] ?? 0) + Math.max(0, was - is)
      const by = back === 0 ? 0 : Math.min(back, Math.max(0, (stated[action] ?? 0) - is))
      if (by > 0) left[action] = by
    }
  }
  return left
}
