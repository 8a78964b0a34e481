/**
 * Finds the open positions that the price of an instrument closes or warns about. Each is judged by its exit price:
 * what closing it alone would pay.
 */
import { type Lots, lots, type Price } from '../kernel/micros.ts'
import { exitPrice, type Instrument, quoteOf } from '../market/instrument.ts'
import { closingFill, leaguePrice } from '../position/fills.ts'
import { byAge, type Position } from '../position/position.ts'
import { halfImpact, isDueAt, leagueBook, type Reach, reachOf } from '../position/triggers.ts'
import type { MatchView } from './state.ts'

export interface Due {
  readonly position: Position
  readonly exit: Price
}

const NOTHING: readonly Due[] = []

/**
 * The due positions of an instrument, earliest opened first: all, or `most` and one more. Nothing is due once
 * the match has ended, or while earlier due positions are being closed.
 */
export function dueOn(view: MatchView, instrument: Instrument, most: number): readonly Due[] {
  if (instrument.leavingFrom !== null) return NOTHING
  const found: Due[] = []
  for (const position of watchedOn(view, instrument)) {
    const due = dueOf(instrument, position)
    if (due !== null && found.push(due) > most) break
  }
  return found.length === 0 ? NOTHING : found.toSorted((a, b) => byAge(a.position, b.position))
}

/** The positions of an instrument that may be due, and few others. */
export function watchedOn(view: MatchView, instrument: Instrument): Iterable<Position> {
  if (instrument.endedImbalance !== null || instrument.settlement !== null) return []
  return watchedInBoth(view, instrument)
}

function* watchedInBoth(view: MatchView, instrument: Instrument): Generator<Position> {
  yield* view.watched(instrument.id, reachFor(instrument, view.largest(instrument.id)))
  yield* view.watched(leagueBook(instrument.id), reachOf(leaguePrice(instrument), 0))
}

/** Null when the position is not due. */
export function dueOf(instrument: Instrument, position: Position): Due | null {
  const exit = closingFill(instrument, position)
  // A corrupt position (open price zero) waits for an operator: no trigger touches its money.
  return position.openPrice > 0 && isDueAt(position, exit) ? { position, exit } : null
}

/**
 * How far from the published price a trigger may be due. Keys are exact except near the cap, which needs a longer
 * reach.
 */
function reachFor(instrument: Instrument, largest: Lots): Reach {
  const { price } = quoteOf(instrument)
  if (largest === 0) return reachOf(price, 0)
  const half = halfImpact(instrument.slope, largest)
  const long = exitPrice(instrument, largest) - (price - half)
  const short = price + half - exitPrice(instrument, lots(-largest))
  return reachOf(price, Math.max(0, long, short))
}
