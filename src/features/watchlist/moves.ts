/**
 * The prices that players have had since they were last asked for: of each, those that no later one goes beyond. An
 * alert of any age is reached by one of them if it was by any. Some numbers per player, however often the price moves.
 */
import type { InstrumentId } from '../../../actors/kernel/ids.ts'
import type { Price } from '../../../actors/kernel/micros.ts'
import type { Instant } from '../../../actors/kernel/world.ts'
import type { MatchEvent } from '../../../actors/match/messages.ts'

export interface Move {
  readonly instrumentId: InstrumentId
  readonly at: Instant
  readonly price: Price
  /** Whether no later price is as high; else none is as low. */
  readonly isHigh: boolean
}

/** Moves of a player that are kept each way; of more, one between is left out. */
const KEPT_MAX = 100

export class Moves {
  #kept = new Map<InstrumentId, Kept>()

  /** Settlement closes what is open at a price of its own, which reaches nothing. */ // R31
  add(events: readonly MatchEvent[]): void {
    for (const event of events) {
      if (event.kind === 'price_moved' && event.cause !== 'settlement') {
        this.#keep(event.instrumentId, event.at, event.quote.price)
      }
    }
  }

  /** Hands out what is kept. It is kept on if `work` fails. */
  async take(work: (moves: readonly Move[]) => Promise<void>): Promise<void> {
    const moves = [...this.#kept.values()].flatMap(({ highs, lows }) => [...highs, ...lows])
    this.#kept = new Map()
    try {
      await work(moves)
    } catch (error) {
      const later = [...this.#kept.values()].flatMap(({ highs, lows }) => [...highs, ...lows])
      this.#kept = new Map()
      for (const { instrumentId, at, price } of [...moves, ...later].toSorted((a, b) => a.at - b.at)) {
        this.#keep(instrumentId, at, price)
      }
      throw error
    }
  }

  #keep(instrumentId: InstrumentId, at: Instant, price: Price): void {
    const kept = this.#kept.get(instrumentId) ?? { highs: [], lows: [] }
    this.#kept.set(instrumentId, kept)
    push(kept.highs, { instrumentId, at, price, isHigh: true }, (last) => last.price <= price)
    push(kept.lows, { instrumentId, at, price, isHigh: false }, (last) => last.price >= price)
  }
}

interface Kept {
  readonly highs: Move[]
  readonly lows: Move[]
}

function push(moves: Move[], move: Move, isPassed: (last: Move) => boolean): void {
  for (let last = moves.at(-1); last !== undefined && isPassed(last); last = moves.at(-1)) moves.pop()
  moves.push(move)
  if (moves.length > KEPT_MAX) moves.splice(KEPT_MAX >> 1, 1)
}
