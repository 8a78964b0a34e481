/**
 * Protection against those who see the pitch before the feed does: an option, off by default. The core calls it in the
 * places that import this folder, and only where the rules ask for it. Without it every fill is final.
 *
 * With it a fill that was made shortly before news of its player moves with the base, update by update, from the one
 * that shows the news until list and statistics agree: the owner gets the price after the news. What is cancelled later
 * moves the same fills back, because the window of a cancellation begins where that of the event began. Nothing is
 * voided, and what the match itself closes is not moved.
 */
import type { InstrumentId, PositionId } from '../../kernel/ids.ts'
import { money } from '../../kernel/micros.ts'
import type { Instant } from '../../kernel/world.ts'
import type { Instrument } from '../../market/instrument.ts'
import { excuse, type Pricing } from '../../market/pricing.ts'
import { isChosen, moved } from '../../position/moved.ts'
import { type ClosedPosition, lessMove } from '../../position/position.ts'
import type { Draft } from '../state.ts'
import type { Terms } from '../terms.ts'
import { movableUntil, newsAfter, type PricedUpdate, windowOf } from './windows.ts'

/** How far the base of a player moves in this update, and which fills with it. */
interface Shift {
  readonly from: Instant
  readonly by: number
  readonly isEvent: boolean
}

/**
 * Follows the news of an update, before it moves any base. `listed` are the instruments as they were before it.
 */ // N1
export function moveFills(
  draft: Draft,
  listed: readonly Instrument[],
  { seq, pricing, terms }: { readonly seq: number; readonly pricing: Pricing; readonly terms: Terms },
): void {
  const rules = terms.rules.protection
  if (rules === null) return
  const update: PricedUpdate = { seq, pricing, rules, at: terms.at }
  const shifts = new Map<InstrumentId, Shift>()
  const changed = new Set<InstrumentId>()
  const expired: Instrument[] = []
  for (const before of listed) {
    const news = newsAfter(draft, before, update)
    if (news !== before.news) {
      changed.add(before.id)
      draft.emit({ kind: 'news_changed', instrumentId: before.id, news })
    }
    const isReopened = before.news?.hold && news?.hold === null
    if (isReopened && pricing.unsettled.has(before.playerId)) expired.push(before)
    const to = pricing.bases.get(before.playerId) ?? before.base
    const from = to === before.base ? null : windowOf(draft, before, news, { from: before.base, to }, update)
    if (from !== null)
      shifts.set(before.id, { from, by: to - before.base, isEvent: pricing.playerNews.has(before.playerId) })
  }
  if (expired.length > 0) {
    draft.emit({ kind: 'match_updated', info: draft.info, pricing: excuse(draft.pricing, expired) })
  }
  if (shifts.size > 0) moveOpen(draft, shifts, terms)
  if (shifts.size + changed.size > 0) moveClosed(draft, shifts, terms)
}

function moveOpen(draft: Draft, shifts: ReadonlyMap<InstrumentId, Shift>, { at }: Terms): void {
  // One pass for all: open positions are not kept by instrument, and news is rare.
  for (const position of Array.from(draft.openPositions())) {
    const shift = shifts.get(position.instrumentId)
    if (shift === undefined || position.openedAt < shift.from || position.openPrice === 0) continue
    const now = moved(position, { at, by: shift.by, reason: reasonOf(shift), open: true, close: false })
    draft.emit({ kind: 'fill_moved', position: now, before: position, amount: money(0), movableUntil: null })
  }
}

function moveClosed(draft: Draft, shifts: ReadonlyMap<InstrumentId, Shift>, terms: Terms): void {
  for (const before of Array.from(draft.movableCloses())) {
    const { position, until } = before
    if (until <= terms.at) continue
    const now = movedClose(position, shifts.get(position.instrumentId), terms.at)
    const stands = untilOf(draft, now, terms) ?? terms.at
    if (now === position && stands === until) continue
    const amount = money(now.close.pnl - position.close.pnl)
    const rest = position.partOf === undefined ? undefined : draft.position(position.partOf)
    const whole = rest === undefined ? {} : { rest: lessMove(rest, position, now) }
    draft.emit({ kind: 'fill_moved', position: now, before: position, amount, movableUntil: stands, ...whole })
  }
}

function movedClose(position: ClosedPosition, shift: Shift | undefined, at: Instant): ClosedPosition {
  if (shift === undefined) return position
  const open = position.openedAt >= shift.from
  const close = isChosen(position.close.by) && position.close.at >= shift.from
  if (!open && !close) return position
  return moved(position, { at, by: shift.by, reason: reasonOf(shift), open, close })
}

const reasonOf = ({ isEvent }: Shift): 'event' | 'statistics' => (isEvent ? 'event' : 'statistics')

/** Until when news may move this close, or null when none can. Its proceeds open nothing until then. */ // N4
export function untilOf(
  draft: Draft,
  position: ClosedPosition,
  { rules, at }: Pick<Terms, 'rules' | 'at'>,
): Instant | null {
  if (rules.protection === null) return null
  const { news } = draft.listed(position.instrumentId)
  const { lateMs } = rules.protection
  const fill = isChosen(position.close.by) ? position.close.at : position.openedAt
  const until = movableUntil(draft, news, fill, lateMs)
  return until > at ? until : null
}

/** An operator voids a closed position: news no longer moves it. */
export function forgetClose(draft: Draft, positionId: PositionId): void {
  for (const { position } of draft.movableCloses()) {
    if (position.id === positionId) return draft.emit({ kind: 'close_forgotten', positionId })
  }
}
