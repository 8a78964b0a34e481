/** The board: the current price of every published instrument, and the recent moves of every match. */
import { present } from '../../actors/kernel/assert.ts'
import type { FixtureId, InstrumentId } from '../../actors/kernel/ids.ts'
import { type CatchUp, History } from './history.ts'
import { asSnapshot, FLAG, flagged, repeats, type PublishedPrice, type Pack, type Since } from './price-frame.ts'

/**
 * One instrument and its subscribers. Stamps count all publications of the board, over all matches: a subscriber that
 * has been served up to stamp n is due exactly the topics with a higher stamp. Where it also skipped a move, its frame
 * is conflated.
 */
export class Topic<Subscriber> {
  readonly instrumentId: InstrumentId
  readonly subscribers = new Set<Subscriber>()
  #price: PublishedPrice | null = null
  #stamp = 0
  #previousStamp = 0
  readonly #moves = new Map<Pack, Buffer>()
  readonly #conflated = new Map<Pack, Buffer>()
  readonly #snapshots = new Map<Pack, Buffer>()

  constructor(id: InstrumentId) {
    this.instrumentId = id
  }

  /** Null while no match publishes the instrument. */
  get price(): PublishedPrice | null {
    return this.#price
  }

  /** The stamp of the current price. */
  get stamp(): number {
    return this.#stamp
  }

  show(price: PublishedPrice | null, stamp: number): void {
    this.#price = price
    this.#previousStamp = this.#stamp
    this.#stamp = stamp
    this.#moves.clear()
    this.#conflated.clear()
    this.#snapshots.clear()
  }

  /** Whether a subscriber served up to `served` has missed a move before the current price. */
  hasMovedTwiceSince(served: number): boolean {
    return this.#previousStamp > served
  }

  /** The current price as a message for a subscriber served up to `served`. */
  messageAfter(served: number, pack: Pack): Buffer {
    if (!this.hasMovedTwiceSince(served)) return this.#made(this.#moves, pack, unchanged)
    return this.#made(this.#conflated, pack, asConflated)
  }

  /** The current price as a snapshot message. */
  snapshot(pack: Pack): Buffer {
    return this.#made(this.#snapshots, pack, asSnapshot)
  }

  /** Made for its first receiver. */
  #made(made: Map<Pack, Buffer>, pack: Pack, change: (frame: Buffer) => Buffer): Buffer {
    let message = made.get(pack)
    if (message === undefined) {
      message = pack(change(present(this.#price, `price of ${this.instrumentId}`).frame))
      made.set(pack, message)
    }
    return message
  }
}

const unchanged = (frame: Buffer): Buffer => frame
const asConflated = (frame: Buffer): Buffer => flagged(frame, FLAG.conflated)

export class PriceBoard<Subscriber> {
  readonly #topics = new Map<InstrumentId, Topic<Subscriber>>()
  readonly #histories = new Map<FixtureId, History>()
  #stamp = 0

  /** The stamp of the newest publication. */
  get stamp(): number {
    return this.#stamp
  }

  get isFollowed(): boolean {
    for (const topic of this.#topics.values()) if (topic.subscribers.size > 0) return true
    return false
  }

  /** The topic of an instrument, if a match publishes it now. */
  topic(id: InstrumentId): Topic<Subscriber> | undefined {
    const topic = this.#topics.get(id)
    return topic?.price === null ? undefined : topic
  }

  /** A match starts to publish, with these current prices. The moves of an earlier epoch are dropped. */
  open(matchId: FixtureId, epoch: number, prices: readonly PublishedPrice[]): Topic<Subscriber>[] {
    this.#histories.set(matchId, new History(epoch, Math.max(0, ...prices.map(({ seq }) => seq))))
    return prices.map((price) => this.#show(price))
  }

  /** A move, or a price that stands still; returns the topic, so that the caller can serve its subscribers. */
  publish(price: PublishedPrice): Topic<Subscriber> {
    const history = this.#histories.get(price.matchId)
    const before = this.#topics.get(price.instrumentId)?.price
    if (before?.matchId === price.matchId && repeats(price.frame, before.frame)) history?.pass(price)
    else history?.append(price)
    return this.#show(price)
  }

  /** A match stops publishing. Its subscribers stay: the players may return in another match. */
  close(matchId: FixtureId): void {
    this.#histories.delete(matchId)
    for (const topic of this.#topics.values()) {
      if (topic.price?.matchId !== matchId) continue
      topic.show(null, this.#stamp)
      this.forget(topic)
    }
  }

  /** Drops a topic without price and subscribers. To be called when a subscriber leaves. */
  forget(topic: Topic<Subscriber>): void {
    if (topic.price === null && topic.subscribers.size === 0) this.#topics.delete(topic.instrumentId)
  }

  /**
   * What a client needs that follows these instruments from now on: the moves after `since`, or the current prices if
   * there is no `since`, or too much was missed since then. In the order of the moves over all instruments of a match,
   * so that a client cut off in between has missed nothing before the last number it has.
   */
  catchUp(ids: Iterable<InstrumentId>, pack: Pack, since?: Since): CatchUp {
    const bytes: Buffer[] = []
    let prices = 0
    for (const [matchId, topics] of this.#byMatch(ids)) {
      const followed = new Set(topics.map(({ instrumentId }) => instrumentId))
      const missed = since === undefined ? null : this.#histories.get(matchId)?.missed(followed, since, pack)
      const due = missed ?? { bytes: inOrder(topics).map((topic) => topic.snapshot(pack)), prices: topics.length }
      bytes.push(...due.bytes)
      prices += due.prices
    }
    return { bytes, prices }
  }

  /** The topics of those instruments that have a price. */
  #byMatch(ids: Iterable<InstrumentId>): ReadonlyMap<FixtureId, Topic<Subscriber>[]> {
    const byMatch = new Map<FixtureId, Topic<Subscriber>[]>()
    for (const id of ids) {
      const topic = this.#topics.get(id)
      if (topic === undefined || topic.price === null) continue
      const ofMatch = byMatch.get(topic.price.matchId)
      if (ofMatch === undefined) byMatch.set(topic.price.matchId, [topic])
      else ofMatch.push(topic)
    }
    return byMatch
  }

  #show(price: PublishedPrice): Topic<Subscriber> {
    let topic = this.#topics.get(price.instrumentId)
    if (topic === undefined) {
      topic = new Topic(price.instrumentId)
      this.#topics.set(price.instrumentId, topic)
    }
    topic.show(price, ++this.#stamp)
    return topic
  }
}

/** A later move has a later stamp. */
const inOrder = <Subscriber>(topics: readonly Topic<Subscriber>[]): readonly Topic<Subscriber>[] =>
  topics.toSorted((a, b) => a.stamp - b.stamp)
