/** Which periods are believed, and how far their clocks have run. Pure. */
import type { Instant } from '../../kernel/world.ts'
import type { FixturePeriod, SaidFixture } from '../fixture.ts'
import { isOver, type Phase, phaseOf } from '../phase.ts'
import type { Doubts } from './beliefs.ts'
import { clockCanFollow, secsSince } from './plausible.ts'

/** What matters of the update before. */
interface Updated {
  readonly sourceAt?: Instant | null
  readonly clock?: { readonly movedAt: Instant } | null
  readonly replay?: boolean
}

/**
 * A period without a clock keeps the last one, and so does one whose clock runs in a break or beside a later period;
 * one that is no longer listed is over. A clock that leaps in play further than time has passed waits for a second
 * update; at the end of a match there may be none.
 */
export function periodsAfter(
  said: SaidFixture,
  { replay = false, sourceAt = null, clock }: Updated,
  before: readonly FixturePeriod[],
  { clocks: waiting }: Doubts,
) {
  const phase = phaseOf({ ...said, periods: [] })
  const passedSecs = secsSince(said, sourceAt)
  const isFree = replay || before.length === 0 || isOver(phase)
  const doubts: Record<string, number> = {}
  const clockOf = ({ order, elapsedSecs: now, ticking }: SaidFixture['periods'][number]): number => {
    const known = before.find((period) => period.order === order)
    const last = known?.elapsedSecs ?? 0
    const isPast = isFollowed(order, said.periods)
    const stands = ticking ? phase === 'break' || isPast : isPast && isFollowed(order, before)
    if (now === null || (known !== undefined && stands)) return last
    const first = waiting[order]
    if (isFree || clockCanFollow(last, now, passedSecs, ticking) || (first !== undefined && now >= first)) return now
    doubts[order] = now
    return last
  }
  const listed = said.periods.map((period): FixturePeriod => ({ ...period, elapsedSecs: clockOf(period) }))
  if (phase === 'scheduled') return { periods: listed, doubts }
  const goesOn = listed.length === 0 && phase === 'live'
  // A later one than the one that ticks has not begun.
  const isListed = (order: number): boolean =>
    listed.some((one) => one.order === order || (one.ticking && one.order < order))
  const missing = before.filter(({ order }) => !isListed(order))
  const all = [...missing.map((period) => ({ ...period, ticking: period.ticking && goesOn })), ...listed]
  const hasStood = !replay && secsSince(said, clock?.movedAt) > STOOD_SECS
  const isStill = ({ order, elapsedSecs }: FixturePeriod): boolean =>
    before.some((one) => one.order === order && one.elapsedSecs === elapsedSecs && (hasStood || !one.ticking))
  const periods = all.map((one) => (isOver(phase) && isStill(one) ? { ...one, ticking: false } : one))
  return { periods: periods.map((one) => stopped(one, listed, phase)).toSorted((a, b) => a.order - b.order), doubts }
}

/** A clock that has not moved for this long has stopped, once the state says that the match is over. */
const STOOD_SECS = 180

/** A state that is shown for this long into the period that it waits for, or in a later one, is over. */
const BEGUN_SECS = 300

/** The period after which each state waits for the next, 0 before kick-off; by name, and by number without one. */
const WAITS_AFTER: Readonly<Record<string, number>> = {
  NS: 0,
  TBA: 0,
  DELAYED: 0,
  PENDING: 0,
  HT: 1,
  BREAK: 2,
  EXTRA_TIME_BREAK: 3,
  1: 0,
  3: 1,
  4: 2,
  13: 0,
  16: 0,
  21: 3,
  26: 0,
}

/** By the order of the period. */
const IN_PLAY: readonly State[] = [
  { state: 'INPLAY_1ST_HALF', stateId: 2 },
  { state: 'INPLAY_2ND_HALF', stateId: 22 },
  { state: 'INPLAY_ET', stateId: 6 },
  { state: 'INPLAY_ET_2ND_HALF', stateId: 23 },
]

type State = Pick<SaidFixture, 'state' | 'stateId'>

/** The state, or that of a later period which has been running for long while the provider left it unchanged. */
export function stateBeside(shown: State, periods: SaidFixture['periods']): State {
  const after = WAITS_AFTER[shown.state ?? String(shown.stateId)]
  if (after === undefined) return shown
  const isOn = ({ order, elapsedSecs }: SaidFixture['periods'][number]): boolean =>
    order > after && (elapsedSecs ?? 0) > (order > after + 1 ? 0 : BEGUN_SECS)
  const running = periods.find((one) => one.ticking && isOn(one))
  return IN_PLAY[(running?.order ?? 0) - 1] ?? shown
}

/** Whether a later period has been played. */
const isFollowed = (order: number, periods: SaidFixture['periods']): boolean =>
  periods.some((later) => later.order > order && (later.elapsedSecs ?? 0) > 0)

/** A period ends at most this many seconds after its length. */
const ADDED_MAX_SECS = 1_200
const SHOOTOUT_MAX_SECS = 3_600

/** Whether only the first half is known, and has been played. */
export const isHalfTime = (periods: readonly FixturePeriod[]): boolean =>
  periods.length > 0 &&
  periods.every(({ order, length, elapsedSecs: now }) => {
    const end = length * 60
    return order === 1 && now >= end && now <= end + ADDED_MAX_SECS
  })

/** A period that is still said to tick although a later one has been played, or long after the match has ended. */
function stopped(period: FixturePeriod, listed: readonly FixturePeriod[], phase: Phase): FixturePeriod {
  const { kind, order, length, elapsedSecs, ticking } = period
  const most = kind === 'penalties' ? SHOOTOUT_MAX_SECS : length * 60 + ADDED_MAX_SECS
  return ticking && (isFollowed(order, listed) || (isOver(phase) && elapsedSecs > most))
    ? { ...period, ticking: false }
    : period
}
