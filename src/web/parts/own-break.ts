/** A user's break: the cool-off and the exclusion are one to them, and the later end counts. */
import type { OwnLimits } from '../client/wire.ts'

const DAY_MS = 24 * 3_600_000
const NAMES = ['coolOffUntil', 'excludedUntil'] as const

interface Pause {
  readonly days: number
}

export const endAfter = (days: number, now: number): string => new Date(now + days * DAY_MS).toISOString()

/** A shorter one would not extend the break: it asks for an earlier end. */
export const longerThan = <P extends Pause>(until: string | null, pauses: readonly P[], now: number): readonly P[] =>
  pauses.filter(({ days }) => until === null || endAfter(days, now) > until)

/** When the break ends, and the earlier end that waits; null for none. */
export function breakOf(limits: Pick<OwnLimits, (typeof NAMES)[number] | 'pending'>) {
  const until = latest(NAMES.map((name) => limits[name]))
  const early = latest(NAMES.map((name) => endOf(limits[name], limits.pending[name])))
  return { until, early: early === until ? null : early }
}

const latest = (ends: readonly (string | null)[]): string | null =>
  ends
    .filter((end) => end !== null)
    .toSorted()
    .at(-1) ?? null

/** A looser end counts from `at` on, so the break lasts until then at least. */
function endOf(until: string | null, next: OwnLimits['pending']['coolOffUntil']): string | null {
  if (until === null || next === undefined) return until
  const end = next.value !== null && next.value > next.at ? next.value : next.at
  return end < until ? end : until
}
