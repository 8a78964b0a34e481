/** Which open positions the price of an instrument closes or warns about, judged by what leaving alone would pay each. */
import { type Lots, lots, type Price } from '../kernel/micros.ts'
import { exitPrice, type Instrument, quoteOf } from '../market/instrument.ts'
import { exposureOf, type Position } from '../position/position.ts'
import { halfImpact, isDueAt, type Reach, reachOf } from '../position/triggers.ts'
import type { MatchView } from './state.ts'

export interface Due {
  readonly position: Position
  readonly exit: Price
}

const NOTHING: readonly Due[] = []

/**
 * The due positions of an instrument, earliest opened first. While full time waits to be confirmed, and once it is
 * settled, nothing is due.
 */
export function dueOn(view: MatchView, instrument: Instrument): readonly Due[] {
  if (instrument.awaitsSettlement || instrument.settlement !== null) return NOTHING
  const watched = view.watched(instrument.id, reachFor(instrument, view.largest(instrument.id)))
  if (watched.length === 0) return NOTHING
  return (
    watched
      // A corrupt position (open price zero) waits for an operator: no trigger touches its money.
      .filter((position) => position.openPrice > 0)
      .map((position) => ({ position, exit: exitPrice(instrument, exposureOf(position)) }))
      .filter(({ position, exit }) => isDueAt(position, exit))
      .toSorted((a, b) => byAge(a.position, b.position))
  )
}

/** Positions of one instant close at one price, so their order does not matter, but it must never differ. */
export const byAge = (a: Position, b: Position): number =>
  a.openedAt - b.openedAt || (a.id < b.id ? -1 : a.id > b.id ? 1 : 0)

/** How far from the published price a trigger may be due: beyond what keys allow for, only near the cap. */
function reachFor(instrument: Instrument, largest: Lots): Reach {
  const { price } = quoteOf(instrument)
  const half = halfImpact(instrument.slope, largest)
  if (largest === 0) return reachOf(price, 0)
  const long = exitPrice(instrument, largest) - (price - half)
  const short = price + half - exitPrice(instrument, lots(-largest))
  return reachOf(price, Math.max(0, long, short))
}
