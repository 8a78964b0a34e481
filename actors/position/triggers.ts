/**
 * The open positions that a price closes or warns about, sorted by trigger price. The cost of a tick grows with the
 * triggers it fires, not with the open positions.
 *
 * A position is judged by its exit price, which is its own: closing it alone would fill half its impact away from the
 * published price, below it for a long and above it for a short. So it is kept under the published price at which its
 * exit price reaches the level: level ± k0 × lots ÷ 2. That is exact while the crowd's part is on its straight piece.
 * Where the cap bends the curve the exit price is nearer to the published one, by up to `bend` for the largest position
 * (the difference only grows with size), so a search there reaches `bend` further and the caller looks at what it
 * finds. In a league the exit price is the base, so its positions are kept under their levels.
 */
import { present } from '../kernel/assert.ts'
import { MARGIN_WARNINGS } from '../kernel/limits.ts'
import type { InstrumentId } from '../kernel/ids.ts'
import { isCommon } from '../kernel/purse.ts'
import { type Lots, lots, MICROS_PER_UNIT, mulDivNearest, type Price, type Slope } from '../kernel/micros.ts'
import { SortedList } from '../kernel/sorted-list.ts'
import {
  byAge,
  type ClosedBy,
  type MarginWarning,
  type Position,
  priceAtLoss,
  signOf,
  washoutPrice,
} from './position.ts'

/** Exit prices at or below `floor`, or at or above `ceiling`, concern a position. Null: none does on that side. */
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

/** Whether an exit price closes a position or calls for a warning. */
export function isDueAt(p: Position, at: Price): boolean {
  const { floor, ceiling } = boundsOf(p)
  return (floor !== null && at <= floor) || (ceiling !== null && at >= ceiling)
}

const higher = (a: Price | null, b: Price | null): Price | null => (a === null ? b : b === null || a > b ? a : b)
const lower = (a: Price | null, b: Price | null): Price | null => (a === null ? b : b === null || a < b ? a : b)

/** How far a search goes: floors kept at `down` or above it, ceilings kept at `up` or below it. */
export interface Reach {
  readonly down: number
  readonly up: number
}

/** The reach of a search that has not begun. */
export const NO_REACH: Reach = { down: Infinity, up: -Infinity }

/** Rounding: an exit price and a published one are each up to a micro from the curve, and so is a key. */
const SLACK = 3

/** How far to look around a published price, where the curve bends exit prices towards it by so much. */
export const reachOf = (published: Price, bend: number): Reach => ({
  down: published - bend - SLACK,
  up: published + bend + SLACK,
})

/** Half of what a position of this size moves the price, on the straight piece of the curve. */
export const halfImpact = (slope: Slope, size: Lots): number => mulDivNearest(slope, size, 2 * MICROS_PER_UNIT)

/** A side of a position, under the published price at which it is due. */
interface Trigger {
  readonly key: number
  readonly position: Position
}

const NOTHING: readonly Position[] = []

/** Triggers of one instrument's open positions. Each side begins with the one that is reached first. */
export class TriggerBook {
  readonly #slope: Slope
  // Of the many that a crowd opens at one price, the one opened last comes last, which is found without reading ids.
  readonly #floors = new SortedList<Trigger>((a, b) => b.key - a.key || byAge(a.position, b.position))
  readonly #ceilings = new SortedList<Trigger>((a, b) => a.key - b.key || byAge(a.position, b.position))
  /** The largest position that was ever here. */
  #largest = lots(0)
  #positions = 0

  constructor(slope: Slope) {
    this.#slope = slope
  }

  get largest(): Lots {
    return this.#largest
  }

  get isEmpty(): boolean {
    return this.#positions === 0
  }

  add(p: Position): void {
    const { floor, ceiling } = boundsOf(p)
    const offset = this.#offset(p)
    if (floor !== null) this.#floors.add({ key: floor + offset, position: p })
    if (ceiling !== null) this.#ceilings.add({ key: ceiling + offset, position: p })
    if (p.lots > this.#largest) this.#largest = p.lots
    this.#positions++
  }

  remove(p: Position): void {
    const { floor, ceiling } = boundsOf(p)
    const offset = this.#offset(p)
    if (floor !== null) this.#floors.remove({ key: floor + offset, position: p })
    if (ceiling !== null) this.#ceilings.remove({ key: ceiling + offset, position: p })
    this.#positions--
  }

  /** The positions within reach, except those that a search as far as `searched` has found already. Changes nothing. */
  within(reach: Reach, searched: Reach = NO_REACH): Iterable<Position> {
    const [floor, ceiling] = [this.#floors.first, this.#ceilings.first]
    // Asked after every trade, mostly in vain.
    const isNear = (floor?.key ?? -Infinity) >= reach.down || (ceiling?.key ?? Infinity) <= reach.up
    return isNear ? this.#within(reach, searched) : NOTHING
  }

  *#within({ down, up }: Reach, searched: Reach): Generator<Position> {
    const floors = (): Iterable<Trigger> =>
      this.#floors.between(
        ({ key }) => key >= searched.down,
        ({ key }) => key >= down,
      )
    for (const { position } of floors()) yield position
    const ceilings = this.#ceilings.between(
      ({ key }) => key <= searched.up,
      ({ key }) => key <= up,
    )
    // Between levels close to each other the price is near both.
    let below: ReadonlySet<Position> | null = null
    for (const { position } of ceilings) {
      below ??= new Set(Array.from(floors(), (floor) => floor.position))
      if (!below.has(position)) yield position
    }
  }

  #offset(p: Position): number {
    return isCommon(p.purse) ? signOf(p.direction) * halfImpact(this.#slope, p.lots) : 0
  }
}

/**
 * Names a trigger book. An instrument has two: leagues trade at its base, the other purses at its price, so their
 * triggers are sorted by different prices.
 */
export type TriggerBookId = InstrumentId | `league ${InstrumentId}`

export const leagueBook = (id: InstrumentId): TriggerBookId => `league ${id}`

export const bookOf = ({ purse, instrumentId }: Pick<Position, 'purse' | 'instrumentId'>): TriggerBookId =>
  isCommon(purse) ? instrumentId : leagueBook(instrumentId)

export class TriggerBooks {
  readonly #books = new Map<TriggerBookId, TriggerBook>()

  add(p: Position, slope: Slope): void {
    const id = bookOf(p)
    const book = this.#books.get(id) ?? new TriggerBook(slope)
    this.#books.set(id, book)
    book.add(p)
  }

  /** Throws InvariantBroken when the position, exactly as given, is not in the book. */
  remove(p: Position): void {
    const id = bookOf(p)
    const book = present(this.#books.get(id), `triggers of ${id}`)
    book.remove(p)
    // A fixture that comes back after it was void lists its players again, some with another slope.
    if (book.isEmpty) this.#books.delete(id)
  }

  of(id: TriggerBookId): Pick<TriggerBook, 'largest' | 'within'> | undefined {
    return this.#books.get(id)
  }
}
