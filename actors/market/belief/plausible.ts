/** Which numbers of a provider can follow one another. What cannot waits until a second update says it too. */
import { type Instant, SECOND_MS } from '../../kernel/world.ts'
import type { FixturePeriod, SaidFixture } from '../fixture.ts'
import { STATISTIC } from '../scoring.ts'
import { isKnownFigure } from '../statistic-names.ts'

/** The lowest and the highest rating there is. Zero means that a player is not rated. */
export const RATING = { min: 1, max: 10 } as const

/** The most that a rating moves between two updates, and beside a goal, a card or the like. */
const RATING_STEP = 1
const RATING_STEP_WITH_NEWS = 2.5

/** The most that a count rises in two minutes of play, goals and cards (`discrete`) in ten. `dear`: what costs most. */
const RISE = { passes: 60, discrete: 2, dear: 4, other: 6 } as const

/** No player has more than this in 120 minutes. */
const MOST = { passes: 300, discrete: 20, dear: 20, other: 80 } as const
/** A provider may count an accurate pass before it counts the pass: accurate ones may be this many ahead. */
const ACCURATE_AHEAD = 10

/** After so much play without an update a leap may be true. The last one before a settlement has none to confirm it. */
export const GAP_MINUTES = 10

const PASSES: ReadonlySet<number> = new Set([STATISTIC.passes, STATISTIC.accuratePasses, 120])
/** Shots on target, saves, and errors that lead to a goal. */
export const DEAR: ReadonlySet<number> = new Set([86, 57, STATISTIC.errors])
export const DISCRETE: ReadonlySet<number> = new Set([
  STATISTIC.goals,
  STATISTIC.penaltyGoals,
  STATISTIC.penaltiesMissed,
  STATISTIC.penaltiesSaved,
  STATISTIC.assists,
  STATISTIC.ownGoals,
  STATISTIC.conceded,
  STATISTIC.yellow,
  STATISTIC.red,
  STATISTIC.secondYellow,
])

/** Statistics that are no counts: they rise and fall. Captain, minutes, percentages, expected goals. */
const FREE: ReadonlySet<number> = new Set([40, 119, 1584, 5304])

/** Whether a statistic only rises. */
export const isCount = (type: number): boolean => type !== STATISTIC.rating && !FREE.has(type)

export type Details = Readonly<Record<number, number>>

/** Whether statistics tell that a player has done something. */
export const hasActed = (details: Details | null): boolean =>
  Object.entries(details ?? {}).some(([type, n]) => n > 0 && isCount(Number(type)))

/**
 * What statistics say. A provider leaves out what is zero, so a row that has the player's largest count says of a goal,
 * a card, … that it lacks that there is none; of a player whose goal was taken back also of its shot. Of a row that has
 * lost more nothing is known but what it says.
 */
export function saidIn(now: Details, before: Details, isTakenBack: boolean): Details {
  const lost: Record<number, number> = {}
  let [largest, most] = [0, 0]
  for (const [key, value] of Object.entries(before)) {
    const type = Number(key)
    if (!isCount(type)) continue
    const isLost = now[type] === undefined && value > 0
    if (isLost && (DISCRETE.has(type) || (isTakenBack && value === 1))) lost[type] = 0
    if (!DISCRETE.has(type) && value > most) [largest, most] = [type, value]
  }
  const isWhole = most === 0 || now[largest] !== undefined
  return isWhole && Object.keys(lost).length > 0 ? { ...now, ...lost } : now
}

/** Answers in a row without a count, in rows that have the others: then there is none. */
export const GONE_AFTER = 4
/** Such a row has at least this many other counts for each that it lacks. */
const OTHERS_MIN = 2

type Counted = Pick<SaidFixture['players'][number], 'details'>

/**
 * The types that a player has none of when their row lacks them: the answer tells them of others, or only one player
 * was known to have any.
 */
export function toldIn(rows: readonly Counted[], squad: readonly Counted[]): ReadonlySet<string> {
  const told = new Set(rows.flatMap(({ details }) => Object.keys(details ?? {})))
  const owners = new Map<string, number>()
  for (const { details } of squad) {
    for (const [type, n] of Object.entries(details ?? {})) if (n > 0) owners.set(type, (owners.get(type) ?? 0) + 1)
  }
  for (const [type, n] of owners) if (n === 1) told.add(type)
  return told
}

/** A correction takes fewer counts from a player. */
export const FALLEN_FROM = 5

/** Whether several counts are believed to have fallen so far that what was known was another player's. */
export function areAnothers(before: Details, believed: Details): boolean {
  const falls = Object.entries(believed).flatMap(([key, n]) => {
    const fall = isCount(Number(key)) ? (before[Number(key)] ?? 0) - n : 0
    return fall > 0 ? [fall] : []
  })
  return falls.length > 1 && falls.reduce((sum, fall) => sum + fall) >= FALLEN_FROM
}

/** Where a statistic of a player starts whose others are known: counts at zero, a rating anywhere. */
export const startOf = (type: number, value: number): number => (type === STATISTIC.rating ? value : 0)

/**
 * The counts that a row lacks which has nearly all others of its player, or all of them after what was another's. They
 * may be those of another, told of this one for an answer or two by a provider that leaves out what is zero.
 */
export function lackingIn(
  now: Details,
  before: Details,
  told: ReadonlySet<string>,
  isAnothers: boolean,
): readonly number[] {
  const known = Object.keys(before).filter((type) => isCount(Number(type)) && (before[Number(type)] ?? 0) > 0)
  const lacking = known.filter((type) => now[Number(type)] === undefined)
  const isNearlyWhole = isAnothers || known.length - lacking.length >= OTHERS_MIN * lacking.length
  return isNearlyWhole ? lacking.filter((type) => told.has(type) && !DISCRETE.has(Number(type))).map(Number) : []
}

/** The statistics that a provider may count the kicks of a shoot-out in. */
const KICKS = [STATISTIC.goals, STATISTIC.penaltyGoals, STATISTIC.penaltiesMissed, STATISTIC.penaltiesSaved]

/** A row from a shoot-out or later: of what it has kicks in, no more than before. */
export function withoutKicks(now: Details, before: Details): Details {
  const kicks = KICKS.flatMap((type) => {
    const value = now[type]
    return value === undefined ? [] : [[type, Math.min(value, before[type] ?? 0)] as const]
  })
  return { ...now, ...Object.fromEntries(kicks) }
}

/** Whether a count of goals, cards, … has changed. */
export function hasNews(before: Details, now: Details): boolean {
  for (const type of DISCRETE) if (now[type] !== undefined && now[type] !== (before[type] ?? 0)) return true
  return false
}

/** Between two updates: whether there is other news of a player, and how many minutes were played. */
export interface Between {
  readonly withNews: boolean
  readonly minutes: number
}

/** Whether a statistic can go from one value to another between two updates. */
export function canFollow(type: number, from: number, to: number, { withNews, minutes }: Between): boolean {
  if (from === to || FREE.has(type)) return true
  if (type === STATISTIC.rating) {
    return Math.abs(to - from) <= (withNews ? RATING_STEP_WITH_NEWS : RATING_STEP) * timesIn(minutes)
  }
  return to > from && to - from <= mostOf(type, minutes)
}

/** Whether statistics tell of more than a player can do in a match, or of more accurate passes than passes. */
export const isBeyond = (details: Details): boolean =>
  (details[STATISTIC.accuratePasses] ?? 0) > (details[STATISTIC.passes] ?? Infinity) + ACCURATE_AHEAD ||
  Object.entries(details).some(([key, n]) => {
    const type = Number(key)
    return isCount(type) && isKnownFigure(type) && n > MOST[groupOf(type)]
  })

const groupOf = (type: number): keyof typeof RISE =>
  DISCRETE.has(type) ? 'discrete' : PASSES.has(type) ? 'passes' : DEAR.has(type) ? 'dear' : 'other'

/** How often the most goals and cards of an update, or the step of a rating, may come after a gap. */
const timesIn = (minutes: number): number => Math.max(1, minutes / GAP_MINUTES)

function mostOf(type: number, minutes: number): number {
  const group = groupOf(type)
  return RISE[group] * (group === 'discrete' ? timesIn(minutes) : Math.max(1, minutes / 2))
}

/** The same for the goals of a side. */
export const goalsCanFollow = (from: number, to: number, minutes: number): boolean =>
  to >= from && to - from <= RISE.discrete * timesIn(minutes)

/** Seconds of play in all. */
export const secsIn = (periods: readonly Pick<FixturePeriod, 'elapsedSecs'>[]): number =>
  periods.reduce((sum, { elapsedSecs }) => sum + elapsedSecs, 0)

/** Seconds since the last update. */
export const secsSince = ({ sourceAt: now }: Pick<SaidFixture, 'sourceAt'>, last: Instant | null = null): number =>
  last === null ? 0 : Math.max(0, now - last) / SECOND_MS

/** How much further than time has passed a clock may go between two updates, in seconds. */
const CLOCK_LEAP_SECS = 600

/** The same for the seconds played of a period. A running clock that falls is judged elsewhere. */
export const clockCanFollow = (from: number, to: number, passedSecs: number, ticking = true): boolean =>
  to - from <= CLOCK_LEAP_SECS + passedSecs && (ticking || from - to <= CLOCK_LEAP_SECS)
