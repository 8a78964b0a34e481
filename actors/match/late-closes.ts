/**
 * Late closes. What its owner, a stop or a target closed just before news is booked as if it had been held: by sign ×
 * lots × 5 × (base after − base before), where *before* is before the update that showed the news and *after* is at the
 * reopening, or at settlement. So to leave ahead of the feed, by hand or by a level a hair away, earns nothing. Until
 * then the proceeds are locked, which is what a correction can be paid from.
 */
import type { InstrumentId } from '../kernel/ids.ts'
import { LATE_EVENT_MS, type TradingRules } from '../kernel/limits.ts'
import { money, type Price } from '../kernel/micros.ts'
import { type Instant, instant } from '../kernel/world.ts'
import type { NewsHold } from '../market/instrument.ts'
import {
  type ClosedPosition,
  corrected,
  isCorrectable,
  type Lock,
  lockedBy,
  locksOf,
  type RecentClose,
  reversed,
  shiftOf,
} from '../position/recent-close.ts'
import type { Draft, MatchView } from './state.ts'
import type { Terms } from './trading.ts'

/** What an update means for the closes of one instrument. */
export interface NewsChange {
  /** News that the price now contains, or that ended without naming a player. */
  readonly ended: NewsHold | null
  /** News that this update has begun or extended. */
  readonly begun: NewsHold | null
  /** Without news: the update alone moved the base far, and its window began then. */
  readonly from: Instant | null
  readonly baseBefore: Price
  readonly baseAfter: Price
}

/** Windows are of match time: a recording that plays sixty times as fast has windows sixty times as short. */ // T38
export const lasting = (ms: number, { info }: Pick<MatchView, 'info'>): number => ms / info.speed

/** Whether news stops trading. News that ended without naming a player is only remembered. */
export const isHeld = (news: NewsHold | null): news is NewsHold => news !== null && news.ended === null

/** Whether an instant is so close before news that some could have known it. */
export const inWindow = ({ windowFrom, unnamed }: NewsHold, at: Instant): boolean =>
  at >= windowFrom || (unnamed !== null && at >= unnamed.from && at < unnamed.to)

/** How long after a close news can still reach it: its window, and the minute in which its event may have begun. */
const reachMs = (rules: TradingRules, view: Pick<MatchView, 'info'>): number =>
  rules.lateVoidMs === 0 ? 0 : lasting(rules.lateVoidMs + LATE_EVENT_MS, view)

/** What is locked of a position when it closes. */ // T40
export function locksAtClose(draft: Draft, position: ClosedPosition, { at, rules }: Terms): readonly Lock[] {
  if (rules.lateVoidMs === 0 || !isCorrectable(position.close.by)) return []
  const awaited = isHeld(draft.listed(position.instrumentId).news)
  return locksOf({ position, awaited, corrections: [] }, at, reachMs(rules, draft))
}

/**
 * Corrects the closes of instruments whose news ended, begins to wait for others, and takes back what was cancelled.
 */ // T39
export function followLateCloses(
  draft: Draft,
  changes: ReadonlyMap<InstrumentId, NewsChange>,
  cancelled: readonly number[],
  terms: Terms,
): void {
  if (changes.size === 0 && cancelled.length === 0) return
  for (const before of Array.from(draft.recentCloses())) {
    const change = changes.get(before.position.instrumentId)
    const kept = reversed(before, cancelled, terms.at)
    const now = change === undefined ? kept : followed(draft, kept, change, terms)
    if (now !== before) emitCorrection(draft, before, now, terms)
  }
}

/** The match is over: what still waits is corrected at the bases it ends with. */
export function settleLateCloses(draft: Draft, terms: Terms): void {
  for (const before of Array.from(draft.recentCloses())) {
    if (!before.awaited) continue
    const { news, base } = draft.listed(before.position.instrumentId)
    emitCorrection(draft, before, booked(draft, before, news, base, terms), terms)
  }
}

function followed(draft: Draft, close: RecentClose, change: NewsChange, terms: Terms): RecentClose {
  const { ended, begun, from, baseBefore, baseAfter } = change
  const { openedAt, close: closing } = close.position
  let now = close
  if (ended !== null && now.awaited) now = booked(draft, now, ended, baseAfter, terms)
  if (from !== null && closing.at >= from && openedAt < from) {
    // No event is behind it that could be cancelled, so what it books is final.
    now = corrected(now, { eventIds: [], shift: baseAfter - baseBefore, lockedUntil: instant(0) })
  }
  const isReached = closing.at >= terms.at - reachMs(terms.rules, draft)
  if (begun !== null && !now.awaited && isReached && isLate(now, begun)) now = { ...now, awaited: true }
  return now
}

/** A position that was also opened in the window gained nothing from the news. No news counts twice. */
const isLate = ({ position, corrections }: RecentClose, news: NewsHold): boolean =>
  inWindow(news, position.close.at) && !inWindow(news, position.openedAt) && !isBooked(corrections, news)

/** Whether news was booked before, also when it was reversed since. */
const isBooked = (corrections: RecentClose['corrections'], news: NewsHold): boolean =>
  corrections.some(({ eventIds }) => eventIds.some((id) => news.eventIds.includes(id)))

function booked(draft: Draft, close: RecentClose, news: NewsHold | null, after: Price, terms: Terms): RecentClose {
  const { position } = close
  const waited = { ...close, awaited: false }
  if (news === null || !news.names || inWindow(news, position.openedAt)) return waited
  // A close may have waited for a review of the event that corrected it. Its cancellation has reversed that already.
  if (isBooked(close.corrections, news)) return waited
  // A level that fires while news holds its player leaves at a base that has a part of the news in it.
  const before = position.close.at < news.since ? news.baseBefore : position.close.base
  const lockedUntil = instant(Math.ceil(terms.at + lasting(terms.rules.lateLockMs, draft)))
  return corrected(waited, { eventIds: news.eventIds, shift: after - before, lockedUntil })
}

function emitCorrection(draft: Draft, before: RecentClose, now: RecentClose, { at, rules }: Terms): void {
  const reach = reachMs(rules, draft)
  const amount = money(now.position.close.pnl - before.position.close.pnl)
  const locks = locksOf(now, at, reach)
  draft.emit({
    kind: 'close_corrected',
    ...now,
    amount,
    shift: { before: shiftOf(before.corrections), after: shiftOf(now.corrections) },
    locks,
    freed: money(amount + lockedBy(locksOf(before, at, reach)) - lockedBy(locks)),
  })
}
