/** All messages of a match, as two closed unions: the commands it takes and the events it emits. */
import type { FixtureId, InstrumentId, LeagueId, PlayerId, PositionId, UserId } from '../kernel/ids.ts'
import type { Lots, Money, Price } from '../kernel/micros.ts'
import type { Refusal } from '../kernel/outcome.ts'
import type { CommonPurse } from '../kernel/purse.ts'
import type { Instant } from '../kernel/world.ts'
import type { RefusedUpdate, RunningClock } from '../market/feed-clock.ts'
import type { FixturePlayer, FixtureTeam, SaidFixture, Side } from '../market/fixture.ts'
import type { Cause, Instrument, Quote } from '../market/instrument.ts'
import type { ReportedEvent } from '../market/match-report.ts'
import type { NewsMemory } from '../market/news-memory.ts'
import type { MoveReason } from '../market/move-reason.ts'
import type { Phase } from '../market/phase.ts'
import type { PricingMemory } from '../market/pricing.ts'
import type { ClosedPosition, Direction, Position } from '../position/position.ts'

/** The routes an idempotency key is scoped to. */
export type KeyedRoute = 'open' | 'close'

/** A client's promise that a retry is the same request, and the means to check it. */
export interface IdempotencyKey {
  /**
   * A UUID derived from the user, the route and the client's key, so no other user's command can have it. A position
   * opened under a key takes it as its own id, so it cannot exist twice.
   */
  readonly id: string
  /** A digest of the request: the same key with another digest is refused. */
  readonly fingerprint: string
}

/** Where a command came from. No decision depends on it. */
interface Traced {
  /** The id of the request in the logs. */
  readonly requestId?: string
  /** The trace context of the request (`traceparent`). */
  readonly trace?: string
}

export interface OpenPosition extends Traced {
  readonly kind: 'open_position'
  readonly userId: UserId
  /** The league whose purse pays; absent for the purse of the match. */
  readonly league?: LeagueId | undefined
  readonly instrumentId: InstrumentId
  readonly direction: Direction
  readonly lots: Lots
  /** The price the client saw when it decided. */
  readonly clientPrice: Price
  readonly stopLoss: Price | null
  readonly takeProfit: Price | null
  readonly idempotency: IdempotencyKey | null
}

export interface ChangeLevels extends Traced {
  readonly kind: 'change_levels'
  readonly userId: UserId
  readonly positionId: PositionId
  /** Undefined keeps the level, null removes it. */
  readonly stopLoss: Price | null | undefined
  readonly takeProfit: Price | null | undefined
}

export interface ClosePosition extends Traced {
  readonly kind: 'close_position'
  readonly userId: UserId
  readonly positionId: PositionId
  readonly idempotency: IdempotencyKey | null
}

/**
 * Closes a part of a position, or all of it. A kind of its own: a process of an older version must refuse it, not close
 * everything.
 */
export interface ClosePart extends Omit<ClosePosition, 'kind'> {
  readonly kind: 'close_part'
  readonly lots: Lots
}

/** A user's request to a match. Each is answered with one Outcome. */
export type UserCommand = OpenPosition | ChangeLevels | ClosePosition | ClosePart

/** The next snapshot from the provider or a replay. Updates at or below the last accepted `seq` are dropped. */
export interface FeedUpdate {
  readonly kind: 'feed_update'
  readonly seq: number
  readonly snapshot: SaidFixture
  /** How many times faster than life a replay plays; absent means life itself. */
  readonly speed?: number | undefined
  /** Whether the players it lists start at their anchors, whatever was played before; absent means no. */
  readonly atAnchors?: boolean | undefined
  /** What the snapshot was read from, for the journal; absent where only the snapshot is known. */
  readonly source?: UpdateSource | undefined
}

/** A provider's payload. No decision depends on it: the snapshot says all that a match needs. */
export interface UpdateSource {
  readonly payload: unknown
  /** The namespace of the players' instrument ids. */
  readonly players: string
}

/** Time has passed: confirms full time, ends suspensions, continues a settlement. */
export interface Clock {
  readonly kind: 'clock'
}

/** How an operator ends a match: `full_time` settles at current prices, `void` gives every margin back. */
export type Ending = 'full_time' | 'void'

/** An operator ends a match that the provider leaves open. */
export interface EndMatch {
  readonly kind: 'end_match'
  readonly ending: Ending
}

/** An operator voids a position: it is closed as if it had never been opened. */
export interface VoidPosition {
  readonly kind: 'void_position'
  readonly positionId: PositionId
}

/** A message that no user sends. A full mailbox still takes it. */
export type SystemCommand = FeedUpdate | Clock | EndMatch | VoidPosition

/** A wallet after a commit. Unrealised PnL covers all open positions of its purse, at the last committed prices. */
export interface WalletAfter {
  readonly balance: Money
  /** Protection: the part of the balance with which nothing can be opened yet; absent when there is none. */
  readonly locked?: Money | undefined
  readonly marginUsed: Money
  readonly unrealizedPnl: Money
}

/** What is left of a position of which a part was closed, and what closing it then fills at. */
export interface Rest {
  readonly position: Position
  readonly exitPrice: Price
}

/** The result of an accepted user command. */
export interface Trade {
  readonly position: Position
  /** The price right after the trade, its own impact included. */
  readonly price: Price
  /** What closing the position then fills at; its close price once it is closed. */
  readonly exitPrice: Price
  /** Present if a part was closed and the rest is open. */
  readonly rest?: Rest
  readonly wallet: WalletAfter
  /** True when this is the stored answer to an earlier request with the same key. */
  readonly repeated: boolean
}

/** The match as a whole: the state of the fixture, and the progress of feed and settlement. */
export interface MatchInfo {
  readonly matchId: FixtureId
  readonly name: string
  readonly league: string
  readonly startsAt: Instant
  readonly state: string | null
  readonly stateId: number | null
  readonly phase: Phase
  readonly minute: number | null
  readonly home: FixtureTeam
  readonly away: FixtureTeam
  /** True if the match replays a recording. */
  readonly replay: boolean
  /** The purse that is traded with outside leagues. Fixed when the match is made. */
  readonly purse: CommonPurse
  /** How many times faster than life it plays. */
  readonly speed: number
  /** The last accepted feed update, 0 before the first. */
  readonly feedSeq: number
  /** When the feed last told of the match, be it nothing new. */
  readonly sourceAt: Instant | null
  /** The match clock as last shown; null while none has to run. */
  readonly clock: RunningClock | null
  /**
   * When the phase became `ended`, and with which update it became that or `off`. The confirmation window starts here.
   * A live match takes the time of the update, a replay the server's.
   */
  readonly endedAt: Instant | null
  readonly endedSeq: number | null
  /** When an update first showed it in play; null before. */
  readonly kickedOffAt: Instant | null
  /** Set when settlement begins; from then on prices no longer move. */
  readonly settling: 'full_time' | 'void' | null
  /** Set when settlement has closed the last position. */
  readonly settledAt: Instant | null
  /** The in-game events as last reported, for display. */
  readonly events: readonly ReportedEvent[]
  /** Every player the line-ups have named, with their latest statistics. */
  readonly squad: readonly FixturePlayer[]
  /** Who is playing just now; null while no line-up says who starts. */
  readonly onPitch: readonly PlayerId[] | null
  readonly teamStats: Readonly<Record<Side, Readonly<Record<string, number>>>> | null
  /** Why its stored state cannot be read; absent while it can. Such a match waits for an operator to end it. */
  readonly quarantine?: string
}

export type MatchEvent =
  | {
      readonly kind: 'match_updated'
      readonly info: MatchInfo
      readonly pricing: PricingMemory
      /** Why the update behind it was not taken; absent where it was. */
      readonly refused?: RefusedUpdate
    }
  | { readonly kind: 'instrument_listed'; readonly instrument: Instrument }
  /** Another cap for the crowd's part, or the match has ended or goes on. */
  | {
      readonly kind: 'curve_changed'
      readonly instrumentId: InstrumentId
      readonly impactCapPpm: number
      readonly endedImbalance: Lots | null
    }
  /** More levels fired together than one commit closes: their step begins, or is complete. */
  | { readonly kind: 'leaving_changed'; readonly instrumentId: InstrumentId; readonly leavingFrom: Lots | null }
  | { readonly kind: 'instrument_settled'; readonly instrumentId: InstrumentId; readonly price: Price }
  | PriceMoved
  | { readonly kind: 'position_opened'; readonly position: Position }
  /** A part is a position of its own from now on, and is closed next. `position` is the rest. */
  | { readonly kind: 'position_split'; readonly position: Position; readonly part: Position }
  | { readonly kind: 'levels_changed'; readonly position: Position }
  /** A part of the margin is lost; the position stays open. */
  | { readonly kind: 'margin_warned'; readonly position: Position }
  | {
      readonly kind: 'position_closed'
      readonly position: ClosedPosition
      /** Protection: until when news may move it; absent when none can. */
      readonly movableUntil?: Instant | undefined
      /** What a gap would have cost beyond the margin: the house bears it. Absent for most. */
      readonly beyondMargin?: Money
    }
  /** Protection: what it remembers of a player's news. */
  | { readonly kind: 'news_changed'; readonly instrumentId: InstrumentId; readonly news: NewsMemory | null }
  | FillMoved
  /** Protection: an operator has voided a close. */
  | { readonly kind: 'close_forgotten'; readonly positionId: PositionId }

/** Protection: news has moved fills of a position, open or closed, or decides until when they may still move. */
export interface FillMoved {
  readonly kind: 'fill_moved'
  readonly position: Position
  readonly before: Position
  /** What is booked: the change of the realised PnL. */
  readonly amount: Money
  /** Of a closed one: from this instant on it stands. */
  readonly movableUntil: Instant | null
  /** Of a part: the rest if it is open, which counts the move when it closes. */
  readonly rest?: Position
}

/** A new quote of one instrument, whatever moved it. */
export interface PriceMoved {
  readonly kind: 'price_moved'
  readonly instrumentId: InstrumentId
  readonly quote: Quote
  readonly previous: Price
  readonly cause: Cause
  /** The provider's event that caused it, or 0. */
  readonly providerEventId: number
  /** Why the base moved; absent where it did not, or rules moved it. */
  readonly reason?: MoveReason | undefined
  readonly at: Instant
}

/** The stored result of a keyed command: a position or a refusal, never both. */
export type KeyedResult = Pick<Trade, 'position' | 'price' | 'exitPrice' | 'rest'> | { readonly refusal: Refusal }
