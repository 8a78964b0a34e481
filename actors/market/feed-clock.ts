/**
 * When what a feed says was true. The provider dates no payload; but while a match is played its clock runs, so a clock that
 * stands still says that the feed is frozen, however promptly it answers.
 */
import { type Instant, instant, MINUTE_MS } from '../kernel/world.ts'
import type { FixtureSnapshot } from './fixture.ts'
import { phaseOf } from './phase.ts'

/** Where a match clock was last seen to move. */
export interface FeedClock {
  readonly period: number
  readonly elapsedSecs: number
  readonly movedAt: Instant
}

/** How long a clock that shows whole minutes only may stand still: a minute, and a poll or two. */
const MINUTES_ONLY_MS = MINUTE_MS + MINUTE_MS / 4

/**
 * The instant that a snapshot received now speaks of, and what to remember of its clock. Where no clock has to run (breaks,
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
  const mayStandStill = elapsedSecs % 60 === 0 && receivedAt - last.movedAt <= MINUTES_ONLY_MS
  return { sourceAt: mayStandStill ? receivedAt : instant(Math.min(last.movedAt, receivedAt)), clock: last }
}
