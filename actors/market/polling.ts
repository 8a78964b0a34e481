/** How soon to ask the provider again: as often as wanted, as seldom as its limit and its troubles ask for. */
import { HOUR_MS, SECOND_MS } from '../kernel/world.ts'

/** What the provider still allows. */
export interface Allowance {
  /** Calls left until it is filled up again. */
  readonly remaining: number
  readonly resetsInSecs: number
}

/** How polling has gone so far. */
export interface Pace {
  /** Between two calls when all is well. */
  readonly pollMs: number
  /** Failed polls in a row. */
  readonly failures: number
  /** What the last failure asked for, null when it asked for nothing. */
  readonly retryAfterMs: number | null
  readonly allowance: Allowance | null
}

/** The first retry comes after a quarter of the usual pause, then each after twice the last one, at most one and a half: a match is late soon. */
const FIRST_RETRY = 1 / 4
const LONGEST_RETRY = 1.5
/** Nobody is told to stay away for longer than this. */
const PATIENCE_MAX_MS = HOUR_MS

/**
 * Milliseconds until the next poll. After a failure chance takes off up to half, so that pollers which failed together do
 * not come back together; what the provider asks for is never cut.
 * @param chance uniform in [0, 1).
 */
export function pauseMs(pace: Pace, chance: number): number {
  const { pollMs, failures, retryAfterMs, allowance } = pace
  if (failures === 0) return Math.max(pollMs, allowance === null ? 0 : affordableMs(allowance))
  const backOff = pollMs * Math.min(LONGEST_RETRY, FIRST_RETRY * 2 ** (failures - 1)) * (1 - chance / 2)
  return Math.max(backOff, Math.min(PATIENCE_MAX_MS, retryAfterMs ?? 0))
}

/** Whether what is left lasts for the polls until it is filled up, and one call besides. */
export function canAffordMore({ allowance, pollMs }: Pick<Pace, 'allowance' | 'pollMs'>): boolean {
  if (allowance === null) return true
  return allowance.remaining > (allowance.resetsInSecs * SECOND_MS) / pollMs
}

/** The pause at which the allowance lasts until it is filled up. */
function affordableMs({ remaining, resetsInSecs }: Allowance): number {
  return Math.min(PATIENCE_MAX_MS, (resetsInSecs * SECOND_MS) / Math.max(1, remaining))
}
