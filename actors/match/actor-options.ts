/** What a match actor is given by the process that runs it, and what it gives back. */
import type { TradingRules } from '../kernel/limits.ts'
import type { Price } from '../kernel/micros.ts'
import type { Instant, World } from '../kernel/world.ts'
import type { Cause, Instrument, Quote } from '../market/instrument.ts'
import type { ScoringModel } from '../market/pricing.ts'
import type { MatchEvent } from './messages.ts'
import type { MatchRecord, MatchStore } from './store.ts'

export interface MatchActorOptions {
  readonly record: MatchRecord
  readonly epoch: number
  readonly store: MatchStore
  readonly world: World
  /** Read for every batch, so that a changed setting takes effect at once. */
  readonly rules: () => TradingRules
  readonly model: () => ScoringModel
  /**
   * The most commands in one commit, and closes by the match; BATCH_MAX if absent. Asked before every batch, with the
   * number of those who wait for it.
   */
  readonly batchMax?: (waiting: number) => number
  /** Resolves in a later turn of the event loop, when everything else has had its turn. */
  readonly pause: () => Promise<void>
  /** Called after every commit, in order, with the committed events. Must not throw. */
  readonly onCommitted: (events: readonly MatchEvent[]) => void
  /** The actor stopped itself; discard it. The next command reloads the match. */
  readonly onStopped: (reason: StopReason, error: unknown) => void
}

/** Another owner took over; an invariant broke; the store failed and it is unknown what it wrote. */
export type StopReason = 'fenced' | 'broken' | 'fault'

/** A price to publish: the newest since the last publication. */
export interface Publication {
  readonly instrument: Instrument
  readonly quote: Quote
  /** The price last published. */
  readonly previous: Price
  readonly cause: Cause
  readonly providerEventId: number
  readonly at: Instant
  /** True when this price replaces older ones that were never published. */
  readonly conflated: boolean
}
