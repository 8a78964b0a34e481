/** Runs one match actor in this process: drives its clock, renews its lease, numbers its prices and publishes them. */
import type { FixtureId, InstrumentId, UserId } from '../../actors/kernel/ids.ts'
import { REPUBLISH_MS, type TradingRules } from '../../actors/kernel/limits.ts'
import type { TradeWindow } from '../../actors/kernel/outcome.ts'
import type { Instant, World } from '../../actors/kernel/world.ts'
import type { RefusedUpdate } from '../../actors/market/feed-clock.ts'
import { type Instrument, quoteOf } from '../../actors/market/instrument.ts'
import { isInPlay } from '../../actors/market/phase.ts'
import type { ScoringModel } from '../../actors/market/pricing.ts'
import { MatchActor, type Publication, type StopReason } from '../../actors/match/actor.ts'
import type { MatchEvent } from '../../actors/match/messages.ts'
import type { Leases, MatchRecord, MatchStore } from '../../actors/match/store.ts'
import { isStale, isTicking } from '../../actors/match/suspension.ts'
import type { AccountStream } from '../feed/account-stream.ts'
import type { FanOut, PriceSource } from '../feed/fan-out.ts'
import type { MatchStats, RefusedUpdates } from '../stats.ts'
import { encodePriceFrame, FLAG, type PublishedPrice } from '../feed/price-frame.ts'
import { type Report, reportWith } from '../report.ts'
import type { WriteDeadline } from '../sockets/write-deadline.ts'
import type { FairShare } from './fair-share.ts'

/** Publishes to the other processes what happens in the matches of this one. */
export interface Relay {
  prices(prices: readonly PublishedPrice[]): void
  /** The account logs of these users have new entries. */
  logAppended(users: Iterable<UserId>): void
  /** The match runs here. Sent when it opens and with every renewal of its lease, since messages may be lost. */
  opened(match: Incarnation): void
  closed(match: Incarnation): void
}

/** A match under one owner. */
type Incarnation = Pick<PriceSource, 'matchId' | 'epoch'>

/** What every match needs of the process it runs in. */
export interface MatchContext {
  readonly store: MatchStore
  /**
   * The match as far as it can be read (actors/match/quarantine.ts), or null when it is unknown. Notes why: operators
   * see it listed, and the holders of its positions are told once.
   */
  readonly quarantine: (matchId: FixtureId, reason: string) => Promise<MatchRecord | null>
  readonly leases: Leases
  /** How long a lease lasts; it is renewed at a third of that. */
  readonly leaseTtlMs: number
  readonly world: World
  readonly rules: () => TradingRules
  readonly model: () => ScoringModel
  readonly fanOut: FanOut
  readonly account: AccountStream
  /** Null when there are no other processes. */
  readonly relay: Relay | null
  readonly deadline: WriteDeadline
  /** Between the matches of the process. */
  readonly share: Pick<FairShare, 'batchMax'>
  readonly report: Report
  /** Logs what an operator should know although nothing failed. */
  readonly warn: (event: string, facts: Readonly<Record<string, unknown>>) => void
  /** The matches of this process count in it. */
  readonly refusedUpdates: RefusedUpdates
  /** Hears the events of each commit of a match of this process, once it is durable. Must not throw. */
  readonly onCommitted: (events: readonly MatchEvent[]) => void
}

export interface MatchHostOptions {
  readonly context: MatchContext
  readonly record: MatchRecord
  readonly epoch: number
  /** New prices are about to be published. */
  readonly onPrices: () => void
  /** The actor stopped itself. */
  readonly onStopped: (reason: StopReason, error: unknown) => void
}

/** The fields of a frame that say why it is sent. */
type Move = Pick<Publication, 'previous' | 'cause' | 'providerEventId' | 'at'>

export class MatchHost implements PriceSource {
  readonly actor: MatchActor
  readonly matchId: FixtureId
  readonly epoch: number
  /** Reports with the match and its epoch. */
  readonly report: Report
  readonly #options: MatchHostOptions
  readonly #context: MatchContext
  #seq = 0
  /** The last renewal of the lease. */
  #renewal: Promise<boolean> = Promise.resolve(true)
  /** Why updates have been refused; each reason is logged once. */
  readonly #refusedFor = new Set<RefusedUpdate>()
  /** The trading status that each instrument was last published with, and when. */
  readonly #published = new Map<InstrumentId, { readonly status: TradeWindow['status']; readonly at: Instant }>()

  /** Throws InvariantBroken when the record contradicts itself. */
  constructor(options: MatchHostOptions) {
    this.#options = options
    this.#context = options.context
    this.matchId = options.record.info.matchId
    this.epoch = options.epoch
    this.report = reportWith(this.#context.report, { matchId: this.matchId, epoch: this.epoch })
    this.actor = new MatchActor({
      record: options.record,
      epoch: options.epoch,
      store: this.#context.store,
      world: this.#context.world,
      rules: this.#context.rules,
      model: this.#context.model,
      batchMax: (waiting) => this.#context.share.batchMax(this.matchId, waiting),
      pause: () => new Promise(setImmediate),
      onCommitted: (events) => this.#publish(events),
      onStopped: options.onStopped,
    })
    this.#context.fanOut.open(this)
    this.#context.relay?.opened(this)
  }

  /** The number of the last published price. */
  get seq(): number {
    return this.#seq
  }

  /** To be called about once a second. */
  tick(): void {
    // It rejects once the actor has stopped, which `onStopped` reports.
    this.actor.clock().catch(() => undefined)
    // Time alone can open or close trading.
    this.#context.fanOut.moved(this)
  }

  /**
   * Renews the lease; false when it is lost and the host must be closed. True while the database is unavailable:
   * nothing can be committed then, and the fence decides later.
   */
  renew(): Promise<boolean> {
    this.#renewal = this.#renew()
    return this.#renewal
  }

  async #renew(): Promise<boolean> {
    try {
      const isOurs = await this.#context.leases.renew(this.matchId, this.epoch)
      // For processes that missed the first announcement, because Redis was unavailable.
      if (isOurs && this.actor.view.info.settledAt === null) this.#context.relay?.opened(this)
      return isOurs
    } catch (error) {
      this.report('lease_renewal_failed', error)
      return true
    }
  }

  stats(): MatchStats {
    const { info } = this.actor.view
    const since = (at: Instant | undefined | null): number | null =>
      at === null || at === undefined ? null : this.#context.world.now() - at
    return {
      matchId: this.matchId,
      waiting: this.actor.waiting,
      feedAgeMs: isInPlay(info.phase) ? since(info.sourceAt) : null,
      clockStillMs: since(info.clock?.movedAt),
    }
  }

  currentPrices(): readonly PublishedPrice[] {
    const now = this.#context.world.now()
    const at = this.actor.view.info.sourceAt ?? now
    return [...this.actor.view.instruments()].map((instrument) => {
      const window = this.actor.window(instrument.id)
      // Those who follow already do not get these.
      this.#published.set(instrument.id, { at: now, ...this.#published.get(instrument.id), status: window.status })
      const move: Move = { previous: instrument.published, cause: 'listing', providerEventId: 0, at }
      return this.#frame(instrument, window, move, FLAG.snapshot)
    })
  }

  /**
   * Numbers the moves since the last call, the instruments whose trading status differs from the last published one,
   * and those that have stood still for REPUBLISH_MS, and publishes them to the other processes. From then on `seq` and
   * the current prices agree.
   */
  takePrices(): readonly PublishedPrice[] {
    const now = this.#context.world.now()
    const prices = this.actor.takeUnpublished().map((publication) => {
      const window = this.actor.window(publication.instrument.id)
      return this.#number(publication.instrument, window, publication, publication.conflated ? FLAG.conflated : 0)
    })
    for (const instrument of this.actor.view.instruments()) {
      const window = this.actor.window(instrument.id)
      const published = this.#published.get(instrument.id)
      if (published?.status === window.status && !this.#isSilent(instrument, published.at)) continue
      const move: Move = { previous: instrument.published, cause: 'match', providerEventId: 0, at: now }
      prices.push(this.#number(instrument, window, move, 0))
    }
    if (prices.length === 0) return prices
    this.#options.onPrices()
    this.#context.relay?.prices(prices)
    return prices
  }

  /** Stops taking commands, finishes those it has, publishes their prices, and releases the lease. */
  async close(): Promise<void> {
    await this.actor.stop()
    this.#context.fanOut.close(this)
    this.#context.relay?.closed(this)
    // One that arrived after the release would keep the match from the next owner for as long as a lease lasts.
    await this.#renewal
    await this.#context.leases.release(this.matchId, this.epoch)
  }

  #publish(events: readonly MatchEvent[]): void {
    this.#context.fanOut.moved(this)
    this.#context.onCommitted(events)
    for (const event of events) if (event.kind === 'match_updated') this.#countRefused(event.refused)
    const owners = new Set(events.flatMap((event) => ('position' in event ? [event.position.userId] : [])))
    for (const userId of owners) this.#context.account.logAppended(userId)
    if (owners.size > 0) this.#context.relay?.logAppended(owners)
  }

  #countRefused(reason: RefusedUpdate | undefined): void {
    if (reason === undefined) return
    this.#context.refusedUpdates[reason]++
    if (this.#refusedFor.has(reason)) return
    this.#refusedFor.add(reason)
    this.#context.warn('feed_update_refused', { matchId: this.matchId, reason })
  }

  /** Whether a price that lives was published long ago, and is followed, here or perhaps in other processes. */
  #isSilent(instrument: Instrument, publishedAt: Instant): boolean {
    const { world, rules, fanOut, relay } = this.#context
    const now = world.now()
    if (Math.abs(now - publishedAt) < REPUBLISH_MS || !isTicking(this.actor.view.info, instrument, now, rules()))
      return false
    return relay !== null || fanOut.isFollowing(instrument.id)
  }

  #number(instrument: Instrument, window: TradeWindow, move: Move, flags: number): PublishedPrice {
    this.#seq++
    this.#published.set(instrument.id, { status: window.status, at: this.#context.world.now() })
    return this.#frame(instrument, window, move, flags)
  }

  #frame(instrument: Instrument, window: TradeWindow, move: Move, flags: number): PublishedPrice {
    const { info } = this.actor.view
    const quote = quoteOf(instrument)
    const frame = encodePriceFrame({
      flags: flags | this.#condition(instrument, window),
      epoch: this.epoch,
      seq: this.#seq,
      instrumentId: instrument.id,
      at: move.at,
      price: quote.price,
      base: quote.base,
      imbalance: quote.imbalance,
      previous: move.previous,
      providerEventId: move.providerEventId,
      fixtureId: this.matchId,
      phase: info.phase,
      cause: move.cause,
      minute: info.minute,
      status: window.status,
    })
    return { matchId: this.matchId, instrumentId: instrument.id, epoch: this.epoch, seq: this.#seq, frame }
  }

  #condition(instrument: Instrument, window: TradeWindow): number {
    const { rules, world } = this.#context
    const stale = isStale(this.actor.view.info, world.now(), rules()) ? FLAG.stale : 0
    const suspended = window.status === 'SUSPENDED' ? FLAG.suspended : 0
    return stale | suspended | (instrument.settlement === null ? 0 : FLAG.final)
  }
}
