/**
 * The open positions that a price closes or warns about, sorted by trigger price. The cost of a tick grows with the
 * triggers it fires, not with the open positions.
 */
import { assert, present } from '../kernel/assert.ts'
import { MARGIN_WARNINGS } from '../kernel/limits.ts'
import type { InstrumentId, PositionId } from '../kernel/ids.ts'
import type { Price } from '../kernel/micros.ts'
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

/** The trigger prices of one instrument's open positions, both sides. */
export class TriggerBook {
  readonly #floors = new SortedPrices()
  readonly #ceilings = new SortedPrices()

  add(p: Position): void {
    const { floor, ceiling } = boundsOf(p)
    if (floor !== null) this.#floors.add(floor, p.id)
    if (ceiling !== null) this.#ceilings.add(ceiling, p.id)
  }

  remove(p: Position): void {
    const { floor, ceiling } = boundsOf(p)
    if (floor !== null) this.#floors.remove(floor, p.id)
    if (ceiling !== null) this.#ceilings.remove(ceiling, p.id)
  }

  /** The positions this price triggers, in no particular order. Changes nothing. */
  firing(at: Price): PositionId[] {
    const firing: PositionId[] = []
    this.#floors.collectAtOrAbove(at, firing)
    this.#ceilings.collectAtOrBelow(at, firing)
    return firing
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

/**
 * All positions triggered at one price: mostly one, but thousands when many users open at a price that does not move.
 */
interface PriceLevel {
  readonly price: Price
  ids: PositionId | Set<PositionId>
}

/** Sorted price levels in blocks of bounded size: adding or removing a level moves one block, never the whole list. */
class SortedPrices {
  static readonly #blockMax = 512
  readonly #blocks: PriceLevel[][] = []

  add(price: Price, id: PositionId): void {
    if (this.#blocks.length === 0) {
      this.#blocks.push([{ price, ids: id }])
      return
    }
    const b = Math.min(this.#blockOf(price), this.#blocks.length - 1)
    const block = present(this.#blocks[b], 'block')
    const i = indexIn(block, price)
    const level = block[i]
    if (level?.price === price) return join(level, id)
    block.splice(i, 0, { price, ids: id })
    if (block.length > SortedPrices.#blockMax) this.#blocks.splice(b + 1, 0, block.splice(block.length >>> 1))
  }

  remove(price: Price, id: PositionId): void {
    const b = this.#blockOf(price)
    const block = present(this.#blocks[b], `trigger of ${id}`)
    const i = indexIn(block, price)
    const level = block[i]
    assert(level?.price === price, `trigger of ${id} at ${price} is not where it belongs`)
    if (leave(level, id)) return
    block.splice(i, 1)
    if (block.length === 0) this.#blocks.splice(b, 1)
  }

  // Called after every trade, mostly to find nothing: a generator would cost more than the search.

  collectAtOrBelow(at: Price, into: PositionId[]): void {
    for (const block of this.#blocks)
      for (const level of block) {
        if (level.price > at) return
        collect(level, into)
      }
  }

  collectAtOrAbove(at: Price, into: PositionId[]): void {
    for (let b = this.#blocks.length - 1; b >= 0; b--) {
      const block = present(this.#blocks[b], 'block')
      for (let i = block.length - 1; i >= 0; i--) {
        const level = present(block[i], 'level')
        if (level.price < at) return
        collect(level, into)
      }
    }
  }

  /** The first block whose last level is not below this price; the number of blocks if there is none. */
  #blockOf(price: Price): number {
    let low = 0
    let high = this.#blocks.length
    while (low < high) {
      const middle = (low + high) >>> 1
      if (present(this.#blocks[middle]?.at(-1), 'last of a block').price < price) low = middle + 1
      else high = middle
    }
    return low
  }
}

/** The index of a price, or where it would be inserted. */
function indexIn(block: readonly PriceLevel[], price: Price): number {
  let low = 0
  let high = block.length
  while (low < high) {
    const middle = (low + high) >>> 1
    if (present(block[middle], 'level').price < price) low = middle + 1
    else high = middle
  }
  return low
}

function join(level: PriceLevel, id: PositionId): void {
  if (typeof level.ids === 'string') level.ids = new Set([level.ids, id])
  else level.ids.add(id)
}

/** True while other positions are left. Throws InvariantBroken when the position is not at this level. */
function leave({ price, ids }: PriceLevel, id: PositionId): boolean {
  const isThere = typeof ids === 'string' ? ids === id : ids.delete(id)
  assert(isThere, `trigger of ${id} at ${price} is not where it belongs`)
  return typeof ids !== 'string' && ids.size > 0
}

function collect({ ids }: PriceLevel, into: PositionId[]): void {
  if (typeof ids === 'string') into.push(ids)
  else for (const id of ids) into.push(id)
}
