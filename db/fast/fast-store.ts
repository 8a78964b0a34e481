/**
 * Port to the fast store, and every key name in it. It holds only what may be lost; what must last is in the database.
 * So every key expires, except those of the leaderboards.
 */
import type { UserId } from '../../actors/kernel/ids.ts'
import type { CommonPurse } from '../../actors/kernel/purse.ts'

/** All key names. A new kind of key gets its name here. */
export const keys = {
  /** Hash `balance` (decimal text), `version`: the balance as shown (specification 2.3). */
  wallet: (userId: UserId) => `wallet:${userId}`,
  /**
   * Marks: the sessions of an installation that have ended, until the last of their tokens would have expired; and
   * COMPLETE, which says that all of them are there. One key, so that nothing can take away some and leave the rest.
   */
  ended: (installation: string) => `ended:${installation}`,
  /** Calls of a route by one caller in the running window. */
  rate: (route: string, caller: string) => `rate:${route}:${caller}`,
  /** When a caller's latest calls of an action were. */
  calls: (action: string, caller: string) => `calls:${action}:${caller}`,
  /** What readiness writes. */
  probe: (n: number) => `probe:${n}`,
  /** Prefix of an installation's leaderboards of a purse (boards-redis.ts). A build replaces them. */
  boards: (installation: string, purse: CommonPurse) => `boards:${installation}:${purse}`,
} as const

export type Fields = Readonly<Record<string, string>>

/** Fields for a key, with their version. */
export interface Put {
  readonly key: string
  readonly fields: Fields
  readonly version: number
}

export interface Hits {
  /** Calls in the running window, this one included. */
  readonly count: number
  /** Milliseconds until the window ends and the count starts again. */
  readonly endsInMs: number
}

/** As many calls as this in any stretch of time so long. */
export interface Allowance {
  readonly calls: number
  /** Whole milliseconds, at least 1. */
  readonly windowMs: number
}

export interface Spent {
  readonly allowed: boolean
  /** Calls that may still follow at once. */
  readonly left: number
  /** Milliseconds until the oldest call no longer counts. */
  readonly inMs: number
}

/**
 * Every method is one atomic step, also among processes. It throws when the store is unavailable or full (a fault, see
 * `faults.ts`); then its outcome is unknown. Times to live are whole milliseconds, at least 1.
 */
export interface FastStore {
  /** Whether a call would be sent now; false while the store is unavailable. */
  readonly connected: boolean

  /** The text at a key, or null. */
  get(key: string): Promise<string | null>
  /** Replaces the value of a key, and restarts its time to live. */
  set(key: string, value: string, ttlMs: number): Promise<void>
  /** Removes a key of any kind. */
  del(key: string): Promise<void>
  /** Returns and removes the text at a key, or null. Of several takers exactly one gets it. */
  take(key: string): Promise<string | null>
  /** Sets a mark if the key is free. Until it expires, true for exactly one of several claimants. */
  claim(key: string, ttlMs: number): Promise<boolean>

  /**
   * Adds marks to a key, each of which stays for at least this long; all are there or none. With `ifMarked` only if
   * that mark is there. Returns whether they were added.
   */
  mark(key: string, marks: readonly string[], ttlMs: number, ifMarked?: string): Promise<boolean>
  /** Whether each of these marks is at a key, in their order. */
  marked(key: string, marks: readonly string[]): Promise<readonly boolean[]>

  /** All fields at a key, or null. Text put there from outside counts as nothing and is overwritten. */
  hashGet(key: string): Promise<Fields | null>
  /** The same for many keys, in their order: one step per key, one round trip in all. */
  hashGetMany(keys: readonly string[]): Promise<readonly (Fields | null)[]>
  /**
   * Sets fields, including `version`, and restarts the time to live, if the stored `version` is smaller, absent or not
   * a number. Otherwise returns false and changes nothing: a late writer cannot win.
   */
  putIfNewer(key: string, fields: Fields, version: number, ttlMs: number): Promise<boolean>
  /** The same for many: one step per key, one round trip in all. */
  putManyIfNewer(puts: readonly Put[], ttlMs: number): Promise<void>

  /** Counts a call. The first one starts a window of `windowMs`; later ones do not prolong it. */
  hit(key: string, windowMs: number): Promise<Hits>
  /** Counts a call if as many as are allowed have not been counted within the window; otherwise it does not count. */
  spend(key: string, allowance: Allowance): Promise<Spent>

  /** Reads and writes on every server of the store: throws unless all of them can do both. */
  probe(): Promise<void>

  /** Closes the connection. Later calls throw. */
  close(): Promise<void>
}
