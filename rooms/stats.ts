/** Statistics of the real-time part of one process. Counters only grow. */
import type { FixtureId } from '../actors/kernel/ids.ts'
import type { RefusedUpdate } from '../actors/market/feed-clock.ts'
import type { FeedFaultReason } from './sources/provider.ts'

/** Prices sent to subscribers, at both endpoints. */
export interface Traffic {
  /** One write carries all prices that a subscriber is due at a time. */
  writes: number
  /** Prices in these writes. */
  prices: number
  /** Of these, prices that replaced older ones not yet sent to a slow subscriber. */
  conflated: number
}

export const noTraffic = (): Traffic => ({ writes: 0, prices: 0, conflated: 0 })

/** How requests to other processes ended. `failed`: the other process met a fault. */
export interface RequestEnds {
  answered: number
  gone: number
  silent: number
  failed: number
}

/** A match that runs in this process. */
export interface MatchStats {
  readonly matchId: FixtureId
  /** Messages in its mailbox. */
  readonly waiting: number
  /** How long no poll has told of it; null when it is not in play or has no data. */
  readonly feedAgeMs: number | null
  /** How long its clock has stood still; null when none has to run. */
  readonly clockStillMs: number | null
}

/** Feed updates that matches have not taken, by reason. */
export type RefusedUpdates = Record<RefusedUpdate, number>

/** The poller of the live provider, in a process that has one. Counters only grow. */
export interface PollerStats {
  /** Whether this process polls; another does, or none. */
  readonly polling: boolean
  readonly answered: number
  readonly failed: number
  /** While this process polls, since the newest answer, or else since it began. */
  readonly silentMs: number | null
  /** What came to nothing, by reason. */
  readonly faults: Readonly<Record<FeedFaultReason, number>>
  /** What is left of the provider's quota, while this process polls; null while it has not said. */
  readonly quotaLeft: number | null
}

export interface RealTimeStats {
  /** Open sockets by endpoint. */
  readonly sockets: { readonly feed: number; readonly room: number }
  readonly traffic: Readonly<Traffic>
  /** Sockets closed because they were too slow. */
  readonly tooSlow: number
  readonly matches: readonly MatchStats[]
  readonly refusedUpdates: Readonly<RefusedUpdates>
  /** Null when there are no other processes. */
  readonly requests: Readonly<RequestEnds> | null
  /** How long this process has not heard itself on the bus, to the second; null without a bus. */
  readonly busUnheardMs: number | null
  /** Null without a live provider. */
  readonly poller: PollerStats | null
}
