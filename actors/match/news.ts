/**
 * What news does to trading. It holds an instrument until the list of events and the statistics agree about its player,
 * and it makes void what was opened when some could have seen it already: a viewer beside the pitch is seconds ahead of
 * every provider.
 *
 * Positions opened in the window leave before any trigger fires, together, as one step on the curve at the base before the
 * news. So they gain and lose nothing by it, and nothing can be made by letting them pump a price.
 */
import { present } from '../kernel/assert.ts'
import type { InstrumentId } from '../kernel/ids.ts'
import { NEWS_OPENS_HOLD_MS, type TradingRules } from '../kernel/limits.ts'
import { lots, mulDivNearest, type Price, price } from '../kernel/micros.ts'
import { type Instant, instant, SECOND_MS } from '../kernel/world.ts'
import { exitPrice, type Instrument, type NewsHold } from '../market/instrument.ts'
import { excuse, type PlayerNews, type Pricing } from '../market/pricing.ts'
import { exposureOf, type Position } from '../position/position.ts'
import type { FeedUpdate } from './messages.ts'
import type { Draft } from './state.ts'
import { byAge } from './due.ts'
import { emitClose, emitMove, type Terms } from './trading.ts'

/** Openings from `from` on are void, at this base. */
interface LateWindow {
  readonly from: Instant
  readonly base: Price
}

const PPM = 1_000_000

/**
 * Follows the news of an update: begins, extends and ends holds, and makes late opens void. Comes before the update
 * moves any base. `listed` are the instruments as they were before it.
 */ // T35
export function followNews(draft: Draft, listed: readonly Instrument[], pricing: Pricing, update: Heard): void {
  const windows = new Map<InstrumentId, LateWindow>()
  const expired: Instrument[] = []
  for (const before of listed) {
    const news = pricing.playerNews.get(before.playerId)
    const hold = nextHold(before, news, pricing, update)
    if (hold === null && before.news !== null && pricing.unsettled.has(before.playerId)) expired.push(before)
    if (hold !== before.news) draft.emit({ kind: 'news_changed', instrumentId: before.id, news: hold })
    const window = lateWindow(before, news?.names === true ? hold : null, pricing, update)
    if (window !== null) windows.set(before.id, window)
  }
  if (expired.length > 0) {
    draft.emit({ kind: 'match_updated', info: draft.info, pricing: excuse(draft.pricing, expired) })
  }
  if (windows.size > 0) voidLateOpens(draft, windows, update.terms)
}

/** A feed update, and the terms on which it is taken. */
export interface Heard {
  readonly command: FeedUpdate
  readonly terms: Terms
}

/** Windows are of match time: a recording that plays sixty times as fast has windows sixty times as short. */
const lasting = (ms: number, { command }: Heard): number => ms / (command.speed ?? 1)

function nextHold(before: Instrument, news: PlayerNews | undefined, pricing: Pricing, update: Heard): NewsHold | null {
  const { command, terms } = update
  if (news !== undefined) return extended(before, news, update)
  const hold = before.news
  if (hold === null) return null
  const isSettled = !pricing.unsettled.has(before.playerId) && command.seq > hold.changedSeq
  return isSettled || terms.at >= hold.opensFrom ? null : hold
}

/** Overlapping news is one: it keeps its beginning and the base before it. */
function extended(before: Instrument, news: PlayerNews, update: Heard): NewsHold {
  const { command, terms } = update
  const { at, rules } = terms
  const hold = before.news !== null && at < before.news.closesFrom ? before.news : null
  const aheadMs = news.names ? Math.max(rules.lateVoidMs, news.ageSecs * SECOND_MS) : 0
  const from = rules.lateVoidMs === 0 ? at : instant(Math.floor(at - lasting(aheadMs, update)))
  const eventIds = new Set([...(hold?.eventIds ?? []), ...(news.eventId === 0 ? [] : [news.eventId])])
  return {
    since: hold?.since ?? at,
    windowFrom: instant(Math.min(hold?.windowFrom ?? from, from)),
    baseBefore: hold?.baseBefore ?? before.base,
    changedSeq: command.seq,
    eventIds: [...eventIds],
    closesFrom: instant(Math.ceil(at + lasting(rules.newsHoldMs, update))),
    opensFrom: instant(Math.ceil(at + lasting(Math.max(rules.newsHoldMs, NEWS_OPENS_HOLD_MS), update))),
  }
}

/** The window that an update opens on an instrument: by its news, or by moving the base as far as news would. */
function lateWindow(before: Instrument, hold: NewsHold | null, pricing: Pricing, update: Heard): LateWindow | null {
  const { at, rules } = update.terms
  if (rules.lateVoidMs === 0) return null
  if (hold !== null) return { from: hold.windowFrom, base: hold.baseBefore }
  const base = pricing.bases.get(before.playerId) ?? before.base
  if (!movesFar(before.base, base, rules)) return null
  const from = instant(Math.floor(at - lasting(rules.lateVoidMs, update)))
  return { from, base: before.base }
}

const movesFar = (from: Price, to: Price, { lateMovePpm }: TradingRules): boolean =>
  Math.abs(to - from) >= mulDivNearest(from, lateMovePpm, PPM)

function voidLateOpens(draft: Draft, windows: ReadonlyMap<InstrumentId, LateWindow>, terms: Terms): void {
  // One pass for all: open positions are not kept by instrument, and news is rare.
  const late: Position[] = []
  for (const position of draft.openPositions()) {
    const window = windows.get(position.instrumentId)
    if (window !== undefined && position.openedAt >= window.from && position.openPrice > 0) late.push(position)
  }
  for (const [id, leaving] of Map.groupBy(late, (position) => position.instrumentId)) {
    voidTogether(draft, leaving, present(windows.get(id), 'window').base, terms)
  }
}

/** One step on the ordinary curve, at the base before: also once full time is shown, when the rest shares another. */
function voidTogether(draft: Draft, leaving: readonly Position[], base: Price, terms: Terms): void {
  const [first] = leaving
  if (first === undefined) return
  const before = draft.listed(first.instrumentId)
  const exposure = lots(leaving.reduce((sum, position) => sum + exposureOf(position), 0))
  const fill = price(exitPrice({ ...before, base, awaitsSettlement: false }, exposure))
  for (const position of leaving.toSorted(byAge)) {
    emitClose(draft, position, { price: fill, base, at: terms.at, by: 'void', voidReason: 'late_open' })
  }
  emitMove(draft, before, 'trade', 0, terms)
}
