/**
 * What news does to trading. It holds an instrument until the list of events and the statistics agree about its player,
 * and what was opened or closed when some could have seen it already is late: a viewer beside the pitch is seconds
 * ahead of every provider.
 *
 * Late opens leave before any trigger fires, together, as one step on the curve at the base before the news. So they
 * gain and lose nothing by it, and nothing can be made by letting them pump a price. Late closes are corrected
 * (late-closes.ts).
 */
import { present } from '../kernel/assert.ts'
import type { InstrumentId } from '../kernel/ids.ts'
import { NEWS_OPENS_HOLD_MS, type TradingRules } from '../kernel/limits.ts'
import { lots, mulDivNearest, type Price, price } from '../kernel/micros.ts'
import { isCommon } from '../kernel/purse.ts'
import { type Instant, instant, SECOND_MS } from '../kernel/world.ts'
import { exitPrice, type Instrument, type NewsHold } from '../market/instrument.ts'
import { excuse, type PlayerNews, type Pricing } from '../market/pricing.ts'
import { leaguePrice } from '../position/fills.ts'
import { byAge, exposureOf, type Position } from '../position/position.ts'
import { followLateCloses, inWindow, isHeld, lasting, type NewsChange } from './late-closes.ts'
import type { Draft } from './state.ts'
import { emitClose, emitMove, type Terms } from './trading.ts'

/** Openings of these instants are void, at this base. */
interface OpensWindow {
  readonly includes: (at: Instant) => boolean
  readonly base: Price
}

const PPM = 1_000_000

/** A priced feed update. */
export interface PricedUpdate {
  readonly seq: number
  readonly pricing: Pricing
  readonly terms: Terms
}

/**
 * Follows the news of an update: begins, extends and ends holds, makes late opens void and corrects late closes. Comes
 * before the update moves any base. `listed` are the instruments as they were before it.
 */ // T35
export function followNews(draft: Draft, listed: readonly Instrument[], update: PricedUpdate): void {
  const { pricing, terms } = update
  const windows = new Map<InstrumentId, OpensWindow>()
  const changes = new Map<InstrumentId, NewsChange>()
  const expired: Instrument[] = []
  for (const before of listed) {
    const hold = nextHold(draft, before, update)
    if (isHeld(before.news) && !isHeld(hold) && pricing.unsettled.has(before.playerId)) expired.push(before)
    if (hold !== before.news) draft.emit({ kind: 'news_changed', instrumentId: before.id, news: hold })
    const base = pricing.bases.get(before.playerId) ?? before.base
    const from = farMoveFrom(draft, before, hold, base, terms)
    if (terms.rules.lateVoidMs > 0 && hold?.names === true) {
      windows.set(before.id, { includes: (at) => inWindow(hold, at), base: hold.baseBefore })
    } else if (from !== null) windows.set(before.id, { includes: (at) => at >= from, base: before.base })
    const change = changeOf(before, hold, base, from)
    if (change !== null) changes.set(before.id, change)
  }
  if (expired.length > 0) {
    draft.emit({ kind: 'match_updated', info: draft.info, pricing: excuse(draft.pricing, expired) })
  }
  if (windows.size > 0) voidLateOpens(draft, windows, terms)
  followLateCloses(draft, changes, pricing.cancelled, terms)
}

function nextHold(draft: Draft, before: Instrument, update: PricedUpdate): NewsHold | null {
  const { seq, pricing, terms } = update
  const news = pricing.playerNews.get(before.playerId)
  if (news !== undefined) return extended(draft, before, news, update)
  const hold = before.news
  if (hold === null) return null
  if (hold.ended !== null) return terms.at < rememberedUntil(draft, hold.ended) ? hold : null
  const agrees = !pricing.unsettled.has(before.playerId) && seq > hold.changedSeq
  const isOver = terms.at >= hold.opensFrom || (agrees && (terms.at < hold.closesFrom || hold.agreedSeq !== null))
  if (isOver) return hold.names ? null : { ...hold, ended: terms.at, closesFrom: terms.at, opensFrom: terms.at }
  // Late statistics move the price with the update that brings them: opens wait for the one after it.
  const agreedSeq = agrees ? (hold.agreedSeq ?? seq) : null
  return agreedSeq === hold.agreedSeq ? hold : { ...hold, agreedSeq }
}

/** News without a name is remembered as long as opens would wait: a review takes minutes. */
const rememberedUntil = (draft: Draft, ended: Instant): Instant =>
  instant(Math.ceil(ended + lasting(NEWS_OPENS_HOLD_MS, draft)))

/** Overlapping news is one: it keeps its beginning and the base before it. */
function extended(draft: Draft, before: Instrument, news: PlayerNews, update: PricedUpdate): NewsHold {
  const { at, rules } = update.terms
  const last = before.news
  const hold = isHeld(last) && at < last.opensFrom ? last : null
  const unnamed = last !== null && hold === null && !last.names ? { from: last.windowFrom, to: last.opensFrom } : null
  const from = instant(Math.floor(at - aheadMs(draft, news, rules)))
  return {
    since: hold?.since ?? at,
    windowFrom: instant(Math.min(hold?.windowFrom ?? from, from)),
    unnamed: hold?.unnamed ?? unnamed,
    names: news.names || (hold?.names ?? false),
    baseBefore: hold?.baseBefore ?? before.base,
    changedSeq: update.seq,
    agreedSeq: null,
    eventIds: [...new Set([...(hold?.eventIds ?? []), ...news.firstIds, ...update.pricing.cancelled])],
    closesFrom: instant(Math.ceil(at + lasting(rules.newsHoldMs, draft))),
    opensFrom: instant(Math.ceil(at + lasting(Math.max(rules.newsHoldMs, NEWS_OPENS_HOLD_MS), draft))),
    ended: null,
  }
}

/** How far the window reaches back: also over a break, in which the minute of the event stands still. */
const aheadMs = (draft: Draft, { ageSecs, pausedMs }: PlayerNews, { lateVoidMs }: TradingRules): number =>
  lateVoidMs === 0 ? 0 : Math.max(lasting(lateVoidMs, draft), lasting(ageSecs * SECOND_MS, draft) + pausedMs)

/** The window of an update that moves a base as far as news would, unless news has one already. */ // T37
function farMoveFrom(
  draft: Draft,
  before: Instrument,
  hold: NewsHold | null,
  base: Price,
  { at, rules }: Terms,
): Instant | null {
  const isNews = hold?.names === true || before.news?.names === true
  if (rules.lateVoidMs === 0 || isNews || !movesFar(before.base, base, rules)) return null
  return instant(Math.floor(at - lasting(rules.lateVoidMs, draft)))
}

const movesFar = (from: Price, to: Price, { lateMovePpm }: TradingRules): boolean =>
  Math.abs(to - from) >= mulDivNearest(from, lateMovePpm, PPM)

function changeOf(before: Instrument, hold: NewsHold | null, base: Price, from: Instant | null): NewsChange | null {
  const last = before.news
  const isOver = last !== null && (hold === null || (last.names && hold.since !== last.since))
  const begun = hold !== last && isHeld(hold) ? hold : null
  if (!isOver && begun === null && from === null) return null
  return { ended: isOver ? last : null, begun, from, baseBefore: before.base, baseAfter: base }
}

function voidLateOpens(draft: Draft, windows: ReadonlyMap<InstrumentId, OpensWindow>, terms: Terms): void {
  // One pass for all: open positions are not kept by instrument, and news is rare.
  const late: Position[] = []
  for (const position of draft.openPositions()) {
    const window = windows.get(position.instrumentId)
    if (window !== undefined && window.includes(position.openedAt) && position.openPrice > 0) late.push(position)
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
  const together = price(exitPrice({ ...before, base, awaitsSettlement: false }, exposure))
  for (const position of leaving.toSorted(byAge)) {
    const fill = isCommon(position.purse) ? together : leaguePrice({ base })
    emitClose(draft, position, { price: fill, base, at: terms.at, by: 'void', voidReason: 'late_open' }, terms)
  }
  emitMove(draft, before, 'trade', 0, terms)
}
