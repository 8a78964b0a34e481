/** Runs one match actor in this process: drives its clock, renews its lease, numbers its prices and publishes them. */
import type { FixtureId, InstrumentId, UserId } from '../../actors/kernel/ids.ts'
import type { TradingRules } from '../../actors/kernel/limits.ts'
import type { TradeWindow } from '../../actors/kernel/outcome.ts'
import type { World } from '../../actors/kernel/world.ts'
import { type Instrument, quoteOf } from '../../actors/market/instrument.ts'
import { isInPlay } from '../../actors/market/phase.ts'
import type { ScoringModel } from '../../actors/market/pricing.ts'
import { MatchActor, type Publication, type StopReason } from '../../actors/match/actor.ts'
import type { MatchEvent } from '../../actors/match/messages.ts'
import type { Leases, MatchRecord, MatchStore } from '../../actors/match/store.ts'
import { isStale } from '../../actors/match/suspension.ts'
import type { AccountStream } from '../feed/account-stream.ts'
import type { FanOut, PriceSource } from '../feed/fan-out.ts'
import type { MatchStats } from '../stats.ts'
import type { PublishedPrice } from '../feed/price-board.ts'
import { encodePriceFrame, FLAG } from '../feed/price-frame.ts'
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
  /** The trading status that each instrument was last published with. */
  readonly #publishedStatus = new Map<InstrumentId, TradeWindow['status']>()

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
    const age = info.sourceAt === null ? null : this.#context.world.now() - info.sourceAt
    return { matchId: this.matchId, waiting: this.actor.waiting, feedAgeMs: isInPlay(info.phase) ? age : null }
  }

  currentPrices(): readonly PublishedPrice[] {
    const at = this.actor.view.info.sourceAt ?? this.#context.world.now()
    return [...this.actor.view.instruments()].map((instrument) => {
      const move: Move = { previous: instrument.published, cause: 'listing', providerEventId: 0, at }
      return this.#frame(instrument, move, FLAG.snapshot)
    })
  }

  /**
   * Numbers the moves since the last call, and the instruments whose trading status differs from the last published
   * one, and publishes them to the other processes. From then on `seq` and the current prices agree.
   */
  takePrices(): readonly PublishedPrice[] {
    const prices = this.actor.takeUnpublished().map((publication) => {
      this.#seq++
      return this.#frame(publication.instrument, publication, publication.conflated ? FLAG.conflated : 0)
    })
    for (const instrument of this.actor.view.instruments()) {
      if (this.#publishedStatus.get(instrument.id) === this.actor.window(instrument.id).status) continue
      this.#seq++
      const at = this.#context.world.now()
      prices.push(
        this.#frame(instrument, { previous: instrument.published, cause: 'match', providerEventId: 0, at }, 0),
      )
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
    const owners = new Set(events.flatMap((event) => ('position' in event ? [event.position.userId] : [])))
    for (const userId of owners) this.#context.account.logAppended(userId)
    if (owners.size > 0) this.#context.relay?.logAppended(owners)
  }

  #frame(instrument: Instrument, move: Move, flags: number): PublishedPrice {
    const { info } = this.actor.view
    const window = this.actor.window(instrument.id)
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
    this.#publishedStatus.set(instrument.id, window.status)
    return { matchId: this.matchId, instrumentId: instrument.id, epoch: this.epoch, seq: this.#seq, frame }
  }

  #condition(instrument: Instrument, window: TradeWindow): number {
    const { rules, world } = this.#context
    const stale = isStale(this.actor.view.info, world.now(), rules()) ? FLAG.stale : 0
    const suspended = window.status === 'SUSPENDED' ? FLAG.suspended : 0
    return stale | suspended | (instrument.settlement === null ? 0 : FLAG.final)
  }
}
