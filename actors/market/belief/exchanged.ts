/** Finds players whose statistics a provider has exchanged, counted several times, or told of another time. */
import type { PlayerId } from '../../kernel/ids.ts'
import type { FixturePlayer, SaidFixture } from '../fixture.ts'
import { STATISTIC } from '../scoring.ts'
import { DEAR, type Details, DISCRETE, FALLEN_FROM, GAP_MINUTES, isCount } from './plausible.ts'

/** The most counts that a player may have gained since the last update. */
const EXCHANGED_AHEAD = 2
const TIMES_MIN = 1.4
/** Fewer counts, or fewer more, may rise in one poll in whatever shares. */
const MULTIPLIED_FROM = 20
/** Of each count: a provider that multiplies rounds. */
const ROUNDED_BY = 1 / 3

interface Told {
  readonly playerId: PlayerId
  readonly before: Details
  readonly now: Details
}

/** A rating seldom moves further between two updates. */
const RATING_MOVED = 0.25
/** What a few players have done changes the ratings of fewer. */
const MOVED_MIN = 5

/** Whether most ratings have moved at once. What happens in a match moves some: this is another scale, or a mistake. */
export function areRatingsMoved(
  rows: SaidFixture['players'],
  squad: readonly Pick<FixturePlayer, 'playerId' | 'details'>[],
  minutes: number,
): boolean {
  const known = new Map(squad.map(({ playerId, details }) => [playerId, details?.[STATISTIC.rating]]))
  const steps = rows.flatMap(({ playerId, details }) => {
    const [before, now] = [known.get(playerId), details?.[STATISTIC.rating]]
    return before === undefined || now === undefined ? [] : [Math.abs(now - before)]
  })
  const moved = steps.filter((step) => step > RATING_MOVED).length
  return minutes <= GAP_MINUTES && moved >= MOVED_MIN && moved * 2 > steps.length
}

/** Fewer players may do the same in one poll. */
const RISEN_MIN = 8

/** Types of goals, cards, shots on target, … in which most players have risen at once. All may concede together. */
export function risenTogether(
  rows: SaidFixture['players'],
  squad: readonly Pick<FixturePlayer, 'playerId' | 'details'>[],
  minutes: number,
): Set<number> {
  const known = new Map(squad.map(({ playerId, details }) => [playerId, details]))
  const told = rows.flatMap(({ playerId, details: now }) => {
    const before = known.get(playerId) ?? null
    return before === null || now === null ? [] : [{ before, now }]
  })
  const isRisen = (type: number): boolean => {
    const risen = told.filter(({ before, now }) => (now[type] ?? 0) > (before[type] ?? 0)).length
    return risen >= RISEN_MIN && risen * 2 > told.length
  }
  return new Set(minutes <= GAP_MINUTES ? RARE.filter(isRisen) : [])
}

const RARE = [...DISCRETE, ...DEAR].filter((type) => type !== STATISTIC.conceded)

/** Players in a ring, whose rows each continue what was known of another, and those whose counts multiply or fall. */
export function exchangedIn(
  rows: SaidFixture['players'],
  squad: readonly Pick<FixturePlayer, 'playerId' | 'details'>[],
  minutes: number,
): ReadonlySet<PlayerId> {
  const known = new Map(squad.map(({ playerId, details }) => [playerId, details]))
  const told = rows.flatMap(({ playerId, details }): Told[] => {
    const [before, now] = [known.get(playerId) ?? {}, details ?? {}]
    // A first row, or none, is another player's only where it is long.
    const isTold = (isAny(before) && isAny(now)) || aheadOf(before, now) >= MULTIPLIED_FROM
    return isTold ? [{ playerId, before, now }] : []
  })
  // A row under the id of a team-mate, whose own is then missing.
  const listed = new Set(rows.flatMap(({ playerId, details }) => (isAny(details ?? {}) ? [playerId] : [])))
  const untold = squad.filter(({ playerId }) => !listed.has(playerId))
  const isOfUntold = ({ before, now }: Told): boolean =>
    Math.min(aheadOf({}, now), aheadOf(before, now)) >= MULTIPLIED_FROM &&
    untold.some((one) => aheadOf(one.details ?? {}, now) <= EXCHANGED_AHEAD)
  const found = new Set(minutes > GAP_MINUTES ? [] : told.filter((one) => isMultiplied(one) || isOfUntold(one)))
  for (const one of told) {
    if (found.has(one) || aheadOf(one.before, one.now) < Infinity || isSame(one)) continue
    const giving = reachedFrom(one, (to) => told.filter((from) => from !== to && goesOn(from, to)))
    const taking = reachedFrom(one, (from) => told.filter((to) => from !== to && goesOn(from, to)))
    for (const other of giving) if (taking.has(other)) found.add(other)
    // One that tells of so much less is old, or another's: it is wrong in what has risen, too.
    if (fallOf(one) >= FALLEN_FROM) found.add(one)
  }
  return new Set([...found].map(({ playerId }) => playerId))
}

/** Of two players with the same counts, the one whom they are further from, however often this is told. */
export function copiedIn(
  rows: SaidFixture['players'],
  squad: readonly Pick<FixturePlayer, 'playerId' | 'details'>[],
): ReadonlySet<PlayerId> {
  const known = new Map(squad.map(({ playerId, details }) => [playerId, details]))
  const alike = Map.groupBy(rows, ({ details }) => textOf(details ?? {}))
  const copies = [...alike.values()].flatMap(([one, other, ...more]): readonly PlayerId[] => {
    if (one === undefined || other === undefined || more.length > 0) return []
    if (aheadOf({}, one.details ?? {}) < MULTIPLIED_FROM) return []
    const [a, b] = [one, other].map(({ playerId, details }) => apartOf(known.get(playerId) ?? {}, details ?? {}))
    const [nearer = 0, further = 0] = [a, b].toSorted((x = 0, y = 0) => x - y)
    return further >= FALLEN_FROM && nearer < further ? [a === further ? one.playerId : other.playerId] : []
  })
  return new Set(copies)
}

export const textOf = (details: Details): string =>
  String(Object.entries(details).filter(([type, n]) => n > 0 && isCount(Number(type))))

/** How far the counts of a row are from what was known. */
function apartOf(before: Details, now: Details): number {
  const types = [...new Set([...Object.keys(before), ...Object.keys(now)].map(Number))].filter(isCount)
  return types.reduce((sum, type) => sum + Math.abs((now[type] ?? 0) - (before[type] ?? 0)), 0)
}

/** Whether the row of one player goes on from what was known of another, rather than from what was known of them. */
function goesOn({ before }: Told, { before: own, now }: Told): boolean {
  const ahead = aheadOf(before, now)
  return ahead <= EXCHANGED_AHEAD && ahead <= aheadOf(own, now)
}

/** Whether a row says only what was known. It may leave out the rest. */
const isSame = ({ before, now }: Told): boolean => Object.entries(now).every(([type, n]) => before[Number(type)] === n)

const isAny = (details: Details): boolean => Object.keys(details).length > 0

function reachedFrom(first: Told, next: (one: Told) => readonly Told[]): ReadonlySet<Told> {
  const found = new Set<Told>()
  const left = [first]
  for (let one = left.pop(); one !== undefined; one = left.pop()) {
    for (const other of next(one)) {
      if (found.has(other)) continue
      found.add(other)
      left.push(other)
    }
  }
  return found
}

/** Whether all counts are the same times what they were: their rows were joined more than once. */
function isMultiplied({ before, now }: Told): boolean {
  const [was, is] = [aheadOf({}, before), aheadOf({}, now)]
  const times = is / was
  if (times < TIMES_MIN || Math.min(was, is - was) < MULTIPLIED_FROM) return false
  const types = [...new Set([...Object.keys(before), ...Object.keys(now)].map(Number))].filter(isCount)
  const apart = types.reduce((sum, type) => sum + Math.abs((now[type] ?? 0) / times - (before[type] ?? 0)), 0)
  return apart <= EXCHANGED_AHEAD + ROUNDED_BY * types.length
}

/** By how many counts less a row tells than was known. */
const fallOf = ({ before, now }: Told): number =>
  Object.entries(now)
    .filter(([type]) => isCount(Number(type)))
    .reduce((sum, [type, n]) => sum + Math.max(0, (before[Number(type)] ?? 0) - n), 0)

/** How far the counts of a row are from what was known; infinitely far where one has fallen. */
function aheadOf(before: Details, now: Details): number {
  let sum = 0
  for (const type of new Set([...Object.keys(before), ...Object.keys(now)].map(Number))) {
    const ahead = (now[type] ?? 0) - (before[type] ?? 0)
    if (isCount(type)) sum += ahead < 0 ? Infinity : ahead
  }
  return sum
}
