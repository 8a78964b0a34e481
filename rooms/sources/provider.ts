/** Ports of the poller: the live provider, and the store of fixtures that no process runs. */
import type { FixtureId } from '../../actors/kernel/ids.ts'
import type { Instant } from '../../actors/kernel/world.ts'
import type { SaidFixture } from '../../actors/market/fixture.ts'
import type { Phase } from '../../actors/market/phase.ts'
import type { Allowance } from '../../actors/market/polling.ts'
import type { MatchInfo, UpdateSource } from '../../actors/match/messages.ts'

export interface ProviderAnswer {
  readonly fixtures: readonly SaidFixture[]
  /** What the fixtures were read from. */
  readonly sources: ReadonlyMap<SaidFixture, UpdateSource>
  /** The payloads that could not be read. */
  readonly unreadable: readonly UnreadableFixture[]
  /** Names of fields and lists that hold what cannot be right, by fixture: they count as not said. */
  readonly refused: ReadonlyMap<FixtureId, readonly string[]>
  /** Null when the provider did not say. */
  readonly allowance: Allowance | null
  /** Why the rest of the list is not there, where only its first pages could be read. */
  readonly incomplete?: Error
}

/** A payload that could not be read, in plain words. */
export interface UnreadableFixture {
  /** Null where the payload does not say. */
  readonly matchId: number | null
  readonly detail: string
}

/**
 * Where live matches come from. Every method throws when there is no answer, with `retryAfterMs` if the provider gave
 * one.
 */
export interface Provider {
  /** Matches in play, and those about to start or just ended; incomplete when only the first pages can be read. */
  inPlay(): Promise<ProviderAnswer>
  fixtures(ids: readonly FixtureId[]): Promise<ProviderAnswer>
  /**
   * All fixtures between two days, both included, in outline and with the odds of their results where there are any.
   */
  calendar(from: Instant, to: Instant): Promise<ProviderAnswer>
}

export interface FixtureCalendar {
  /** Overwrites what is stored about these fixtures. */
  note(fixtures: readonly MatchInfo[]): Promise<void>
  /** Stores these fixtures and removes all others between the two instants. */
  replace(from: Instant, to: Instant, fixtures: readonly MatchInfo[]): Promise<void>
  /** Unsettled matches of the provider that have started to run, in any process. */
  running(): Promise<readonly RunningMatch[]>
}

/** A running match as last committed; it may run in another process. */
export interface RunningMatch {
  readonly matchId: FixtureId
  readonly phase: Phase
  /** The last feed update it accepted. */
  readonly feedSeq: number
}

/**
 * Why part of what the provider sent, or all of it, came to nothing: a request failed, the quota is spent, a payload
 * could not be read, a fixture could not be stored, its match could not take the update, or fields held what cannot be
 * right.
 */
export const FEED_FAULTS = ['request', 'quota', 'unreadable', 'calendar', 'update', 'field'] as const
export type FeedFaultReason = (typeof FEED_FAULTS)[number]

export interface FeedFault {
  readonly reason: FeedFaultReason
  /** The fixture that was skipped; null where the fault concerns no single one. */
  readonly matchId: number | null
  /** In plain words. */
  readonly detail: string
}

/** Keeps for operators what went wrong, whichever process polls. */
export interface FeedFaultLog {
  /** Adds these faults, those of one reason and fixture to one another. */
  note(faults: readonly FeedFault[]): Promise<void>
}

/** The state of polling. */
export interface ProviderStatus {
  /** Whether this process is the one that polls. */
  readonly polling: boolean
  /** Polls that have ended. */
  readonly polls: number
  /** Failed requests for the matches in play since the last successful one. */
  readonly failing: number
  /** Polls of which a request failed. */
  readonly failures: number
  /** Faults by reason. */
  readonly faults: Readonly<Record<FeedFaultReason, number>>
  /** What is left of the provider's quota; null while it has not said. */
  readonly quotaLeft: number | null
  /** Its last answer, or else when this process began to poll; null if it never has. */
  readonly silentSince: Instant | null
}
