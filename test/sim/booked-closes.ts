/** What late news makes of closes, as the book reads it from the committed events: corrections and locked proceeds. */
import type { FixtureId, InstrumentId, PositionId, UserId } from '../../actors/kernel/ids.ts'
import type { Purse, WalletKey } from '../../actors/kernel/purse.ts'
import type { TradingRules } from '../../actors/kernel/limits.ts'
import type { NewsHold } from '../../actors/market/instrument.ts'
import type { CloseCorrected, MatchEvent } from '../../actors/match/messages.ts'
import type { Position } from '../../actors/position/position.ts'
import type { Committed } from './committed.ts'
import * as oracle from './oracle.ts'
import { hold, same } from './violation.ts'

interface BookedClose {
  readonly userId: UserId
  readonly purse: Purse
  readonly instrumentId: InstrumentId
  readonly matchId: FixtureId
  readonly openedAt: number
  readonly lateVoidMs: number
  readonly at: number
  /** The id of its batch. */
  readonly batch: string
  /** Its price and base when it closed. */
  readonly price: number
  readonly base: number
  awaited: boolean
  /** Which news it waits for. On the update that ends it, other news may begin. */
  waitsFor: NewsHold | undefined
  shift: number
  proceeds: number
  lockedUntil: number
  /** What corrections have added and may take back, and until when. */
  credit: number
  creditUntil: number
  news: CloseCorrected['corrections']
}

const EVENT_MINUTE_MS = 60_000

/** By the rules of the moment at which a close is written down. */
const reachOf = ({ lateVoidMs }: TradingRules): number => (lateVoidMs === 0 ? 0 : lateVoidMs + EVENT_MINUTE_MS)

export class BookedCloses {
  readonly #closes = new Map<PositionId, BookedClose>()
  /** The news that holds an instrument, or held it last. */
  readonly #news = new Map<InstrumentId, NewsHold>()
  /** What has happened to closes, for the coverage of the simulator. */
  readonly seen: string[] = []
  /** `lateVoidMs` when the news of an instrument was last published. */
  readonly #rulesAt = new Map<InstrumentId, number>()
  readonly #isHolding = new Set<InstrumentId>()

  add(p: Position, { batch, rules }: Committed): void {
    const { close } = p
    if (close === null || rules.lateVoidMs === 0) return
    if (close.by !== 'user' && close.by !== 'stop_loss' && close.by !== 'take_profit') return
    const holding = this.#news.get(p.instrumentId)
    const awaited = holding !== undefined && this.#isHolding.has(p.instrumentId) && holding.ended === null
    this.#closes.set(p.id, {
      userId: p.userId,
      purse: p.purse,
      instrumentId: p.instrumentId,
      matchId: p.fixtureId,
      openedAt: p.openedAt,
      lateVoidMs: rules.lateVoidMs,
      at: batch.at,
      batch: batch.id,
      price: close.price,
      base: close.base,
      awaited,
      waitsFor: awaited ? holding : undefined,
      shift: 0,
      proceeds: p.margin + close.pnl,
      lockedUntil: batch.at + reachOf(rules),
      credit: 0,
      creditUntil: 0,
      news: [],
    })
  }

  follow({ instrumentId, news }: Extract<MatchEvent, { kind: 'news_changed' }>, { lateVoidMs }: TradingRules): void {
    if (news !== null) this.#rulesAt.set(instrumentId, lateVoidMs)
    if (news === null) this.#isHolding.delete(instrumentId)
    else {
      this.#isHolding.add(instrumentId)
      this.#news.set(instrumentId, news)
      // What waits for news without a name waits for the news that names somebody after it.
      for (const close of this.#closes.values()) {
        if (close.instrumentId === instrumentId && close.waitsFor?.names === false) close.waitsFor = news
      }
    }
  }

  /** Checks a correction against the position as booked and the bases of its instrument; returns what it books. */
  correct(
    event: CloseCorrected,
    before: Position,
    bases: { readonly from: number; readonly to: number },
    { batch, rules }: Pick<Committed, 'batch' | 'rules'>,
  ): number {
    const { position, amount, shift, corrections, awaited } = event
    const close = this.#closes.get(position.id)
    hold('late', close !== undefined, () => `${position.id} is corrected and was not closed by choice`)
    same('late', { ...position, close: null }, { ...before, close: null }, `corrected ${position.id}`)
    same('late', shift.before, close.shift, `shift of ${position.id} so far`)
    const sum = corrections.reduce((total, one) => total + one.shift, 0)
    same('late', shift.after, sum, `shift of ${position.id}`)
    same('late', position.close.pnl, oracle.oraclePnl(position, close.price + sum), `PnL of ${position.id}`)
    same('late', amount, position.close.pnl - (before.close?.pnl ?? 0), `what is booked for ${position.id}`)
    for (const one of corrections.slice(close.news.length)) {
      if (one.eventIds.length === 0 && !close.awaited) {
        same('late', one.shift, bases.to - bases.from, `far move of ${position.id}`)
      } else if (one.eventIds.length > 0) {
        const news = close.waitsFor
        const from = news !== undefined && close.at < news.since ? news.baseBefore : close.base
        same('late', one.shift, bases.to - from, `news of ${position.id}`)
        hold('late', close.awaited, () => `${position.id} was corrected and not waited for`)
      }
    }
    for (const [n, one] of close.news.entries()) {
      const now = corrections[n]
      const isSame = now !== undefined && now.shift === one.shift
      hold('late', isSame || (now !== undefined && now.shift === 0), () => `${position.id} forgets a correction`)
    }
    if (awaited && !close.awaited) this.seen.push('closes awaited')
    if (amount !== 0) this.seen.push(corrections.length > close.news.length ? 'closes corrected' : 'closes reversed')
    // A lock that was lifted is not put back when the clock jumps.
    const reach = close.at + reachOf(rules)
    close.lockedUntil = batch.at < reach ? reach : 0
    const credits = corrections.filter((one) => one.amount > 0 && batch.at < one.lockedUntil)
    close.credit = credits.reduce((total, one) => total + one.amount, 0)
    close.creditUntil = Math.max(0, ...credits.map((one) => one.lockedUntil))
    close.waitsFor = awaited ? this.#news.get(close.instrumentId) : undefined
    Object.assign(close, { awaited, shift: sum, news: corrections, proceeds: position.margin + position.close.pnl })
    return amount
  }

  lockedOf({ userId: user, purse: of }: WalletKey<UserId>, at: number): number {
    return [...this.#closes.values()]
      .filter(({ userId, purse }) => userId === user && purse === of)
      .reduce((sum, { awaited, lockedUntil, proceeds, credit, creditUntil }) => {
        if (awaited || at < lockedUntil) return sum + proceeds
        return at < creditUntil ? sum + credit : sum
      }, 0)
  }

  /** What waits has news to wait for; and what was closed in the window of news that is over has not got away. */
  check({ batch, rules }: Committed): void {
    for (const event of batch.events) {
      if (event.kind !== 'news_changed' || event.news !== null) continue
      const news = this.#news.get(event.instrumentId)
      if (news === undefined || !news.names) continue
      for (const [id, close] of this.#closes) {
        if (close.instrumentId !== event.instrumentId || close.at < news.windowFrom || close.at > news.since) continue
        // A player whose match is over is listed by another.
        if (close.matchId !== batch.matchId) continue
        // What the end of the news has fired left with all of it in the price.
        if (close.batch === batch.id) continue
        // Under other rules it may have been out of reach when the news came.
        if (close.lateVoidMs !== rules.lateVoidMs || this.#rulesAt.get(event.instrumentId) !== rules.lateVoidMs)
          continue
        const { unnamed } = news
        const isUnnamed = unnamed !== null && close.openedAt >= unnamed.from && close.openedAt < unnamed.to
        const isOut = close.openedAt >= news.windowFrom || isUnnamed || close.lockedUntil <= news.since
        const isFound = close.news.some(({ eventIds }) => eventIds.some((one) => news.eventIds.includes(one)))
        hold('late', isOut || isFound || news.eventIds.length === 0, () => `${id} got away from news`)
      }
    }
    for (const [id, { awaited, instrumentId }] of this.#closes) {
      hold('late', !awaited || this.#isHolding.has(instrumentId), () => `${id} waits for no news`)
    }
  }

  /** The match is over: nothing waits any more. */
  end(instrumentId: InstrumentId): void {
    this.#isHolding.delete(instrumentId)
  }
}
