/** Which price moves are worth keeping and which are still to be told: the pace of ticks, apart from the rules. */
import type { InstrumentId } from '../kernel/ids.ts'
import { TICK_STORE_INTERVAL_MS } from '../kernel/limits.ts'
import type { Instant } from '../kernel/world.ts'
import type { Cause } from '../market/instrument.ts'
import type { MatchEvent, PriceMoved } from './messages.ts'

/** The latest unpublished move of an instrument, and how many earlier ones it stands for. */
export type Unpublished = PriceMoved & { readonly folded: number }

/** What happened once is worth a tick of its own; between match data and the crowd a price moves all the time. */
const ALWAYS_KEPT: ReadonlySet<Cause> = new Set(['listing', 'event', 'settlement'])

export class TickKeeper {
  readonly #storedAt = new Map<InstrumentId, Instant>()
  /** The newest move of each instrument that came too soon after its last stored one: it is stored once that is due. */
  readonly #owed = new Map<InstrumentId, PriceMoved>()
  #unpublished = new Map<InstrumentId, Unpublished>()

  /**
   * The ticks to store with a batch: events of the match always, other moves at most once a second per instrument, the
   * newest of them. What a batch leaves out the next one that is due brings, so no price is ever missing for good.
   */
  toStore(events: readonly MatchEvent[], at: Instant): PriceMoved[] {
    return [...this.#newest(events).values()].filter((move) => this.#isKept(move, at))
  }

  #newest(events: readonly MatchEvent[]): ReadonlyMap<InstrumentId, PriceMoved> {
    const moves = new Map<InstrumentId, PriceMoved>()
    for (const event of events) {
      if (event.kind !== 'price_moved') continue
      // A trigger that follows a goal in the same batch must not hide the goal.
      const cause = moves.get(event.instrumentId)
      const keepsCause = cause !== undefined && cause.cause !== 'trade' && event.cause === 'trade'
      moves.set(
        event.instrumentId,
        keepsCause ? { ...event, cause: cause.cause, providerEventId: cause.providerEventId } : event,
      )
    }
    return new Map([...this.#owed, ...moves])
  }

  /** A clock that jumped back counts as time passed: otherwise nothing would be stored until it has caught up. */
  #isKept(move: PriceMoved, at: Instant): boolean {
    const storedAt = this.#storedAt.get(move.instrumentId)
    const isDue = storedAt === undefined || Math.abs(at - storedAt) >= TICK_STORE_INTERVAL_MS
    return isDue || ALWAYS_KEPT.has(move.cause)
  }

  /** A batch stands: remembers what was stored and what is owed, and queues its moves for publication. */
  committed(events: readonly MatchEvent[], at: Instant): void {
    for (const [id, move] of this.#newest(events)) {
      if (this.#isKept(move, at)) {
        this.#storedAt.set(id, at)
        this.#owed.delete(id)
      } else this.#owed.set(id, move)
    }
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
