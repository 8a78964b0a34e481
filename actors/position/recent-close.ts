/**
 * A close that news may still correct. A user beside the pitch is seconds ahead of every provider and can leave before
 * the price falls. So a close just before news is booked as if the position had been held until the news is in the
 * price.
 */
import { type Money, money, price } from '../kernel/micros.ts'
import { type Instant, instant } from '../kernel/world.ts'
import { baseMoveOf, type Close, type ClosedBy, pnlAt, type Position } from './position.ts'

export type ClosedPosition = Position & { readonly close: Close }

export interface RecentClose {
  /** As it was closed; its PnL includes the corrections. */
  readonly position: ClosedPosition
  /** News holds its player, and corrects it once all of that is in the price. Its proceeds are locked until then. */
  readonly awaited: boolean
  readonly corrections: readonly Correction[]
}

/** What one piece of news made of a close. */
export interface Correction {
  /** The ids under which the events behind the news were first listed; none for an update that only moved the base. */
  readonly eventIds: readonly number[]
  /** How far the news moved the base, in micros of price. 0 once it was reversed. */
  readonly shift: number
  /** What it booked. */
  readonly amount: Money
  /** Until then a credit can be taken back. */
  readonly lockedUntil: Instant
}

/** A part of a balance with which nothing can be opened. Another one under the same key replaces it; 0 removes it. */
export interface Lock {
  readonly key: string
  readonly amount: Money
  /** Null: until a later commit says otherwise. */
  readonly until: Instant | null
}

/** Σ of what is locked under different keys. */
export const lockedBy = (locks: readonly Lock[]): Money => money(locks.reduce((sum, { amount }) => sum + amount, 0))

/** Whether these locks say that news holds the close they are of. */
export const isAwaited = (locks: readonly Lock[]): boolean => locks.some(({ until }) => until === null)

const CORRECTED: ReadonlySet<ClosedBy> = new Set(['user', 'stop_loss', 'take_profit'])

/** Whether closes of this kind are corrected: those that their owner, or a level of theirs, has chosen. */
export const isCorrectable = (by: ClosedBy): boolean => CORRECTED.has(by)

/** How far all news together has moved a close. */
export const shiftOf = (corrections: readonly Correction[]): number =>
  corrections.reduce((sum, { shift }) => sum + shift, 0)

/** sign × (close + shift − open) × lots × 5, never beyond a loss of the margin. */ // T39
function pnlShifted({ close, ...position }: ClosedPosition, shift: number): Money {
  return money(Math.max(-position.margin, pnlAt(position, price(close.price + shift))))
}

/** What the match alone made of a close, its corrections included. */
export const baseMoveShifted = (position: ClosedPosition, shift: number): Money =>
  baseMoveOf(position, price(position.close.base + shift))

/** The close with one more piece of news booked. */
export function corrected(close: RecentClose, news: Omit<Correction, 'amount'>): RecentClose {
  const before = shiftOf(close.corrections)
  const amount = money(pnlShifted(close.position, before + news.shift) - pnlShifted(close.position, before))
  return rebooked({ ...close, corrections: [...close.corrections, { ...news, amount }] })
}

/**
 * The close without what cancelled events have booked: debits are given back in full, credits are taken back while they
 * are locked.
 */ // T41
export function reversed(close: RecentClose, cancelled: readonly number[], at: Instant): RecentClose {
  const goesBack = (one: Correction): boolean =>
    one.shift !== 0 && one.eventIds.some((id) => cancelled.includes(id)) && (one.amount <= 0 || at < one.lockedUntil)
  if (!close.corrections.some(goesBack)) return close
  const corrections = close.corrections.map((one) => (goesBack(one) ? { ...one, shift: 0, amount: money(0) } : one))
  return rebooked({ ...close, corrections })
}

function rebooked(close: RecentClose): RecentClose {
  const pnl = pnlShifted(close.position, shiftOf(close.corrections))
  return { ...close, position: { ...close.position, close: { ...close.position.close, pnl } } }
}

/**
 * What is locked of a close from now on: its proceeds while news may correct it, and credits that may be taken back.
 */ // T40
export function locksOf({ position, awaited, corrections }: RecentClose, at: Instant, reachMs: number): Lock[] {
  const { id, margin, close } = position
  const credits = corrections.filter(({ amount, lockedUntil }) => amount > 0 && at < lockedUntil)
  const credit = money(credits.reduce((sum, { amount }) => sum + amount, 0))
  const reachEnd = instant(Math.ceil(close.at + reachMs))
  const isReached = awaited || at < reachEnd
  const proceeds = money(isReached ? Math.max(0, margin + close.pnl - credit) : 0)
  const lock: Lock = { key: id, amount: proceeds, until: awaited ? null : reachEnd }
  if (!corrections.some(({ eventIds }) => eventIds.length > 0)) return [lock]
  const creditEnd = instant(Math.max(0, ...credits.map(({ lockedUntil }) => lockedUntil)))
  return [lock, { key: `${id}+`, amount: credit, until: creditEnd }]
}
