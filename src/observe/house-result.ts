/**
 * What trades cost the house, by how near to news they were opened and closed. Users who are ahead of the feed, or
 * faster than its statistics, show here first: honest trades near news win as often as they lose.
 *
 * Reads committed events. Each position of a live match counts once, a minute after its close, when it is known
 * whether news followed. Kept per match in play: the moments of news of each player, and recent closes.
 */
import type { FixtureId, InstrumentId, PositionId } from '../../actors/kernel/ids.ts'
import { CONTRACT_SIZE, isReplayFixture, PRICE_MIN } from '../../actors/kernel/limits.ts'
import { MICROS_PER_UNIT, type Price } from '../../actors/kernel/micros.ts'
import { isCommon } from '../../actors/kernel/purse.ts'
import { HOUR_MS, type Instant, instant, MINUTE_MS, SECOND_MS } from '../../actors/kernel/world.ts'
import type { MatchEvent } from '../../actors/match/messages.ts'
import type { Batch } from '../../actors/match/store.ts'
import type { ClosedBy } from '../../actors/position/position.ts'

/**
 * How near to news of its player a trade was: before the next by at most a given time, at the same instant, within a
 * minute after the last, or neither. `end`: the match closed it. `unseen`: opened before this process ran the match.
 */
const NEARNESS = ['before_10s', 'before_20s', 'before_40s', 'before_60s', 'with_news', 'after_60s', 'quiet'] as const
type Nearness = (typeof NEARNESS)[number]
export const OPENED = [...NEARNESS, 'unseen'] as const
export const CLOSED = [...NEARNESS, 'end'] as const

export interface HouseTrade {
  readonly opened: (typeof OPENED)[number]
  readonly closed: (typeof CLOSED)[number]
  /** In units; what the house paid is above zero. */
  readonly paid: number
  readonly margin: number
  /** What a gap would have cost beyond the margin. */
  readonly beyondMargin: number
}

interface Ended {
  readonly instrumentId: InstrumentId
  readonly openedAt: Instant
  readonly closedAt: Instant
  readonly by: ClosedBy
  readonly pnl: number
  readonly margin: number
  readonly beyondMargin: number
}

interface Followed {
  readonly since: Instant
  updatedAt: Instant
  /** By player, in order of time. */
  readonly news: Map<InstrumentId, Instant[]>
  readonly bases: Map<InstrumentId, Price>
  /** In order of time. */
  readonly ended: Map<PositionId, Ended>
}

const LEADS = [
  [10, 'before_10s'],
  [20, 'before_20s'],
  [40, 'before_40s'],
  [60, 'before_60s'],
] as const
const AFTER_MS = MINUTE_MS
/** The longest lead that is told apart has passed by then. */
const KNOWN_AFTER_MS = 2 * MINUTE_MS
/** A base that moves so far in one update moves by news, listed or not, in parts of the base. */
const NEWS_MOVE = 1 / 200
/** Closes that wait, per match; with more, the oldest count as they are. */
const WAITING_MAX = 100_000
/** Moments of news of one player; older ones are forgotten. */
const NEWS_MAX = 100
/** A match that has been silent for this long runs elsewhere, or has ended elsewhere. */
const FORGOTTEN_AFTER_MS = 6 * HOUR_MS

export class HouseResult {
  readonly #count: (trade: HouseTrade) => void
  readonly #countFullTime: (gain: number) => void
  readonly #matches = new Map<FixtureId, Followed>()

  /** @param countFullTime Takes what the crowd has gained at the end of a match by leaving at the shown price. */
  constructor(count: (trade: HouseTrade) => void, countFullTime: (gain: number) => void) {
    this.#count = count
    this.#countFullTime = countFullTime
  }

  /** Takes a committed batch. A replay's match time runs at another pace: it is left out. */
  take({ matchId, at, events }: Pick<Batch, 'matchId' | 'at' | 'events'>): void {
    if (isReplayFixture(matchId)) return
    const match = this.#follow(matchId, at)
    for (const event of events) note(match, event, at)
    this.#countKnown(match, at)
    const isVoid = events.some((event) => event.kind === 'match_updated' && event.info.settling === 'void')
    if (!isVoid) this.#countFullTime(events.reduce((sum, event) => sum + gainAtEnd(event), 0))
    if (events.some((event) => event.kind === 'match_updated' && event.info.settledAt !== null)) {
      this.#countAll(match)
      this.#matches.delete(matchId)
    }
  }

  #follow(matchId: FixtureId, at: Instant): Followed {
    const known = this.#matches.get(matchId)
    if (known !== undefined) {
      known.updatedAt = at
      return known
    }
    for (const [id, { updatedAt }] of this.#matches) if (at - updatedAt > FORGOTTEN_AFTER_MS) this.#matches.delete(id)
    const match: Followed = {
      since: at,
      updatedAt: at,
      news: new Map(),
      bases: new Map(),
      ended: new Map(),
    }
    this.#matches.set(matchId, match)
    return match
  }

  #countKnown(match: Followed, now: Instant): void {
    for (const [id, ended] of match.ended) {
      if (match.ended.size <= WAITING_MAX && now - ended.closedAt < KNOWN_AFTER_MS) return
      match.ended.delete(id)
      this.#count(tradeOf(match, ended))
    }
  }

  #countAll(match: Followed): void {
    for (const ended of match.ended.values()) this.#count(tradeOf(match, ended))
  }
}

function note(match: Followed, event: MatchEvent, at: Instant): void {
  if (event.kind === 'instrument_listed') match.bases.set(event.instrument.id, event.instrument.base)
  else if (event.kind === 'price_moved') {
    const { instrumentId, quote, cause } = event
    const before = match.bases.get(instrumentId)
    match.bases.set(instrumentId, quote.base)
    const isFar = before !== undefined && Math.abs(quote.base - before) >= before * NEWS_MOVE
    if (cause === 'event' || isFar) noteNews(match, instrumentId, at)
  } else if (event.kind === 'position_closed') {
    const { id, purse, instrumentId, openedAt, margin, close } = event.position
    const { beyondMargin = 0 } = event
    // What a league pays is its own money: a lead there costs the house nothing.
    if (!isCommon(purse)) return
    const { at: closedAt, by, pnl } = close
    match.ended.set(id, { instrumentId, openedAt, closedAt, by, pnl, margin, beyondMargin })
  }
}

function noteNews({ news }: Followed, id: InstrumentId, at: Instant): void {
  const moments = news.get(id) ?? []
  if (moments.at(-1) === at) return
  moments.push(at)
  if (moments.length > NEWS_MAX) moments.shift()
  news.set(id, moments)
}

/**
 * What the crowd of a player gains at most by leaving at the price that its match ended at, in units. Along the curve
 * it would leave for the mean: below the cap that is half of what it moved the price by.
 */ // T24
function gainAtEnd(event: MatchEvent): number {
  if (event.kind !== 'price_moved' || event.cause !== 'settlement') return 0
  const { imbalance, price, base } = event.quote
  return (imbalance * (price - Math.max(PRICE_MIN, base)) * CONTRACT_SIZE) / 2 / MICROS_PER_UNIT ** 2
}

function tradeOf(match: Followed, ended: Ended): HouseTrade {
  const { instrumentId, openedAt, closedAt, by, pnl, margin, beyondMargin } = ended
  const news = match.news.get(instrumentId) ?? []
  const isEnd = by === 'full_time' || by === 'void' || by === 'admin'
  return {
    opened: openedAt < match.since ? 'unseen' : nearness(news, openedAt),
    closed: isEnd ? 'end' : nearness(news, closedAt),
    paid: pnl / MICROS_PER_UNIT,
    margin: margin / MICROS_PER_UNIT,
    beyondMargin: beyondMargin / MICROS_PER_UNIT,
  }
}

/** What comes next is worth more to a trader than what has been. */
function nearness(news: readonly Instant[], at: Instant): Nearness {
  const next = news.find((moment) => moment >= at)
  if (next === at) return 'with_news'
  const lead = LEADS.find(([secs]) => next !== undefined && next - at <= secs * SECOND_MS)
  if (lead !== undefined) return lead[1]
  const last = news.findLast((moment) => moment < at) ?? instant(-AFTER_MS)
  return at - last <= AFTER_MS ? 'after_60s' : 'quiet'
}
