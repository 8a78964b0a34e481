/** Ports of the poller: the live provider, and the store of fixtures that no process runs. */
import type { FixtureId } from '../../actors/kernel/ids.ts'
import type { Instant } from '../../actors/kernel/world.ts'
import type { FixtureSnapshot } from '../../actors/market/fixture.ts'
import type { Phase } from '../../actors/market/phase.ts'
import type { Allowance } from '../../actors/market/polling.ts'
import type { MatchInfo, UpdateSource } from '../../actors/match/messages.ts'

export interface ProviderAnswer {
  readonly fixtures: readonly FixtureSnapshot[]
  /** What the fixtures were read from. */
  readonly sources: ReadonlyMap<FixtureSnapshot, UpdateSource>
  /** One reason for each payload that could not be read, for people to read. */
  readonly unreadable: readonly string[]
  /** Null when the provider did not say. */
  readonly allowance: Allowance | null
}

/**
 * Where live matches come from. Every method throws when there is no answer, with `retryAfterMs` if the provider gave
 * one.
 */
export interface Provider {
  /** Matches in play, and those about to start or just ended. */
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

/** The state of polling. */
export interface ProviderStatus {
  /** Whether this process is the one that polls. */
  readonly polling: boolean
  readonly polls: number
  /** Failed polls since the last successful one. */
  readonly failing: number
  /** Failed polls in all. */
  readonly failures: number
  /** Payloads that could not be read. */
  readonly unreadable: number
  readonly answeredAt: Instant | null
}
