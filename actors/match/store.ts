/** The port through which a match remembers: what it asks of persistence, and what it is promised. */
import type { FixtureId, InstrumentId, UserId } from '../kernel/ids.ts'
import type { Money, Price } from '../kernel/micros.ts'
import type { Instant } from '../kernel/world.ts'
import type { Instrument } from '../market/instrument.ts'
import type { PricingMemory } from '../market/pricing.ts'
import type { Position } from '../position/position.ts'
import type { IdempotencyKey, KeyedResult, MatchEvent, MatchInfo, PriceMoved, WalletAfter } from './messages.ts'

/** A match as last committed. */
export interface MatchRecord {
  readonly info: MatchInfo
  readonly pricing: PricingMemory
  readonly instruments: readonly Instrument[]
  readonly openPositions: readonly Position[]
}

/** What is known of a player from before this match. */
export interface InstrumentHistory {
  /** His last price, as of his last settlement or tick. */
  readonly last: Price | null
  /** His season's value, when somebody set one. */
  readonly anchor: Price | null
  /** The match that has him and has not settled: nobody else may list him, or its positions would lose their price. */
  readonly heldBy: FixtureId | null
}

/** A keyed command of a batch. */
export interface KeyedCommand {
  readonly userId: UserId
  readonly idempotency: IdempotencyKey
  /** What to store for its retries; null when a retry is to be decided anew, and only earlier results count. */
  readonly result: KeyedResult | null
}

/** What a user has in this match once the batch is done. The store takes its word, and adds what he has in others. */
export interface Holding {
  readonly userId: UserId
  readonly openPositions: number
  /** What closing them would pay at the prices that the batch leaves: each rounded down, none below its margin. */
  readonly unrealizedPnl: Money
}

/** What is committed together. Events are in the order in which they happened. */
export interface Batch {
  /** A new UUID: the reference of the batch in the ledger. */
  readonly id: string
  readonly matchId: FixtureId
  readonly epoch: number
  readonly at: Instant
  readonly events: readonly MatchEvent[]
  /** The instruments the batch listed or changed, as it leaves them, each with the price that then stands. */
  readonly instruments: readonly { readonly instrument: Instrument; readonly price: Price }[]
  /** The ticks to keep, a subset of the batch's price moves. */
  readonly ticks: readonly PriceMoved[]
  readonly keyed: readonly KeyedCommand[]
  /** Users whose wallets the caller wants to see afterwards, whether or not they changed. */
  readonly watch: readonly Holding[]
  /** The requests whose commands it answers, as far as they are known by name: for the log. */
  readonly requests?: readonly string[]
  /** What their commands are part of, as they said. */
  readonly traces?: readonly string[]
  /** How many positions a user may hold open once the batch is done. */
  readonly openPositionsMax: number
}

/** Why a batch was turned down: at most one failure a user. */
export type CommitFailure =
  | { readonly kind: 'insufficient_margin'; readonly userId: UserId; readonly available: Money }
  | { readonly kind: 'position_limit'; readonly userId: UserId }
  | { readonly kind: 'key_used'; readonly userId: UserId; readonly stored: StoredResult }

export interface StoredResult {
  readonly fingerprint: string
  readonly result: KeyedResult
  /** The wallet as that earlier command left it. */
  readonly wallet: WalletAfter
}

export type Verdict =
  | { readonly kind: 'committed'; readonly wallets: ReadonlyMap<UserId, WalletAfter> }
  /** Another owner has taken the match over: nothing was written, and this one must stop. */
  | { readonly kind: 'fenced' }
  /** Nothing was written. */
  | { readonly kind: 'rejected'; readonly failures: readonly CommitFailure[] }

export interface MatchStore {
  /** The match as last committed, or null when nobody has ever reported it. */
  load(matchId: FixtureId): Promise<MatchRecord | null>

  /** What is known of these instruments; an unknown one is simply absent. */
  histories(ids: readonly InstrumentId[]): Promise<ReadonlyMap<InstrumentId, InstrumentHistory>>

  /**
   * Writes the batch, all or nothing, in one statement: fence, keys, wallets, ledger, positions, instruments, ticks and
   * the match itself. Wallets are locked in user-id order, so matches that share users cannot deadlock.
   * Throws when the database is away; then it is unknown whether the batch was written.
   */
  commit(batch: Batch): Promise<Verdict>

  /** The stored result of a key, or null. For callers who find no match to ask. */
  recall(userId: UserId, idempotency: IdempotencyKey): Promise<StoredResult | null>
}

/** Who may write a match: a lease with an epoch that only ever grows. */
export interface Leases {
  /** The new epoch, or null while another owner's lease runs. Taking it fences every earlier owner. */
  acquire(matchId: FixtureId): Promise<number | null>
  /** Prolongs the lease. False when it was lost: the owner must stop at once. */
  renew(matchId: FixtureId, epoch: number): Promise<boolean>
  /** Gives it back, so that the next owner need not wait. Does nothing when it was lost already. */
  release(matchId: FixtureId, epoch: number): Promise<void>
}
