/** When news of a player begins and ends, and which fills it reaches. */
import {
  LATE_REACH_MS,
  NEWS_CANCELLED_WITHIN_MS,
  NEWS_OPENS_HOLD_MS,
  PENALTY_LATE_MS,
  type ProtectionRules,
} from '../../kernel/limits.ts'
import { PPM } from '../../kernel/micros.ts'
import { type Instant, instant, SECOND_MS } from '../../kernel/world.ts'
import type { Instrument } from '../../market/instrument.ts'
import { concernsAll } from '../../market/incidents.ts'
import type { NewsMemory, NewsWindow } from '../../market/news-memory.ts'
import type { PlayerNews, Pricing } from '../../market/pricing.ts'
import type { MatchView } from '../state.ts'

/** An update of the feed, priced. */
export interface PricedUpdate {
  readonly seq: number
  readonly at: Instant
  readonly pricing: Pricing
  readonly rules: ProtectionRules
}

/** The most windows that are remembered of a player. With more the earliest are forgotten. */
const WINDOWS_MAX = 16

/** Windows are of match time: a recording that plays sixty times as fast has windows sixty times as short. */ // N7
const lasting = (ms: number, { info }: { readonly info: Pick<MatchView['info'], 'speed'> }): number => ms / info.speed

/** What is remembered of a player's news after an update. */ // N1
export function newsAfter(view: MatchView, before: Instrument, update: PricedUpdate): NewsMemory | null {
  const { seq, at, pricing } = update
  const known = before.news?.windows.filter((one) => !isForgotten(one, view, at)) ?? []
  const hold = before.news?.hold ?? null
  const shown = pricing.playerNews.get(before.playerId)
  if (shown !== undefined) return extended(view, { hold, windows: known }, shown, update)
  const remembered = known.filter((one) => one.endedAt === null || !isAnswered(one, pricing))
  const agrees = hold !== null && seq > hold.changedSeq && !pricing.unsettled.has(before.playerId)
  const isOver = hold !== null && (agrees || at >= hold.opensFrom)
  const windows = isOver ? remembered.map((one) => ({ ...one, endedAt: one.endedAt ?? at })) : remembered
  const kept = isOver ? null : hold
  if (kept === null && windows.length === 0) return null
  return kept === before.news?.hold && windows.length === before.news?.windows.length
    ? before.news
    : { hold: kept, windows }
}

/** Overlapping news is one: it keeps its beginning. What is cancelled, or comes back, begins where it first began. */
function extended(view: MatchView, last: NewsMemory, shown: PlayerNews, update: PricedUpdate): NewsMemory {
  const { seq, at, pricing, rules } = update
  const current = last.hold !== null && at < last.hold.opensFrom ? last.windows.at(-1) : undefined
  const eventIds = [...new Set([...(current?.eventIds ?? []), ...shown.firstIds, ...pricing.cancelled])]
  const answered = last.windows.filter((one) => isAnswered(one, pricing))
  const same = last.windows.filter((one) => one.eventIds.some((id) => eventIds.includes(id)))
  const from = instant(Math.floor(at - aheadMs(view, shown, rules)))
  const behind = [current, ...same, ...answered].filter((one) => one !== undefined)
  const window: NewsWindow = {
    from: earliest([from, ...behind.map((one) => one.from)]),
    eventIds,
    names: shown.names || (current?.names ?? false),
    endedAt: null,
  }
  const earlier = last.windows.filter((one) => one !== current && !answered.includes(one))
  const others = earlier.map((one) => ({ ...one, endedAt: one.endedAt ?? at }))
  return {
    hold: {
      changedSeq: seq,
      closesFrom: instant(Math.ceil(at + lasting(rules.newsHoldMs, view))),
      opensFrom: instant(Math.ceil(at + lasting(Math.max(rules.newsHoldMs, NEWS_OPENS_HOLD_MS), view))),
    },
    windows: [...others, window].slice(-WINDOWS_MAX),
  }
}

/** Whether news without a name has its answer by now. Later news is another matter. */
const isAnswered = ({ names, eventIds }: NewsWindow, { memory: { incidents } }: Pricing): boolean =>
  !names && !incidents.some((row) => eventIds.includes(row.firstId) && row.standing !== 'cancelled' && concernsAll(row))

/** How far the window reaches back: to the beginning of the event's minute, also over a break. */
function aheadMs(view: MatchView, { ageSecs, pausedMs, isPenalty }: PlayerNews, { lateMs }: ProtectionRules): number {
  const age = lasting(ageSecs * SECOND_MS, view) + pausedMs
  return Math.max(lasting(isPenalty ? Math.max(lateMs, PENALTY_LATE_MS) : lateMs, view), age)
}

/**
 * From which instant on the fills of a player move with the base, in this update; null when none does. News that named
 * no player counts once it turns out to be about this one.
 */ // N1
export function windowOf(
  view: MatchView,
  before: Instrument,
  after: NewsMemory | null,
  base: { readonly from: number; readonly to: number },
  { at, pricing, rules }: PricedUpdate,
): Instant | null {
  const begins: Instant[] = []
  const running = [before.news, after].flatMap((news) => (news?.hold ? news.windows.slice(-1) : []))
  const isFar = Math.abs(base.to - base.from) * PPM >= rules.movePpm * base.from
  const isAbout = isFar || pricing.playerNews.get(before.playerId)?.names === true
  for (const one of [...running, ...(before.news?.windows ?? [])]) {
    if (running.includes(one) && one.names) begins.push(one.from)
    else if (isAbout && !one.names) begins.push(one.from)
    else if (one.eventIds.some((id) => pricing.cancelled.includes(id))) begins.push(one.from)
  }
  if (isFar) begins.push(instant(Math.floor(at - lasting(rules.lateMs, view))))
  return begins.length === 0 ? null : earliest(begins)
}

const earliest = (instants: readonly Instant[]): Instant => instant(Math.min(...instants))

/** After this nothing that happened in the window can be taken back. */
function isForgotten({ endedAt }: NewsWindow, view: MatchView, now: Instant): boolean {
  return endedAt !== null && now >= endedAt + lasting(NEWS_CANCELLED_WITHIN_MS, view)
}

/** How long after a fill news that has not come yet may move it, in ms. */ // N4
export const movableMs = (match: Pick<MatchView['info'], 'speed'>, lateMs: number): number =>
  lasting(Math.max(lateMs, LATE_REACH_MS), { info: match })

/** Until when news may move a fill of this instant. */ // N4
export function movableUntil(view: MatchView, news: NewsMemory | null, fillAt: Instant, lateMs: number): Instant {
  let until = fillAt + movableMs(view.info, lateMs)
  for (const { from, endedAt } of news?.windows ?? []) {
    if (fillAt < from) continue
    const ends = endedAt ?? news?.hold?.opensFrom ?? fillAt
    until = Math.max(until, ends + lasting(NEWS_CANCELLED_WITHIN_MS, view))
  }
  return instant(Math.ceil(until))
}
