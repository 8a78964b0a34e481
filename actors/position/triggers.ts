/**
 * The open positions that a price closes or warns about, sorted by trigger price. The cost of a tick grows with the
 * triggers it fires, not with the open positions.
 */
import { present } from '../kernel/assert.ts'
import { MARGIN_WARNINGS } from '../kernel/limits.ts'
import type { InstrumentId, PositionId } from '../kernel/ids.ts'
import type { Price } from '../kernel/micros.ts'
import { SortedList } from '../kernel/sorted-list.ts'
import { type ClosedBy, type MarginWarning, type Position, priceAtLoss, washoutPrice } from './position.ts'

/** A position is triggered at or below `floor` and at or above `ceiling`. Null means no trigger on that side. */
export interface Bounds {
  readonly floor: Price | null
  readonly ceiling: Price | null
}

/** The next trigger on each side: a warning, the washout, or a level of the owner. */
export function boundsOf(p: Position): Bounds {
  const next = MARGIN_WARNINGS.find((percent) => percent > p.warned)
  const loss = priceAtLoss(p, next ?? 100)
  if (p.direction === 'long') return { floor: higher(p.stopLoss, loss), ceiling: p.takeProfit }
  return { floor: p.takeProfit, ceiling: lower(p.stopLoss, loss) }
}

/**
 * What closes a position at this price, or null. If both stop-loss and washout are crossed, the stop-loss is named: the
 * owner asked for it, and the fill is the same.
 */
export function triggerAt(p: Position, at: Price): Extract<ClosedBy, 'stop_loss' | 'take_profit' | 'washout'> | null {
  const long = p.direction === 'long'
  const crossed = (level: Price | null, side: 'down' | 'up') =>
    level !== null && (side === 'down' ? at <= level : at >= level)
  if (crossed(p.stopLoss, long ? 'down' : 'up')) return 'stop_loss'
  if (crossed(washoutPrice(p), long ? 'down' : 'up')) return 'washout'
  if (crossed(p.takeProfit, long ? 'up' : 'down')) return 'take_profit'
  return null
}

/** The highest warning due at this price and not yet sent, or null. */
export function warningAt(p: Position, at: Price): MarginWarning | null {
  const long = p.direction === 'long'
  const due = MARGIN_WARNINGS.filter((percent) => {
    const level = priceAtLoss(p, percent)
    return percent > p.warned && level !== null && (long ? at <= level : at >= level)
  })
  return due.at(-1) ?? null
}

const higher = (a: Price | null, b: Price | null): Price | null => (a === null ? b : b === null || a > b ? a : b)
const lower = (a: Price | null, b: Price | null): Price | null => (a === null ? b : b === null || a < b ? a : b)

interface Trigger {
  readonly price: Price
  readonly id: PositionId
}

const byId = (a: Trigger, b: Trigger): number => (a.id < b.id ? -1 : a.id > b.id ? 1 : 0)

/** The trigger prices of one instrument's open positions. Each side begins with the price that is reached first. */
export class TriggerBook {
  readonly #floors = new SortedList<Trigger>((a, b) => b.price - a.price || byId(a, b))
  readonly #ceilings = new SortedList<Trigger>((a, b) => a.price - b.price || byId(a, b))

  add(p: Position): void {
    const { floor, ceiling } = boundsOf(p)
    if (floor !== null) this.#floors.add({ price: floor, id: p.id })
    if (ceiling !== null) this.#ceilings.add({ price: ceiling, id: p.id })
  }

  remove(p: Position): void {
    const { floor, ceiling } = boundsOf(p)
    if (floor !== null) this.#floors.remove({ price: floor, id: p.id })
    if (ceiling !== null) this.#ceilings.remove({ price: ceiling, id: p.id })
  }

  /** The positions this price triggers, in no particular order. Changes nothing. */
  firing(at: Price): PositionId[] {
    const firing: Trigger[] = []
    this.#floors.collectWhile(({ price }) => price >= at, firing)
    this.#ceilings.collectWhile(({ price }) => price <= at, firing)
    return firing.map(({ id }) => id)
  }
}

/** The trigger books by instrument. */
export class TriggerBooks {
  readonly #books = new Map<InstrumentId, TriggerBook>()

  add(p: Position): void {
    const book = this.#books.get(p.instrumentId) ?? new TriggerBook()
    this.#books.set(p.instrumentId, book)
    book.add(p)
  }

  /** Throws InvariantBroken when the position, exactly as given, is not in the book. */
  remove(p: Position): void {
    present(this.#books.get(p.instrumentId), `triggers of ${p.instrumentId}`).remove(p)
  }

  /** The positions of an instrument that a price triggers, in no particular order. Changes nothing. */
  firing(id: InstrumentId, at: Price): PositionId[] {
    return this.#books.get(id)?.firing(at) ?? []
  }
}
