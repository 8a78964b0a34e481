/** When to poll the provider next, given its rate limit, its failures and the wanted interval. */
import { HOUR_MS, SECOND_MS } from '../kernel/world.ts'

/** The provider's remaining quota. */
export interface Allowance {
  /** Calls left until the quota resets. */
  readonly remaining: number
  readonly resetsInSecs: number
}

/** The state of polling. */
export interface Pace {
  /** The interval between polls without failures. */
  readonly pollMs: number
  /** Failed polls in a row. */
  readonly failures: number
  /** `Retry-After` of the last failure, or null. */
  readonly retryAfterMs: number | null
  readonly allowance: Allowance | null
}

/**
 * Retries wait a quarter of the interval, then twice as long each, at most one and a half intervals: a late match
 * costs.
 */
const FIRST_RETRY = 1 / 4
const LONGEST_RETRY = 1.5
/** After which the longest is reached. */
const DOUBLINGS = 3
/** The longest pause, even if the provider asks for more. */
const PAUSE_MAX_MS = HOUR_MS

/**
 * Milliseconds until the next poll. After a failure, chance shortens the pause by up to half, so that pollers which
 * failed together do not retry together. A pause the provider asks for is never shortened.
 * @param chance uniform in [0, 1).
 */
export function pauseMs(pace: Pace, chance: number): number {
  const { pollMs, failures, retryAfterMs, allowance } = pace
  if (failures === 0) return Math.max(pollMs, allowance === null ? 0 : affordableMs(allowance))
  const backOff =
    pollMs * Math.min(LONGEST_RETRY, FIRST_RETRY * (1 << Math.min(DOUBLINGS, failures - 1))) * (1 - chance / 2)
  return Math.max(backOff, Math.min(PAUSE_MAX_MS, retryAfterMs ?? 0))
}

/** Calls that are left to the polls themselves. */
const RESERVE = 10

/**
 * Whether the quota lasts for all polls until it resets, and for one more call. Where it never does, the polls slow
 * down a little for the calls whose turn it is: a match that the list leaves out would never be asked for.
 * @param calls how many calls it is the turn of; null when it is the turn of none.
 */
export function canAffordMore(
  { allowance, pollMs }: Pick<Pace, 'allowance' | 'pollMs'>,
  calls: number | null,
): boolean {
  if (allowance === null) return true
  return allowance.remaining > (calls === null ? (allowance.resetsInSecs * SECOND_MS) / pollMs : RESERVE + calls)
}

/** The pause at which the quota lasts until it resets. */
function affordableMs({ remaining, resetsInSecs }: Allowance): number {
  return Math.min(PAUSE_MAX_MS, (resetsInSecs * SECOND_MS) / Math.max(1, remaining))
}
