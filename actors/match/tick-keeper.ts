/** Chooses the prices that are stored as ticks: moves, and now and then prices that stand still. */
import type { InstrumentId } from '../kernel/ids.ts'
import { TICK_REPEAT_MS, TICK_STORE_INTERVAL_MS, type TradingRules } from '../kernel/limits.ts'
import type { Instant } from '../kernel/world.ts'
import { type Cause, type Instrument, quoteOf } from '../market/instrument.ts'
import { joined } from '../market/move-reason.ts'
import type { MatchEvent, PriceMoved } from './messages.ts'
import type { MatchView } from './state.ts'
import { isTicking } from './suspension.ts'

/** One-off causes always get a tick. Match data and trades move prices all the time, so their ticks are thinned. */
const ALWAYS_KEPT: ReadonlySet<Cause> = new Set(['listing', 'event', 'settlement', 'rules'])

/** A batch, and the match after it. */
export interface TickTerms {
  readonly events: readonly MatchEvent[]
  readonly view: Pick<MatchView, 'info' | 'instruments'>
  readonly at: Instant
  readonly rules: TradingRules
}

/** What a batch stores. */
export interface Chosen {
  readonly ticks: readonly PriceMoved[]
  readonly at: Instant
  /** The newest moves of instruments, stored or not. */
  readonly newest: ReadonlyMap<InstrumentId, PriceMoved>
}

export class TickKeeper {
  readonly #storedAt = new Map<InstrumentId, Instant>()
  /** The newest move of each instrument that came too soon after the last stored one. It is stored when due. */
  readonly #owed = new Map<InstrumentId, PriceMoved>()

  /**
   * The ticks to store with a batch. In-game events always; other moves at most once a second per instrument, the
   * newest one, and a later batch stores what this one leaves out, so no price is lost. Of the other instruments whose
   * price lives, those that have had no tick for a minute. `committed` is to be called when they are stored.
   */
  choose({ events, view, at, rules }: TickTerms): Chosen {
    const newest = this.#newest(events)
    const ticks = [...newest.values()].filter((move) => this.#isKept(move, at))
    const moved = new Set(ticks.map(({ instrumentId }) => instrumentId))
    const repeatMs = events.length > 0 ? TICK_REPEAT_MS.withCommit : TICK_REPEAT_MS.alone
    for (const instrument of view.instruments()) {
      const isDue = !moved.has(instrument.id) && this.#isSince(instrument.id, at, repeatMs)
      if (isDue && isTicking(view.info, instrument, at, rules)) ticks.push(standing(instrument, at))
    }
    return { ticks, at, newest }
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

  #isKept(move: PriceMoved, at: Instant): boolean {
    return ALWAYS_KEPT.has(move.cause) || this.#isSince(move.instrumentId, at, TICK_STORE_INTERVAL_MS)
  }

  /** A clock that jumps back counts as time passed; otherwise nothing would be stored until it caught up. */
  #isSince(id: InstrumentId, at: Instant, ms: number): boolean {
    const storedAt = this.#storedAt.get(id)
    return storedAt === undefined || Math.abs(at - storedAt) >= ms
  }

  /** Remembers which ticks were stored and which are owed. */
  committed({ ticks, at, newest }: Chosen): void {
    for (const [id, move] of newest) this.#owed.set(id, move)
    for (const { instrumentId } of ticks) {
      this.#storedAt.set(instrumentId, at)
      this.#owed.delete(instrumentId)
    }
  }
}

/** The price as it stands, as a move from itself. */
function standing(instrument: Instrument, at: Instant): PriceMoved {
  const quote = quoteOf(instrument)
  const { id: instrumentId } = instrument
  return { kind: 'price_moved', instrumentId, quote, previous: quote.price, cause: 'match', providerEventId: 0, at }
}

function following(earlier: PriceMoved, later: PriceMoved): PriceMoved {
  const keepsCause = earlier.cause !== 'trade' && later.cause === 'trade'
  const from = keepsCause ? { cause: earlier.cause, providerEventId: earlier.providerEventId } : {}
  return withReason({ ...later, ...from }, earlier.reason)
}

/** A tick tells why the base moved since the tick before it, also where moves in between are not stored. */
const withReason = (move: PriceMoved, earlier: PriceMoved['reason']): PriceMoved =>
  earlier === undefined ? move : { ...move, reason: joined(earlier, move.reason) }
