/** The weekly spinner: weeks, who is in the draw, and which of them a seed draws that was promised when the week began. */
import { assert } from '../kernel/assert.ts'
import type { UserId } from '../kernel/ids.ts'
import { type Money, mulDivNearest } from '../kernel/micros.ts'
import { HOUR_MS, type Instant, instant } from '../kernel/world.ts'

const DAY_MS = 24 * HOUR_MS
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

/** The week of an instant. A Monday's first millisecond is the new week's. */
export function weekOf(at: Instant): Week {
  const startsAt = instant(FIRST_MONDAY_MS + Math.floor((at - FIRST_MONDAY_MS) / WEEK_MS) * WEEK_MS)
  // The week belongs to the year of its Thursday.
  const thursday = startsAt + 3 * DAY_MS
  const year = yearOf(thursday)
  const number = 1 + Math.floor((thursday - yearStart(year)) / WEEK_MS)
  return {
    name: `${year}-W${String(number).padStart(2, '0')}`,
    startsAt,
    endsAt: instant(startsAt + WEEK_MS),
  }
}

export const weekBefore = (week: Week): Week => weekOf(instant(week.startsAt - 1))
export const weekAfter = (week: Week): Week => weekOf(week.endsAt)

const leapsBefore = (year: number): number =>
  Math.floor((year - 1) / 4) - Math.floor((year - 1) / 100) + Math.floor((year - 1) / 400)

const yearStart = (year: number): number => ((year - 1970) * 365 + leapsBefore(year) - leapsBefore(1970)) * DAY_MS

function yearOf(ms: number): number {
  const near = 1970 + Math.floor(ms / (365.2425 * DAY_MS))
  if (ms < yearStart(near)) return near - 1
  return ms >= yearStart(near + 1) ? near + 1 : near
}

/** ROI in hundredths of a per cent: two candidates are equal when people see the same figure. */
export const roiHundredths = (pnl: Money, margin: Money): number =>
  margin === 0 ? 0 : mulDivNearest(pnl, 10_000, margin)

/** Those who are in the draw, in the order the draw counts them. */
const drawOrder = (candidates: readonly UserId[]): readonly UserId[] => candidates.toSorted()

/**
 * What the seed is applied to: HMAC-SHA256 with the seed as key over this text gives the digest that `drawn` reads. It
 * names the week and everybody in the draw, so that nothing can be changed afterwards.
 */
export const drawText = (week: string, candidates: readonly UserId[]): string =>
  [week, ...drawOrder(candidates)].join('\n')

/** Whom a digest (hex) draws of the candidates. 256 bits over a few candidates favour none of them measurably. */
export function drawn(digest: string, candidates: readonly UserId[]): UserId | null {
  assert(/^[0-9a-f]{64}$/.test(digest), 'a draw takes a SHA-256 digest in hex')
  if (candidates.length === 0) return null
  return drawOrder(candidates)[Number(BigInt(`0x${digest}`) % BigInt(candidates.length))] ?? null
}
