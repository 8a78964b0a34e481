/** The persistence port of a match: what the actor asks of the store, and what the store guarantees. */
import type { FixtureId, InstrumentId, UserId } from '../kernel/ids.ts'
import type { TradingRules } from '../kernel/limits.ts'
import type { Money, Price } from '../kernel/micros.ts'
import type { OwnBounds } from '../kernel/own-limits.ts'
import type { Purse, WalletKey } from '../kernel/purse.ts'
import type { Instant } from '../kernel/world.ts'
import type { Instrument, PastMatches } from '../market/instrument.ts'
import type { PricingMemory, ScoringModel } from '../market/pricing.ts'
import type { Position } from '../position/position.ts'
import type { MovableClose } from './protection/closes.ts'
import type {
  Ending,
  FeedUpdate,
  IdempotencyKey,
  KeyedResult,
  MatchEvent,
  MatchInfo,
  PriceMoved,
  WalletAfter,
} from './messages.ts'

/** A match as last committed. */
export interface MatchRecord {
  readonly info: MatchInfo
  readonly pricing: PricingMemory
  readonly instruments: readonly Instrument[]
  readonly openPositions: readonly Position[]
  /** Protection: the closes that news may move; absent without any. */
  readonly movableCloses?: readonly MovableClose[]
}

/**
 * Each is heard in the commit that it is part of; `at` is the time at which that commit was decided. The journal keeps
 * these; what follows from them, and from users' orders between them, is on the tape.
 */
export type Heard =
  /** In force from here on. The first entry of each owner, and one after each change. */
  | { readonly kind: 'rules'; readonly at: Instant; readonly rules: TradingRules; readonly model: ScoringModel }
  /** An update that the match accepted, with the histories of the players that it listed. */
  | {
      readonly kind: 'update'
      readonly at: Instant
      readonly update: FeedUpdate
      readonly histories: ReadonlyMap<InstrumentId, InstrumentHistory>
    }
  /** Time passed, and something followed from it. */
  | { readonly kind: 'clock'; readonly at: Instant }
  /** An operator ended the match. */
  | { readonly kind: 'end'; readonly at: Instant; readonly ending: Ending }

/** What a commit has heard, and after how many of its events. */
export interface HeardAfter {
  readonly heard: Heard
  readonly after: number
}

/** A player's history before this match. */
export interface InstrumentHistory {
  /** The player's last price, from their last settlement or tick. */
  readonly last: Price | null
  /** The player's anchor for the season, if one is set. */
  readonly anchor: Price | null
  /** The live matches that the player took part in; null before the first. */
  readonly past: PastMatches | null
  /** The unsettled match that lists the player. No other may list them, or its positions would lose their price. */
  readonly heldBy: FixtureId | null
}

/** A keyed command of a batch. */
export interface KeyedCommand {
  readonly userId: UserId
  /** The purse that it trades with. */
  readonly purse: Purse
  readonly idempotency: IdempotencyKey
  /** What to store for retries; null when a retry must be decided again and only earlier results count. */
  readonly result: KeyedResult | null
}

/** What a user holds in this match after the batch. The store takes it as given and adds their other matches. */
export interface Holding {
  readonly userId: UserId
  readonly purse: Purse
  readonly openPositions: number
  /** The PnL of closing them at the prices after the batch: each rounded down, none below −margin. */
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
  /** The instruments the batch listed or changed, as they are after it, each with its price. */
  readonly instruments: readonly { readonly instrument: Instrument; readonly price: Price }[]
  /** The ticks to keep: some of the batch's price moves, and prices that stand still. */
  readonly ticks: readonly PriceMoved[]
  readonly keyed: readonly KeyedCommand[]
  /** Wallets that the caller wants back, changed or not: at most one of each user. */
  readonly watch: readonly Holding[]
  /** What the match has heard since its last commit, in order, for journal and tape; absent means nothing. */
  readonly heard?: readonly HeardAfter[]
  /** How many positions triggers could close or warn about in the batch; absent means BATCH_MAX. */
  readonly room?: number
  /** Ids of the requests in the batch, for the log. */
  readonly requests?: readonly string[]
  /** Trace contexts of the requests in the batch. */
  readonly traces?: readonly string[]
  /** Protection is on: what closes have paid opens nothing while news may move them. */
  readonly protected?: true
  /** The most positions a wallet may hold open after the batch. */
  readonly openPositionsMax: number
}

/** What a wallet held when a batch was rejected. A user without one has nothing. */
export interface WalletFound extends WalletKey<UserId> {
  /** What of its balance can be opened with. */
  readonly available: Money
  /** Of the purse, in all matches. */
  readonly openPositions: number
  /** Whether its user is frozen, and opens nothing. */
  readonly frozen?: boolean
  /** What its user allows themselves; absent without limits. */
  readonly bounds?: OwnBounds
}

/** Tells wallets apart: a name of a wallet in maps. */
export const walletName = ({ userId, purse }: WalletKey<UserId>): string => `${purse} ${userId}`

/** Why a batch was rejected: at most one failure per user. */
export type CommitFailure =
  | { readonly kind: 'insufficient_margin'; readonly userId: UserId; readonly available: Money }
  | { readonly kind: 'position_limit' | 'account_frozen' | 'own_limit'; readonly userId: UserId }
  | { readonly kind: 'key_used'; readonly userId: UserId; readonly stored: StoredResult }

export interface StoredResult {
  readonly fingerprint: string
  readonly result: KeyedResult
  /** The wallet after that earlier command. */
  readonly wallet: WalletAfter
}

export type Verdict =
  | { readonly kind: 'committed'; readonly wallets: ReadonlyMap<UserId, WalletAfter> }
  /** Another owner has taken the match over. Nothing was written, and this owner must stop. */
  | { readonly kind: 'fenced' }
  /** Nothing was written. `wallets`: what those held that the batch would have changed or watches. */
  | {
      readonly kind: 'rejected'
      readonly failures: readonly CommitFailure[]
      readonly wallets: readonly WalletFound[]
    }

export interface MatchStore {
  /**
   * The match as last committed, or null when it is unknown. Throws Unreadable or InvariantBroken when what is stored
   * cannot be read; retrying does not help.
   */
  load(matchId: FixtureId): Promise<MatchRecord | null>

  /** The histories of these instruments. Unknown instruments are absent. */
  histories(ids: readonly InstrumentId[]): Promise<ReadonlyMap<InstrumentId, InstrumentHistory>>

  /**
   * Writes the batch, all or nothing, in one statement: fence, keys, wallets, ledger, positions, instruments, ticks and
   * the match itself, and the journal of what it heard. Wallets are locked in the order of user ids and purses, so
   * matches that share users cannot deadlock.
   * Throws when the database is unavailable; then it is unknown whether the batch was written.
   */
  commit(batch: Batch): Promise<Verdict>

  /** The stored result of a key, or null. For callers that find no running match. */
  recall(userId: UserId, idempotency: IdempotencyKey): Promise<StoredResult | null>
}

/** The right to write a match: a lease whose epoch only grows. */
export interface Leases {
  /** The new epoch, or null while another owner's lease runs. Taking it fences every earlier owner. */
  acquire(matchId: FixtureId): Promise<number | null>
  /** Extends the lease. False when it was lost: the owner must stop at once. */
  renew(matchId: FixtureId, epoch: number): Promise<boolean>
  /** Gives the lease back, so that the next owner need not wait. Does nothing when it was already lost. */
  release(matchId: FixtureId, epoch: number): Promise<void>
}
