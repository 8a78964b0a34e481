/** Time of play: what of a match has been played by when, and the breaks, in which no clock of play runs. */
import { type Instant } from '../kernel/world.ts'
import type { FixturePeriod } from './fixture.ts'
import type { Incident } from './incidents.ts'

/** The last break, or the one under way. */
export interface LastBreak {
  /** The time that the last update in play described; null before the first. */
  readonly playedAt: Instant | null
  /** How long the break has lasted, in milliseconds. */
  readonly ms: number
}

export const EMPTY_BREAK: LastBreak = { playedAt: null, ms: 0 }

/** Follows a priced update: in a break its length grows, in play the last one is remembered. */
export function followBreak({ playedAt, ms }: LastBreak, isPaused: boolean, at: Instant): LastBreak {
  return isPaused ? { playedAt, ms: Math.max(0, at - (playedAt ?? at)) } : { playedAt: at, ms }
}

type Row = Pick<Incident, 'minute' | 'extraMinute' | 'period' | 'listedAt'>

/** Whether the last break, or the one under way, lies between an incident and now. */
export function isBeforeBreak(row: Row, periods: readonly FixturePeriod[], isPaused: boolean): boolean {
  return isPaused || periodOf(row, playable(periods)) !== playable(periods).at(-1)
}

/** Seconds of play so far, added time included, shoot-outs excluded. */
export const playedSecs = (periods: readonly FixturePeriod[]): number =>
  playable(periods).reduce((sum, p) => sum + p.elapsedSecs, 0)

/**
 * Seconds of play at an incident, at most now. Rows carry whole minutes, so the middle of the minute is assumed; of an
 * unknown or impossible minute it is when the row was first listed.
 */
export function playedSecsAt(row: Row, periods: readonly FixturePeriod[], now: number): number {
  const at = secsInto(row, 30, periods, now)
  return at > row.listedAt + AHEAD_SECS ? Math.min(now, row.listedAt) : at
}

/** A minute that was further ahead of the clock when its row was first listed is a mistake: no clock lags so far. */
const AHEAD_SECS = 600

/** Seconds of play when the minute of an incident began, at most now. */
export const minuteStart = (row: Row, periods: readonly FixturePeriod[], now: number): number =>
  secsInto(row, 0, periods, now)

/** Seconds of play when it ended, at most now. */
export const minuteEnd = (row: Row, periods: readonly FixturePeriod[], now: number): number =>
  secsInto(row, 60, periods, now)

function secsInto(row: Row, secs: number, periods: readonly FixturePeriod[], now: number): number {
  const played = playable(periods)
  const period = periodOf(row, played)
  if (row.minute === null) return Math.min(now, row.listedAt)
  if (period === undefined) return 0
  const before = playedSecs(played.slice(0, played.indexOf(period)))
  const extra = row.extraMinute ?? 0
  const minute = row.minute + extra - 1 - period.countsFrom
  // Some providers count the minutes of each period from its own start. Else such a minute is a mistake.
  if (minute < -1 || (extra > 0 && row.minute <= period.countsFrom)) return Math.min(now, row.listedAt)
  return Math.min(now, before + Math.min(period.elapsedSecs, Math.max(0, minute * 60 + secs)))
}

const playable = (periods: readonly FixturePeriod[]): readonly FixturePeriod[] =>
  periods.filter((p) => p.kind !== 'penalties')

/** A clock may be this far behind the minutes of its rows. */
const BEHIND_SECS = 120

/** The period that a row names, unless it had not lasted until the row's minute; else that of the minute. */
const periodOf = ({ minute, period }: Row, played: readonly FixturePeriod[]): FixturePeriod | undefined =>
  played.find((p) => p.order === period && (minute ?? 0) * 60 <= p.countsFrom * 60 + p.elapsedSecs + BEHIND_SECS) ??
  (minute === null ? played.at(-1) : played.findLast((p) => p.countsFrom < minute)) ??
  played[0]
