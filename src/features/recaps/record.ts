/** A trader's record: what closed positions came to, whole and by player, role, direction, time held and month. */
import { dateAt } from '../../../actors/kernel/calendar.ts'
import type { InstrumentId } from '../../../actors/kernel/ids.ts'
import { type Money, money } from '../../../actors/kernel/micros.ts'
import { HOUR_MS, MINUTE_MS } from '../../../actors/kernel/world.ts'
import type { PlayerRole } from '../../../actors/market/fixture.ts'
import type { ClosedPosition, Direction } from '../../../actors/position/position.ts'
import { byClose, wholesOf } from './recap.ts'

/** What some of the positions came to. A position without a gain or a loss is neither a win nor a loss. */
export interface Sums {
  readonly trades: number
  readonly wins: number
  readonly losses: number
  readonly pnl: Money
  readonly margin: Money
  /** Null without a win. Rounded down. */
  readonly averageWin: Money | null
  /** Null without a loss. Negative, rounded down. */
  readonly averageLoss: Money | null
}

export interface Group<Key> extends Sums {
  readonly key: Key
}

/** Upper bounds of the groups by time held, in milliseconds; null has none. */
const HELD_MS = [MINUTE_MS, 5 * MINUTE_MS, 15 * MINUTE_MS, HOUR_MS, null] as const

export interface TradingRecord {
  readonly total: Sums
  /** Largest PnL, gained or lost, first. */
  readonly byPlayer: readonly Group<InstrumentId>[]
  readonly byRole: readonly Group<PlayerRole>[]
  readonly byDirection: readonly Group<Direction>[]
  readonly byTimeHeld: readonly Group<(typeof HELD_MS)[number]>[]
  /** By when they closed, in UTC, such as `2026-05`; oldest first. */
  readonly byMonth: readonly Group<string>[]
}

/**
 * Of closes in any order, with the parts that these positions closed `earlier`. A position closed in parts counts once,
 * a void one nowhere.
 */ // R26
export function recordOf(
  closes: readonly ClosedPosition[],
  roleOf: (instrument: InstrumentId) => PlayerRole | undefined,
  earlier: readonly ClosedPosition[] = [],
): TradingRecord {
  const counted = wholesOf([...earlier, ...closes].toSorted(byClose))
  const by = <Key>(keyOf: (position: ClosedPosition) => Key): Group<NonNullable<Key>>[] =>
    [...Map.groupBy(counted, keyOf)].flatMap(([key, group]) =>
      key === undefined ? [] : [{ key: key as NonNullable<Key>, ...sumsOf(group) }],
    )
  return {
    total: sumsOf(counted),
    byPlayer: by(({ instrumentId }) => instrumentId).toSorted((a, b) => Math.abs(b.pnl) - Math.abs(a.pnl)),
    byRole: by(({ instrumentId }) => roleOf(instrumentId)),
    byDirection: by(({ direction }) => direction),
    byTimeHeld: HELD_MS.flatMap((under) => {
      const group = counted.filter((position) => heldUnder(position) === under)
      return group.length === 0 ? [] : [{ key: under, ...sumsOf(group) }]
    }),
    byMonth: by(({ close }) => monthOf(close.at)),
  }
}

const heldUnder = ({ openedAt, close }: ClosedPosition): (typeof HELD_MS)[number] =>
  HELD_MS.find((ms) => ms === null || close.at - openedAt < ms) ?? null

function monthOf(at: number): string {
  const { year, month } = dateAt(at)
  return `${year}-${String(month).padStart(2, '0')}`
}

function sumsOf(positions: readonly ClosedPosition[]): Sums {
  const sum = (of: (position: ClosedPosition) => number, among = positions): number =>
    among.reduce((all, position) => all + of(position), 0)
  const pnl = ({ close }: ClosedPosition): number => close.pnl
  const average = (among: readonly ClosedPosition[]): Money | null =>
    among.length === 0 ? null : money(Math.floor(sum(pnl, among) / among.length))
  const wins = positions.filter(({ close }) => close.pnl > 0)
  const losses = positions.filter(({ close }) => close.pnl < 0)
  return {
    trades: positions.length,
    wins: wins.length,
    losses: losses.length,
    pnl: money(sum(pnl)),
    margin: money(sum(({ margin }) => margin)),
    averageWin: average(wins),
    averageLoss: average(losses),
  }
}
