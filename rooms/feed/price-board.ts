/** What there is to subscribe to: the current price of every instrument that is being published, and what led there. */
import { present } from '../../actors/kernel/assert.ts'
import type { FixtureId, InstrumentId } from '../../actors/kernel/ids.ts'
import { asSnapshot, FLAG, flagged } from './price-frame.ts'

/** One price as its match publishes it: encoded once, shared by all who get it, never changed. */
export interface PublishedPrice {
  readonly matchId: FixtureId
  readonly instrumentId: InstrumentId
  readonly epoch: number
  readonly seq: number
  readonly frame: Buffer
}

/** A frame as one door puts it on the wire; the result is shared by all who get it. */
export type Pack = (frame: Buffer) => Buffer

/** Where a returning subscriber left off. */
export interface Since {
  readonly epoch: number
  readonly seq: number
}

/** Moves a match remembers for those who come back: a few minutes of a busy match, 100 KiB. */
export const HISTORY_MAX = 1_024

/**
 * One instrument and its subscribers. Stamps count every publication of the board, over all matches: a subscriber that
 * has been served up to stamp n needs exactly the topics with a higher one, and those in which he skipped a move besides
 * are the conflated ones.
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

  /** Null while no match publishes it. */
  get price(): PublishedPrice | null {
    return this.#price
  }

  /** When the current price was published, by the board's count. */
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

  /** Whether the current price stands for an older one, too, to somebody who was last served at `served`. */
  hasMovedTwiceSince(served: number): boolean {
    return this.#previousStamp > served
  }

  /** The current price as a message, for a subscriber who was last served at `served`. */
  messageAfter(served: number, pack: Pack): Buffer {
    if (!this.hasMovedTwiceSince(served)) return this.#made(this.#moves, pack, asItIs)
    return this.#made(this.#conflated, pack, asConflated)
  }

  /** How it stands, as a message. */
  snapshot(pack: Pack): Buffer {
    return this.#made(this.#snapshots, pack, asSnapshot)
  }

  /** Made for the first who needs it. */
  #made(made: Map<Pack, Buffer>, pack: Pack, change: (frame: Buffer) => Buffer): Buffer {
    let message = made.get(pack)
    if (message === undefined) {
      message = pack(change(present(this.#price, `price of ${this.instrumentId}`).frame))
      made.set(pack, message)
    }
    return message
  }
}

const asItIs = (frame: Buffer): Buffer => frame
const asConflated = (frame: Buffer): Buffer => flagged(frame, FLAG.conflated)

/** The recent moves of one match in one epoch, oldest first. */
interface History {
  readonly epoch: number
  readonly moves: PublishedPrice[]
}

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

  /** The topic of an instrument that somebody publishes now. */
  topic(id: InstrumentId): Topic<Subscriber> | undefined {
    const topic = this.#topics.get(id)
    return topic?.price === null ? undefined : topic
  }

  /** A match begins to publish: how its prices stand. What an earlier epoch published is forgotten. */
  open(matchId: FixtureId, epoch: number, prices: readonly PublishedPrice[]): Topic<Subscriber>[] {
    this.#histories.set(matchId, { epoch, moves: [] })
    return prices.map((price) => this.#show(price))
  }

  /** A move; returns the topic, so that the caller can serve its subscribers. */
  publish(price: PublishedPrice): Topic<Subscriber> {
    const moves = this.#histories.get(price.matchId)?.moves
    moves?.push(price)
    // Trimmed by halves: shifting a thousand entries for every move would cost more than the move.
    if (moves !== undefined && moves.length >= HISTORY_MAX * 2) moves.splice(0, moves.length - HISTORY_MAX)
    return this.#show(price)
  }

  /** A match stops publishing. Its subscribers stay: the players may be back in another match. */
  close(matchId: FixtureId): void {
    this.#histories.delete(matchId)
    for (const topic of this.#topics.values()) {
      if (topic.price?.matchId !== matchId) continue
      topic.show(null, this.#stamp)
      this.forget(topic)
    }
  }

  /** Drops a topic that nobody publishes and nobody wants. To be called when a subscriber leaves. */
  forget(topic: Topic<Subscriber>): void {
    if (topic.price === null && topic.subscribers.size === 0) this.#topics.delete(topic.instrumentId)
  }

  /** The moves of an instrument after `since`, or null when they are not all remembered: the caller needs a snapshot. */
  missed(price: PublishedPrice, since: Since): readonly PublishedPrice[] | null {
    const history = this.#histories.get(price.matchId)
    if (history === undefined || history.epoch !== since.epoch) return null
    const first = history.moves[0]?.seq ?? Infinity
    const last = history.moves.at(-1)?.seq ?? 0
    if (since.seq > last || (since.seq < last && since.seq < first - 1)) return null
    return history.moves.filter((move) => move.seq > since.seq && move.instrumentId === price.instrumentId)
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
