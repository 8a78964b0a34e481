/** The newest unpublished move of each instrument: until it is taken, a newer move replaces it. */
import type { InstrumentId } from '../kernel/ids.ts'
import type { MatchEvent, PriceMoved } from './messages.ts'

/** `conflated`: it replaced an older move that was not published. */
export type UnpublishedMove = PriceMoved & { readonly conflated: boolean }

export class UnpublishedMoves {
  #newest = new Map<InstrumentId, UnpublishedMove>()

  add(events: readonly MatchEvent[]): void {
    for (const event of events) {
      if (event.kind !== 'price_moved') continue
      this.#newest.set(event.instrumentId, { ...event, conflated: this.#newest.has(event.instrumentId) })
    }
  }

  take(): UnpublishedMove[] {
    const all = [...this.#newest.values()]
    this.#newest = new Map()
    return all
  }
}
