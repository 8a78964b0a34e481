/** Seasons: one a month for all users, in divisions whose groups promote their best and relegate their last. */
import { dateAt, startOfDate } from '../../../actors/kernel/calendar.ts'
import type { Money } from '../../../actors/kernel/micros.ts'
import { type Instant, instant } from '../../../actors/kernel/world.ts'

/** From the first, the highest, to the last, in which newcomers begin. */
export const DIVISIONS = 5
/** Members of one group. */
export const GROUP_MAX = 50
/** A group promotes one member in five, and relegates one in five. */
const ONE_IN = 5

export interface Season {
  /** A month in UTC: `2026-11`. */
  readonly id: string
  /** For people: "November 2026". */
  readonly name: string
  readonly startsAt: Instant
  readonly endsAt: Instant
}

const MONTHS = [
  'January',
  'February',
  'March',
  'April',
  'May',
  'June',
  'July',
  'August',
  'September',
  'October',
  'November',
  'December',
]

/** The season of a moment: the month it lies in, in UTC. */
export function seasonAt(now: Instant): Season {
  const { year, month } = dateAt(now)
  return {
    id: `${year}-${String(month).padStart(2, '0')}`,
    name: `${MONTHS[month - 1]} ${year}`,
    startsAt: instant(startOfDate({ year, month, day: 1 })),
    endsAt: instant(startOfDate({ year, month: month + 1, day: 1 })),
  }
}

export type SeasonOutcome = 'promoted' | 'relegated' | 'stays'

export interface SeasonResult {
  readonly division: number
  readonly rank: number
  /** Of the group. */
  readonly members: number
  readonly value: Money
  /** The balance that every member started with. */
  readonly starting: Money
}

/**
 * What a place in a group means for the next season. The best fifth, rounded up, goes up if it has gained something;
 * the last fifth, rounded down, goes down. The first division does not promote, and the last does not relegate.
 */ // G5
export function outcomeOf({ division, rank, members, value, starting }: SeasonResult): SeasonOutcome {
  if (rank <= Math.ceil(members / ONE_IN) && value > starting) return division === 1 ? 'stays' : 'promoted'
  if (rank > members - Math.floor(members / ONE_IN)) return division === DIVISIONS ? 'stays' : 'relegated'
  return 'stays'
}

/** The division of the next season. */ // G5
export function divisionAfter(result: SeasonResult): number {
  const step = { promoted: -1, relegated: 1, stays: 0 }[outcomeOf(result)]
  return result.division + step
}
