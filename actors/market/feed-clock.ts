/**
 * The age of a feed. The provider dates no payload, but the clock of a match in play runs. A clock that does not move
 * means a frozen feed, even when it answers promptly.
 */
import { type Instant, instant, MINUTE_MS } from '../kernel/world.ts'
import type { FixtureSnapshot } from './fixture.ts'
import { phaseOf } from './phase.ts'

/** The last movement of a match clock. */
export interface FeedClock {
  readonly period: number
  readonly elapsedSecs: number
  readonly movedAt: Instant
}

/** How long a clock that shows only whole minutes may not move: a minute and a poll or two. */
const MINUTES_ONLY_MS = MINUTE_MS + MINUTE_MS / 4

/**
 * The instant that a snapshot received now describes, and the clock to remember. When no clock has to run (breaks,
 * shoot-outs, before and after the match) that is now.
 */
export function sourceTime(
  snapshot: Pick<FixtureSnapshot, 'state' | 'stateId' | 'periods'>,
  last: FeedClock | null,
  receivedAt: Instant,
): { readonly sourceAt: Instant; readonly clock: FeedClock | null } {
  const running = snapshot.periods.find((p) => p.ticking)
  if (running === undefined || running.kind === 'penalties' || phaseOf(snapshot) !== 'live') {
    return { sourceAt: receivedAt, clock: null }
  }
  const { order: period, elapsedSecs } = running
  if (last === null || last.period !== period || last.elapsedSecs !== elapsedSecs) {
    return { sourceAt: receivedAt, clock: { period, elapsedSecs, movedAt: receivedAt } }
  }
  const mayPause = elapsedSecs % 60 === 0 && receivedAt - last.movedAt <= MINUTES_ONLY_MS
  return { sourceAt: mayPause ? receivedAt : instant(Math.min(last.movedAt, receivedAt)), clock: last }
}
