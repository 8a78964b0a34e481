/** What a stretch of trading came to: of one match, or of a week. */
import { lots, type Money, money } from '../../../actors/kernel/micros.ts'
import { type Instant, instant } from '../../../actors/kernel/world.ts'
import type { ClosedPosition } from '../../../actors/position/position.ts'

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

/** A curve has at most this many points: the first, the last, and an even choice of those between. */
const POINTS_MAX = 200

/** The recap of closes, in any order. */
export function recapOf(start: Money, closes: readonly ClosedPosition[]): Recap {
  const inOrder = closes.toSorted((a, b) => a.close.at - b.close.at)
  const counted = wholesOf(inOrder)
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

/** Each position once: what was closed in parts as one close, from its last part on. Void ones count nowhere. */ // R24
export function wholesOf(closes: readonly ClosedPosition[]): readonly ClosedPosition[] {
  return [...Map.groupBy(closes, ({ id, partOf }) => partOf ?? id).entries()].flatMap(([id, parts]) => {
    const counted = parts.filter(({ close }) => close.by !== 'void')
    const last = counted.at(-1)
    if (last === undefined || parts.every(({ partOf }) => partOf !== undefined)) return []
    const sum = (of: (part: ClosedPosition) => number): number => counted.reduce((all, part) => all + of(part), 0)
    const close = { ...last.close, pnl: money(sum((part) => part.close.pnl)) }
    return [{ ...last, id, lots: lots(sum((part) => part.lots)), margin: money(sum((part) => part.margin)), close }]
  })
}

function thinned(points: readonly CurvePoint[]): readonly CurvePoint[] {
  if (points.length <= POINTS_MAX) return points
  const last = points.length - 1
  return Array.from({ length: POINTS_MAX }, (_, n) => points[Math.round((n * last) / (POINTS_MAX - 1))]).filter(
    (point) => point !== undefined,
  )
}
