/** The match actor (signatures; the body follows). */
import type { FixtureId, InstrumentId } from '../kernel/ids.ts'
import type { TradingRules } from '../kernel/limits.ts'
import type { Lots, Money, Price } from '../kernel/micros.ts'
import type { Outcome, Refusal, TradeWindow } from '../kernel/outcome.ts'
import type { Instant, World } from '../kernel/world.ts'
import type { Cause, Instrument, Quote } from '../market/instrument.ts'
import type { ScoringModel } from '../market/pricing.ts'
import type { Direction } from '../position/position.ts'
import type { FeedUpdate, MatchEvent, Trade, UserCommand } from './messages.ts'
import type { MatchView } from './state.ts'
import type { MatchRecord, MatchStore } from './store.ts'

export interface MatchActorOptions {
  readonly record: MatchRecord
  readonly epoch: number
  readonly store: MatchStore
  readonly world: World
  /** Read anew for every command, so that a changed setting counts at once. */
  readonly rules: () => TradingRules
  readonly model: () => ScoringModel
  /** Called after every commit, in order, with what is now true. Must not throw. */
  readonly onCommitted: (events: readonly MatchEvent[]) => void
  /** The actor has stopped by itself and must be let go of: another owner took over, or an invariant broke. */
  readonly onStopped: (reason: 'fenced' | 'broken', error: unknown) => void
}

/** One price to tell subscribers: the newest of what moved since the last publication. */
export interface Publication {
  readonly instrument: Instrument
  readonly quote: Quote
  readonly previous: Price
  readonly cause: Cause
  readonly providerEventId: number
  readonly at: Instant
  /** Older moves were folded into this one. */
  readonly conflated: boolean
}

export interface QuoteQuery {
  readonly instrumentId: InstrumentId
  readonly direction: Direction
  readonly lots: Lots
  readonly stopLoss: Price | null
  readonly takeProfit: Price | null
  /** The caller's free margin, or null when unknown. */
  readonly available: Money | null
}

export interface QuoteAnswer {
  readonly fillPrice: Price
  /** Fill price − current price. */
  readonly impact: Price
  readonly currentPrice: Price
  readonly margin: Money
  readonly washoutPrice: Price | null
  readonly pnlAtStopLoss: Money | null
  readonly pnlAtTakeProfit: Money | null
  readonly maxLots: Lots
  /** Why an opening like this would be refused now, or null. */
  readonly refusal: Refusal | null
}

export declare class MatchActor {
  constructor(options: MatchActorOptions)
  readonly matchId: FixtureId
  readonly epoch: number
  /** The committed state. */
  readonly view: MatchView
  /** Queues a command. Always answers with an Outcome; rejects only with a fault (database away). */
  submit(command: UserCommand): Promise<Outcome<Trade>>
  /** Queues a feed update; resolves when it is committed. */
  feed(update: FeedUpdate): Promise<'applied' | 'dropped'>
  /** Time has passed. Call about once a second. */
  clock(): void
  quote(query: QuoteQuery): Outcome<QuoteAnswer>
  /** The trade window of the match, or of one instrument. */
  window(instrumentId?: InstrumentId): TradeWindow
  /** Prices that moved since the last call; marks them published. Call at most every PUBLISH_INTERVAL_MS. */
  takeUnpublished(): readonly Publication[]
  /** Takes no more commands, finishes those it has, and resolves. */
  stop(): Promise<void>
}
