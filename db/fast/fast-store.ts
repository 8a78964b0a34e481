/**
 * The port to the fast store, and every key name in it. It holds what may be lost: what must last is in the database.
 * That is why every key expires, except for those of the leaderboards.
 */
import type { SessionId, UserId } from '../../actors/kernel/ids.ts'

/** Where everything is kept. A new kind of key gets its name here, and nowhere else. */
export const keys = {
  /** Hash `balance` (decimal text), `version`: the balance as shown (specification 2.3). */
  wallet: (userId: UserId) => `wallet:${userId}`,
  /** A session that is over, until the last of its tokens would have expired anyway. */
  ended: (session: SessionId) => `ended:${session}`,
  /** A nonce that has signed somebody in. */
  nonce: (nonce: string) => `nonce:${nonce}`,
  /** The one-time code of somebody who registers, as it is checked: `id.digest`. */
  code: (subject: string) => `code:${subject}`,
  /** How often a code has been guessed. */
  guesses: (codeId: string) => `guesses:${codeId}`,
  /** While no other code is sent to somebody. */
  pause: (subject: string) => `pause:${subject}`,
  /** The e-mail that somebody who registers has proved to be his. */
  verified: (subject: string) => `verified:${subject}`,
  /** How often somebody has called a route in the running window. */
  rate: (route: string, caller: string) => `rate:${route}:${caller}`,
  /** How much of his allowance somebody has spent on an action. */
  allowance: (action: string, caller: string) => `allow:${action}:${caller}`,
  /** Where the leaderboards of an installation begin (boards-redis.ts). A build replaces them. */
  boards: (installation: string) => `boards:${installation}`,
} as const

export type Fields = Readonly<Record<string, string>>

/** Fields for a key, and what tells them from older and newer ones. */
export interface Put {
  readonly key: string
  readonly fields: Fields
  readonly version: number
}

export interface Hits {
  /** Calls in the running window, this one included. */
  readonly count: number
  /** Milliseconds until the window ends and the count starts anew. */
  readonly endsInMs: number
}

/** Calls that may be spent: so many at once, each of which comes back after a while. */
export interface Allowance {
  readonly burst: number
  /** Whole milliseconds, at least 1. */
  readonly everyMs: number
}

export interface Spent {
  readonly allowed: boolean
  /** Calls that may follow at once. */
  readonly left: number
  /** Milliseconds until one more may follow; 0 when one may now. */
  readonly inMs: number
}

/** What is left of an allowance when all of it will have come back in `owedMs`. */
export function spentOf(
  { allowed, owedMs }: { readonly allowed: boolean; readonly owedMs: number },
  { burst, everyMs }: Allowance,
): Spent {
  const left = Math.max(0, burst - Math.ceil(owedMs / everyMs))
  return { allowed, left, inMs: Math.max(0, owedMs - (burst - 1) * everyMs) }
}

/**
 * Every method is one atomic step, also among processes. A method throws when the store is away or full (a fault, see
 * `faults.ts`); then it is unknown whether it happened. Times to live are whole milliseconds, at least 1.
 */
export interface FastStore {
  /** Whether a call would be sent now; false while the store is away. */
  readonly connected: boolean

  /** The text at a key, or null. */
  get(key: string): Promise<string | null>
  /** Puts text there, whatever was there before, and starts its time anew. */
  set(key: string, value: string, ttlMs: number): Promise<void>
  /** Removes a key of any kind. */
  del(key: string): Promise<void>
  /** The text at a key, or null, and removes it: of several takers exactly one gets it. */
  take(key: string): Promise<string | null>
  /** Puts a mark where nothing is. True for exactly one of several claimants until the time is over. */
  claim(key: string, ttlMs: number): Promise<boolean>

  /** All fields at a key, or null; text that somebody put there counts as nothing, and is written over. */
  hashGet(key: string): Promise<Fields | null>
  /** The same for many keys, in their order; one step a key, one round trip for all. */
  hashGetMany(keys: readonly string[]): Promise<readonly (Fields | null)[]>
  /**
   * Sets fields, `version` among them, and starts the time anew, if the stored `version` is smaller, absent or not a
   * number. False, and nothing changed, if it is the same or greater: a late writer cannot win.
   */
  putIfNewer(key: string, fields: Fields, version: number, ttlMs: number): Promise<boolean>
  /** The same for many; one step a key, one round trip for all. */
  putManyIfNewer(puts: readonly Put[], ttlMs: number): Promise<void>

  /** Counts a call. The first one starts a window of `windowMs`; later ones do not prolong it. */
  hit(key: string, windowMs: number): Promise<Hits>
  /** Takes a call out of an allowance, which is whole at first; a call that is not allowed takes nothing. */
  spend(key: string, allowance: Allowance): Promise<Spent>

  /** Lets go of the connection. Calls after it throw. */
  close(): Promise<void>
}
