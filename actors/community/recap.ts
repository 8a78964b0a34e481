/** What a stretch of trading came to: of one match, or of a week. */
import { type Money, money } from '../kernel/micros.ts'
import { type Instant, instant } from '../kernel/world.ts'
import type { ClosedPosition } from '../position/recent-close.ts'

export interface Recap {
  /** What the purse was worth before, every open position at its margin. */
  readonly start: Money
  /** Σ PnL of all closes, void ones too: what the ledger has booked. */
  readonly result: Money
  /** Closes that count, and how many of them have gained something. */
  readonly trades: number
  readonly wins: number
  /** The worth of the purse by these closes alone: at the beginning, and after each. */
  readonly curve: readonly CurvePoint[]
  /** Null without a close that counts; `worst` is null as well if there is only one. */
  readonly best: ClosedPosition | null
  readonly worst: ClosedPosition | null
}

interface CurvePoint {
  readonly at: Instant
  readonly value: Money
}

/** Points of a curve. Of more closes only so many are shown, evenly chosen, with the first and the last. */
const POINTS_MAX = 200

/** The recap of closes, in any order. */
export function recapOf(start: Money, closes: readonly ClosedPosition[]): Recap {
  const inOrder = closes.toSorted((a, b) => a.close.at - b.close.at)
  const counted = inOrder.filter(({ close }) => close.by !== 'void')
  const ranked = counted.toSorted((a, b) => b.close.pnl - a.close.pnl)
  const first = inOrder.reduce((least, { openedAt }) => Math.min(least, openedAt), Infinity)
  const points: CurvePoint[] = inOrder.length === 0 ? [] : [{ at: instant(first), value: start }]
  let value: number = start
  for (const { close } of inOrder) points.push({ at: close.at, value: money((value += close.pnl)) })
  return {
    start,
    result: money(value - start),
    trades: counted.length,
    wins: counted.filter(({ close }) => close.pnl > 0).length,
    curve: thinned(points),
    best: ranked[0] ?? null,
    worst: ranked.length < 2 ? null : (ranked.at(-1) ?? null),
  }
}

function thinned(points: readonly CurvePoint[]): readonly CurvePoint[] {
  if (points.length <= POINTS_MAX) return points
  const last = points.length - 1
  return Array.from({ length: POINTS_MAX }, (_, n) => points[Math.round((n * last) / (POINTS_MAX - 1))]).filter(
    (point) => point !== undefined,
  )
}

/** A week from Monday to Monday in UTC, by its ISO 8601 name. */
export interface Week {
  readonly id: string
  readonly from: Instant
  readonly to: Instant
}

const DAY_MS = 86_400_000
const WEEK_MS = 7 * DAY_MS
const WEEK = /^(\d{4})-W(\d{2})$/

/** The week that a moment lies in. */
export function weekAt(now: Instant): Week {
  const from = mondayOf(now)
  // A week belongs to the year that its Thursday lies in.
  const year = new Date(from + 3 * DAY_MS).getUTCFullYear()
  const number = Math.round((from - firstMonday(year)) / WEEK_MS) + 1
  return { id: `${year}-W${String(number).padStart(2, '0')}`, from: instant(from), to: instant(from + WEEK_MS) }
}

/** A week by its name, such as `2026-W48`; null for one that does not exist. */
export function weekNamed(id: string): Week | null {
  const [, year, number] = WEEK.exec(id) ?? []
  if (year === undefined || number === undefined || number === '00') return null
  const week = weekAt(instant(firstMonday(Number(year)) + (Number(number) - 1) * WEEK_MS))
  return week.id === id ? week : null
}

/** The Monday of the first week of a year, which holds 4 January. */
const firstMonday = (year: number): number => mondayOf(Date.UTC(year, 0, 4))

function mondayOf(at: number): number {
  const midnight = at - (((at % DAY_MS) + DAY_MS) % DAY_MS)
  return midnight - ((new Date(midnight).getUTCDay() + 6) % 7) * DAY_MS
}
