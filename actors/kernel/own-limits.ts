/**
 * A user's own limits: the most they can lose in a day, and pauses in which they open nothing. A stricter value binds
 * at once. A looser one waits for a day, so that it is not chosen in the heat of a match.
 */
import { type Money, money } from './micros.ts'
import type { Refusal } from './outcome.ts'
import { as, fieldsOf, integer, nullable, type Reader } from './read.ts'
import { DAY_MS, type Instant, instant } from './world.ts'

/** How long a looser value waits. */
const LOOSER_AFTER_MS = DAY_MS
export const COOL_OFF_MAX_MS = 42 * DAY_MS
export const EXCLUSION_MAX_MS = 5 * 365 * DAY_MS

/** A limit as stored. `next` takes the place of `now` at the instant `at`. Null is no limit. */
export interface StoredLimit {
  readonly now: number | null
  readonly next?: number | null
  readonly at?: Instant
}

export const LIMIT_NAMES = ['dailyLoss', 'coolOffUntil', 'excludedUntil'] as const
export type LimitName = (typeof LIMIT_NAMES)[number]

/** Micros for `dailyLoss`, instants for the others. */
export type OwnLimits = Readonly<Record<LimitName, StoredLimit>>
export type WantedLimits = Readonly<Partial<Record<LimitName, number | null>>>

const NONE: StoredLimit = { now: null }
export const NO_LIMITS: OwnLimits = { dailyLoss: NONE, coolOffUntil: NONE, excludedUntil: NONE }

/** The value in force. */
export const inForce = ({ now, next = null, at }: StoredLimit, time: Instant): number | null =>
  at !== undefined && at <= time ? next : now

/** The looser value that waits, and when it takes effect; null for none. */
export function pendingOf(
  { next = null, at }: StoredLimit,
  time: Instant,
): { value: number | null; at: Instant } | null {
  return at === undefined || at <= time ? null : { value: next, at }
}

/** Limits after a user's request. Repeating it changes nothing: a value that waits already does not wait longer. */
export function changeLimits(limits: OwnLimits, wanted: WantedLimits, time: Instant): OwnLimits {
  const changed = { ...limits }
  for (const name of LIMIT_NAMES) {
    const value = wanted[name]
    if (value !== undefined) changed[name] = limitAfter(name, limits[name], value, time)
  }
  return changed
}

function limitAfter(name: LimitName, limit: StoredLimit, value: number | null, time: Instant): StoredLimit {
  const now = inForce(limit, time)
  if (!isLooser(name, now, value, time)) return { now: value }
  const pending = pendingOf(limit, time)
  const at = pending?.value === value ? pending.at : instant(time + LOOSER_AFTER_MS)
  return { now, next: value, at }
}

/** A smaller loss and a later end are stricter. An end that has passed counts as no end. */
function isLooser(name: LimitName, now: number | null, value: number | null, time: Instant): boolean {
  if (name === 'dailyLoss') return now !== null && (value === null || value > now)
  return now !== null && now > time && (value === null || value < now)
}

const readLimit: Reader<StoredLimit> = (value, path) => {
  const field = fieldsOf(value, path)
  const at = field('at', nullable(as(integer, instant)))
  const now = field('now', nullable(integer))
  return at === null ? { now } : { now, next: field('next', nullable(integer)), at }
}

/** Limits as stored; null for none. */
export const readLimits: Reader<OwnLimits> = (value, path) => {
  if (value === null) return NO_LIMITS
  const field = fieldsOf(value, path)
  const limit = (name: LimitName): StoredLimit => field(name, nullable(readLimit)) ?? NONE
  return { dailyLoss: limit('dailyLoss'), coolOffUntil: limit('coolOffUntil'), excludedUntil: limit('excludedUntil') }
}

/** A user's own limits as one wallet meets them at an instant. */
export interface OwnBounds {
  /** When they may open positions again; null where they may now. */
  readonly until: Instant | null
  /** The most they can lose in a day; null for no limit. */
  readonly dailyLoss: Money | null
  /** What the wallet has lost today in all, below zero for a win. Closes and corrections count. */
  readonly lostToday: Money
  /** What can still be lost: the margins of the open positions, and what late news may take back of closes. */
  readonly atStake: Money
}

/** The margin that openings may still take within the day's limit, below zero beyond it; infinite without one. */
export const leftToLose = (bounds: OwnBounds | undefined): number =>
  bounds === undefined || bounds.dailyLoss === null ? Infinity : bounds.dailyLoss - bounds.lostToday - bounds.atStake

/**
 * Why a user's own bounds refuse an opening, or null. No position loses more than its margin: with what is lost and at
 * stake within the limit, the day's loss stays within it whatever prices do. `freed` is what the order's own batch has
 * given back.
 */ // L1, L2
export function ownRefusal(bounds: OwnBounds | undefined, margin: Money, at: Instant, freed = 0): Refusal | null {
  if (bounds === undefined) return null
  const { until, dailyLoss, lostToday, atStake } = bounds
  if (until !== null && until > at) return { code: 'self_excluded', until }
  if (dailyLoss === null || margin - freed <= leftToLose(bounds)) return null
  return {
    code: 'limit_reached',
    dailyLoss,
    lostToday: money(Math.max(0, lostToday)),
    atStake,
    required: margin,
    freeAt: instant((Math.floor(at / DAY_MS) + 1) * DAY_MS),
  }
}

/** The parts of bounds, as the commit and the wallets' reader give them. */
export const readBounds: Reader<OwnBounds> = (value, path) => {
  const field = fieldsOf(value, path)
  const limit = field('dailyLoss', nullable(integer))
  const until = field('until', nullable(integer))
  return {
    until: until === null ? null : instant(until),
    dailyLoss: limit === null ? null : money(limit),
    lostToday: field('lostToday', as(integer, money)),
    atStake: field('atStake', as(integer, money)),
  }
}
