/**
 * The weekly spinner: ISO weeks, the candidates of a draw, and its winner. Two values select the winner together: a
 * seed to which the server committed beforehand, and the results of matches that had not been played then.
 */
import { assert } from '../kernel/assert.ts'
import type { InstrumentId, UserId } from '../kernel/ids.ts'
import { decimalText, type Money, type Price } from '../kernel/micros.ts'
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

/** The week of an instant. The first millisecond of Monday belongs to the new week. */
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

/** The requirements of a draw. Only positions that were opened and closed in its week count. */
export interface DrawTerms {
  readonly closesMin: number
  /** The least number of different players. */
  readonly playersMin: number
  /** The least stake that a return is measured against. */
  readonly roiFloor: Money
  /** Whether accounts that trade by a key take part. Left out: they do not. */
  readonly ranksBots?: boolean
}

/** The candidates in the order in which the draw counts them. */
const drawOrder = (candidates: readonly UserId[]): readonly UserId[] => candidates.toSorted()

/** The base price at which a player settled, in the last live match of the week. */
export interface SettledBase {
  readonly instrumentId: InstrumentId
  readonly base: Price
}

/**
 * The text the seed is applied to: HMAC-SHA256 over it, keyed with the seed, gives the digest for `drawn`. It names the
 * week and all candidates, so neither can be changed later, and the bases at which the week's last live match settled.
 * They follow from the match alone, so knowing the seed before does not reveal the winner.
 */
export const drawText = (week: string, candidates: readonly UserId[], bases: readonly SettledBase[]): string =>
  [
    week,
    ...drawOrder(candidates),
    ...bases.map(({ instrumentId, base }) => `${instrumentId} ${decimalText(base)}`).toSorted(),
  ].join('\n')

/** The winner that a digest (hex) selects. 256 bits over a few candidates favour none of them measurably. */
export function drawn(digest: string, candidates: readonly UserId[]): UserId | null {
  assert(/^[0-9a-f]{64}$/.test(digest), 'a draw takes a SHA-256 digest in hex')
  if (candidates.length === 0) return null
  return drawOrder(candidates)[Number(BigInt(`0x${digest}`) % BigInt(candidates.length))] ?? null
}
