/** The match clock as the feed shows it: whether an update is behind it, and how long it has stood still. */
import type { Instant } from '../kernel/world.ts'
import type { FixturePeriod, FixtureSnapshot } from './fixture.ts'
import { bringsNewEvents } from './belief/reconcile.ts'
import { losesFacts } from './belief/rows.ts'
import type { Incident } from './incidents.ts'
import { hasShootout, isOver, phaseOf } from './phase.ts'
import { playedSecs } from './play-time.ts'

/** A reading of the match clock: a period, and the seconds played in it. */
export interface MatchClock {
  readonly period: number
  readonly elapsedSecs: number
}

/** A running clock, and when it last moved. */
export interface RunningClock extends MatchClock {
  readonly movedAt: Instant
}

type Played = Pick<FixtureSnapshot, 'state' | 'stateId' | 'periods'>

/** Of a match in play that has no period yet: without a clock no price moves. */
const UNTOLD = { order: 0, elapsedSecs: 0 }

/** The clock after an update. Null when none has to run: in breaks and shoot-outs, before and after the match. */
export function followClock(snapshot: Played, last: RunningClock | null, at: Instant): RunningClock | null {
  if (phaseOf(snapshot) !== 'live' || hasShootout(snapshot)) return null
  // A match in play whose periods have all ended has a clock that stands.
  const running = snapshot.periods.find((p) => p.ticking) ?? snapshot.periods.at(-1) ?? UNTOLD
  const { order: period, elapsedSecs } = running
  const stands = last !== null && last.period === period && last.elapsedSecs === elapsedSecs
  return stands ? last : { period, elapsedSecs, movedAt: at }
}

/** Why an update is not taken: its clock is behind the last one, or it shows a match that has not kicked off. */
export type RefusedUpdate = 'clock_behind' | 'before_kick_off'

/** What is remembered of the clock between two updates of a match. */
export interface ClockMemory {
  /** The latest clock; null before kick-off. */
  readonly clock: MatchClock | null
  /** Consecutive updates whose clock was behind that one but moved forward: the latest clock, and their number. */
  readonly behind: { readonly clock: MatchClock; readonly updates: number } | null
}

/**
 * A clock that went back and then moved forward for this many updates was corrected: the earlier one had jumped. The
 * last update of a match decides with the one before it.
 */
const CORRECTED_AFTER = 6
const CORRECTED_AT_THE_END = 2
/** The same where it has lost facts that count: then it is most likely told by a cache that is behind. */
const CORRECTED_WITHOUT_FACTS = 30

interface Remembered extends ClockMemory {
  /** Seconds of play so far. */
  readonly clockSecs: number
  readonly incidents: readonly Incident[]
}

/** A period that has run for so long was not begun by mistake. */
const BEGUN_SECS = 300

/**
 * Takes an update or refuses it, and remembers its clock. One that is behind is an old payload, unless it shows what no
 * old payload could: the end of the match, a clock that stands, or an event that is new.
 */
export function judgeClock(
  snapshot: FixtureSnapshot,
  { clock: last, behind: before, clockSecs, incidents }: Remembered,
): ClockMemory & { readonly refused: RefusedUpdate | null } {
  const phase = phaseOf(snapshot)
  const now = clockOf(snapshot.periods)
  if (last !== null && phase === 'scheduled') return { refused: 'before_kick_off', clock: last, behind: null }
  if (now === null) return { refused: null, clock: last, behind: null }
  if (last === null || !isBefore(now, last)) return { refused: null, clock: now, behind: null }
  // A repeated old payload does not move forward, so it does not count; nor does a clock of whole minutes between two.
  const movesForward = before !== null && isBefore(before.clock, now)
  const stands = before !== null && !movesForward && !isBefore(now, before.clock)
  const behind = stands ? before : { clock: now, updates: movesForward ? before.updates + 1 : 1 }
  const isEarlier = now.period < last.period
  // It shows play that no payload before the later period has shown: that one was told too early.
  const playsOn = playedSecs(snapshot.periods) > clockSecs - last.elapsedSecs
  const enough = isOver(phase)
    ? CORRECTED_AT_THE_END
    : isEarlier && last.elapsedSecs <= BEGUN_SECS
      ? 1
      : losesFacts(snapshot.events, incidents)
        ? CORRECTED_WITHOUT_FACTS
        : CORRECTED_AFTER
  const isPossible = !isEarlier || playsOn || isOver(phase)
  if (isPossible && behind.updates >= enough) return { refused: null, clock: now, behind: null }
  const isRunning = snapshot.periods.some((p) => p.ticking) && phase !== 'break' && !isOver(phase)
  const refused = isRunning && !bringsNewEvents(snapshot, incidents) ? 'clock_behind' : null
  return { refused, clock: last, behind }
}

function clockOf(periods: readonly FixturePeriod[]): MatchClock | null {
  const current = periods.find((p) => p.ticking) ?? periods.at(-1)
  return current === undefined ? null : { period: current.order, elapsedSecs: current.elapsedSecs }
}

/** Whether one reading is behind another. */
export const isBefore = (a: MatchClock, b: MatchClock): boolean =>
  a.period < b.period || (a.period === b.period && a.elapsedSecs < b.elapsedSecs)
