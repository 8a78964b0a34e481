/** Chooses the price moves that are stored as ticks. */
import type { InstrumentId } from '../kernel/ids.ts'
import { TICK_STORE_INTERVAL_MS } from '../kernel/limits.ts'
import type { Instant } from '../kernel/world.ts'
import type { Cause } from '../market/instrument.ts'
import { joined } from '../market/move-reason.ts'
import type { MatchEvent, PriceMoved } from './messages.ts'

/** One-off causes always get a tick. Match data and trades move prices all the time, so their ticks are thinned. */
const ALWAYS_KEPT: ReadonlySet<Cause> = new Set(['listing', 'event', 'settlement', 'rules'])

export class TickKeeper {
  readonly #storedAt = new Map<InstrumentId, Instant>()
  /** The newest move of each instrument that came too soon after the last stored one. It is stored when due. */
  readonly #owed = new Map<InstrumentId, PriceMoved>()

  /**
   * The ticks to store with a batch: in-game events always, other moves at most once a second per instrument, the
   * newest one. A later batch stores what this one leaves out, so no price is lost.
   */
  toStore(events: readonly MatchEvent[], at: Instant): PriceMoved[] {
    return [...this.#newest(events).values()].filter((move) => this.#isKept(move, at))
  }

  #newest(events: readonly MatchEvent[]): ReadonlyMap<InstrumentId, PriceMoved> {
    const moves = new Map<InstrumentId, PriceMoved>()
    for (const event of events) {
      if (event.kind !== 'price_moved') continue
      // A trigger that follows a goal in the same batch must not hide the goal.
      const earlier = moves.get(event.instrumentId)
      moves.set(event.instrumentId, earlier === undefined ? event : following(earlier, event))
    }
    const newest = new Map([...this.#owed, ...moves])
    for (const [id, owed] of this.#owed) {
      const later = moves.get(id)
      if (later !== undefined) newest.set(id, withReason(later, owed.reason))
    }
    return newest
  }

  /** A clock that jumps back counts as time passed; otherwise nothing would be stored until it caught up. */
  #isKept(move: PriceMoved, at: Instant): boolean {
    const storedAt = this.#storedAt.get(move.instrumentId)
    const isDue = storedAt === undefined || Math.abs(at - storedAt) >= TICK_STORE_INTERVAL_MS
    return isDue || ALWAYS_KEPT.has(move.cause)
  }

  /** After a commit: remembers which ticks were stored and which are owed. */
  committed(events: readonly MatchEvent[], at: Instant): void {
    for (const [id, move] of this.#newest(events)) {
      if (this.#isKept(move, at)) {
        this.#storedAt.set(id, at)
        this.#owed.delete(id)
      } else this.#owed.set(id, move)
    }
  }
}

function following(earlier: PriceMoved, later: PriceMoved): PriceMoved {
  const keepsCause = earlier.cause !== 'trade' && later.cause === 'trade'
  const from = keepsCause ? { cause: earlier.cause, providerEventId: earlier.providerEventId } : {}
  return withReason({ ...later, ...from }, earlier.reason)
}

/** A tick tells why the base moved since the tick before it, also where moves in between are not stored. */
const withReason = (move: PriceMoved, earlier: PriceMoved['reason']): PriceMoved =>
  earlier === undefined ? move : { ...move, reason: joined(earlier, move.reason) }
