/** The Gregorian calendar in UTC, by arithmetic alone (Hinnant, "chrono-compatible low-level date algorithms"). */
import { DAY_MS, type Instant, instant } from './world.ts'

export interface CalendarDate {
  readonly year: number
  /** 1 to 12. */
  readonly month: number
  readonly day: number
}

const DAYS_OF_400_YEARS = 146_097
/** From 1 March of the year 0 to 1 January 1970. */
const EPOCH_DAYS = 719_468

/** The first moment of a date, in milliseconds since 1970. A month beyond December is one of the next year. */
export function startOfDate({ year, month, day }: CalendarDate): number {
  const carried = year + Math.floor((month - 1) / 12)
  const inYear = ((((month - 1) % 12) + 12) % 12) + 1
  // Years begin in March, so that a leap day is the last one.
  const y = inYear <= 2 ? carried - 1 : carried
  const era = Math.floor(y / 400)
  const yearOfEra = y - era * 400
  const dayOfYear = Math.floor((153 * (inYear > 2 ? inYear - 3 : inYear + 9) + 2) / 5) + day - 1
  const dayOfEra = yearOfEra * 365 + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100) + dayOfYear
  return (era * DAYS_OF_400_YEARS + dayOfEra - EPOCH_DAYS) * DAY_MS
}

/** The date that a moment lies in. */
export function dateAt(ms: number): CalendarDate {
  const days = Math.floor(ms / DAY_MS) + EPOCH_DAYS
  const era = Math.floor(days / DAYS_OF_400_YEARS)
  const dayOfEra = days - era * DAYS_OF_400_YEARS
  const yearOfEra = Math.floor(
    (dayOfEra - Math.floor(dayOfEra / 1_460) + Math.floor(dayOfEra / 36_524) - Math.floor(dayOfEra / 146_096)) / 365,
  )
  const dayOfYear = dayOfEra - (365 * yearOfEra + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100))
  const inMarchYear = Math.floor((5 * dayOfYear + 2) / 153)
  const month = inMarchYear < 10 ? inMarchYear + 3 : inMarchYear - 9
  return {
    year: yearOfEra + era * 400 + (month <= 2 ? 1 : 0),
    month,
    day: dayOfYear - Math.floor((153 * inMarchYear + 2) / 5) + 1,
  }
}

const WEEK_MS = 7 * DAY_MS
/** 1970-01-01 was a Thursday: the first Monday came four days later. */
const FIRST_MONDAY_MS = 4 * DAY_MS

/** An ISO week: Monday 00:00 UTC to the next. */
export interface Week {
  /** `2026-W21`. */
  readonly name: string
  readonly startsAt: Instant
  readonly endsAt: Instant
}

/** The week of an instant. The first millisecond of Monday belongs to the new week. */
export function weekOf(at: Instant): Week {
  const startsAt = mondayOf(at)
  // The week belongs to the year of its Thursday.
  const thursday = startsAt + 3 * DAY_MS
  const { year } = dateAt(thursday)
  const number = 1 + Math.floor((thursday - startOfDate({ year, month: 1, day: 1 })) / WEEK_MS)
  return {
    name: `${year}-W${String(number).padStart(2, '0')}`,
    startsAt: instant(startsAt),
    endsAt: instant(startsAt + WEEK_MS),
  }
}

export const weekBefore = (week: Week): Week => weekOf(instant(week.startsAt - 1))
export const weekAfter = (week: Week): Week => weekOf(week.endsAt)

const NAME = /^(\d{4})-W(\d{2})$/

/** A week by its name; null for one that does not exist. */
export function weekNamed(name: string): Week | null {
  const [, year, number] = NAME.exec(name) ?? []
  if (year === undefined || number === undefined) return null
  // The first week of a year holds 4 January.
  const first = mondayOf(startOfDate({ year: Number(year), month: 1, day: 4 }))
  const week = weekOf(instant(first + (Number(number) - 1) * WEEK_MS))
  return week.name === name ? week : null
}

const mondayOf = (at: number): number => FIRST_MONDAY_MS + Math.floor((at - FIRST_MONDAY_MS) / WEEK_MS) * WEEK_MS
