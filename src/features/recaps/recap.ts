/** What a stretch of trading came to: of one match, or of a week. */
import type { InstrumentId } from '../../../actors/kernel/ids.ts'
import { lots, type Money, money, type Price } from '../../../actors/kernel/micros.ts'
import { type Instant, instant } from '../../../actors/kernel/world.ts'
import { type ClosedPosition, realisedPnl } from '../../../actors/position/position.ts'

export interface Recap {
  /** What the purse was worth before, every open position at its margin. */
  readonly start: Money
  /** Σ PnL of all closes, void ones too: what the ledger has booked. */
  readonly result: Money
  /** Closes that count, and how many of them have gained something. */
  readonly trades: number
  readonly wins: number
  /** The worth of the purse by these positions alone: at the beginning and after each close, or at each mark. */
  readonly curve: readonly CurvePoint[]
  /** Null without a close that counts; `worst` is null as well if there is only one, or if all won. */
  readonly best: ClosedPosition | null
  readonly worst: ClosedPosition | null
}

interface CurvePoint {
  readonly at: Instant
  readonly value: Money
}

/** A curve has at most this many points: the first, the last, and an even choice of those between. */
const POINTS_MAX = 200

/** A price of a player at some time. */
export interface Mark {
  readonly instrumentId: InstrumentId
  readonly at: Instant
  readonly price: Price
}

/**
 * The recap of closes, in any order. With marks, oldest first, the curve values open positions at them. What these
 * positions closed in parts `earlier` belongs to the closes that count, not to the result.
 */
export function recapOf(
  start: Money,
  closes: readonly ClosedPosition[],
  marks: readonly Mark[] = [],
  earlier: readonly ClosedPosition[] = [],
): Recap {
  const inOrder = closes.toSorted(byClose)
  const counted = wholesOf([...earlier.toSorted(byClose), ...inOrder])
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
    curve: thinned(marks.length === 0 ? points : marked({ start, closes: inOrder, marks, ends: points })),
    best: ranked[0] ?? null,
    worst: ranked.slice(1).findLast(({ close }) => close.pnl <= 0) ?? null,
  }
}

interface Marked {
  readonly start: Money
  readonly closes: readonly ClosedPosition[]
  readonly marks: readonly Mark[]
  /** A curve with the same first and last point. */
  readonly ends: readonly CurvePoint[]
}

/** What the purse was worth at each mark: what was closed by then, and what was open at the price then. */
function marked({ start, closes, marks, ends }: Marked): readonly CurvePoint[] {
  const [first, last] = [ends[0], ends.at(-1)]
  if (first === undefined || last === undefined) return []
  const points = [first]
  const prices = new Map<InstrumentId, Price>()
  for (const [at, now] of Map.groupBy(marks, (mark) => mark.at)) {
    for (const { instrumentId, price } of now) prices.set(instrumentId, price)
    if (at <= first.at || at >= last.at) continue
    let value: number = start
    for (const position of closes) {
      const { openedAt, openPrice, instrumentId, close } = position
      if (close.at <= at) value += close.pnl
      else if (openedAt <= at) value += realisedPnl(position, prices.get(instrumentId) ?? openPrice)
    }
    points.push({ at, value: money(value) })
  }
  return [...points, last]
}

/** The earliest close first. */
export const byClose = (a: ClosedPosition, b: ClosedPosition): number => a.close.at - b.close.at

/** Each position once: what was closed in parts as one close, from its last part on. Void ones count nowhere. */ // R24
export function wholesOf(closes: readonly ClosedPosition[]): readonly ClosedPosition[] {
  return [...Map.groupBy(closes, ({ id, partOf }) => partOf ?? id).entries()].flatMap(([id, parts]) => {
    const [first] = parts
    // Most are closed at once, and there may be 20,000.
    if (parts.length === 1 && first?.partOf === undefined) return first?.close.by === 'void' ? [] : parts
    const counted = parts.filter(({ close }) => close.by !== 'void')
    const last = counted.at(-1)
    if (last === undefined || parts.every(({ partOf }) => partOf !== undefined)) return []
    const sum = (of: (part: ClosedPosition) => number): number => counted.reduce((all, part) => all + of(part), 0)
    const { at } = parts.at(-1)?.close ?? last.close
    const close = { ...last.close, at, pnl: money(sum((part) => part.close.pnl)) }
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
