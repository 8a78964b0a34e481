/** Which price moves are worth keeping and which are still to be told: the pace of ticks, apart from the rules. */
import type { InstrumentId } from '../kernel/ids.ts'
import { TICK_STORE_INTERVAL_MS } from '../kernel/limits.ts'
import type { Instant } from '../kernel/world.ts'
import type { MatchEvent, PriceMoved } from './messages.ts'

/** The latest unpublished move of an instrument, and how many earlier ones it stands for. */
export type Unpublished = PriceMoved & { readonly folded: number }

export class TickKeeper {
  readonly #storedAt = new Map<InstrumentId, Instant>()
  #unpublished = new Map<InstrumentId, Unpublished>()

  /**
   * The last move of each instrument in a batch, where it is due: moves of the match always, moves of the crowd at most
   * once a second, since hundreds may come in one.
   */
  toStore(events: readonly MatchEvent[], at: Instant): PriceMoved[] {
    const last = new Map<InstrumentId, PriceMoved>()
    for (const event of events) {
      if (event.kind !== 'price_moved') continue
      // A trigger that follows a goal in the same batch must not hide the goal.
      const cause = last.get(event.instrumentId)
      const keepsCause = cause !== undefined && cause.cause !== 'trade' && event.cause === 'trade'
      last.set(
        event.instrumentId,
        keepsCause ? { ...event, cause: cause.cause, providerEventId: cause.providerEventId } : event,
      )
    }
    return [...last.values()].filter((move) => move.cause !== 'trade' || this.#isDue(move, at))
  }

  /** A clock that jumped back counts as time passed: otherwise nothing would be stored until it has caught up. */
  #isDue(move: PriceMoved, at: Instant): boolean {
    const storedAt = this.#storedAt.get(move.instrumentId)
    return storedAt === undefined || Math.abs(at - storedAt) >= TICK_STORE_INTERVAL_MS
  }

  /** A batch stands: remembers what was stored, and queues its moves for publication. */
  committed(events: readonly MatchEvent[], at: Instant): void {
    for (const move of this.toStore(events, at)) this.#storedAt.set(move.instrumentId, at)
    for (const event of events) {
      if (event.kind !== 'price_moved') continue
      const waiting = this.#unpublished.get(event.instrumentId)
      this.#unpublished.set(event.instrumentId, { ...event, folded: waiting === undefined ? 0 : waiting.folded + 1 })
    }
  }

  takeUnpublished(): Unpublished[] {
    const all = [...this.#unpublished.values()]
    this.#unpublished = new Map()
    return all
  }
}
