/** Time, chance and ids come only from a World, so that a seed reproduces everything. */

declare const brand: unique symbol

/** Milliseconds since 1970-01-01 UTC, as a whole number. */
export type Instant = number & { readonly [brand]: 'instant' }

export const instant = (ms: number): Instant => Math.trunc(ms) as Instant

export const SECOND_MS = 1_000
export const MINUTE_MS = 60_000
export const HOUR_MS = 3_600_000
export const DAY_MS = 86_400_000

/** A source of instants. */
export interface Clock {
  now(): Instant
}

/**
 * Whether an instant that was written `windowMs` ahead is still to come. A clock that was put back since would make it
 * wait for as long as that; one that is more than twice as far ahead as it can be no longer counts.
 */
export const isPending = (until: number, now: number, windowMs: number): boolean =>
  until > now && until - now <= 2 * windowMs

export interface World extends Clock {
  /** The time now. It may stop or jump; no code may rely on it to grow. */
  now(): Instant
  /** A clock that never jumps and begins anywhere: for durations within this process, never to be stored or shown. */
  readonly steady: Clock
  /** A new UUIDv7: unique, and ordered by creation within one process. */
  newId(): string
  /** A uniform integer in [0, below). Not for secrets. */
  randomInt(below: number): number
  /** Unpredictable bytes as hex, from a cryptographic source. */
  secret(bytes: number): string
}
