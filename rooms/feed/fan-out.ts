/**
 * Sends the prices of every match to its subscribers at both endpoints. Moves are collected at most every
 * PUBLISH_INTERVAL_MS; each move is one shared frame; each subscriber gets one write for all its due prices; and a few
 * hundred writes are one turn of the event loop, so that 20,000 subscribers do not block it.
 *
 * A price waits in two places: in its match until it is collected, and on the board until every subscriber is ready for
 * it. In both a newer price takes its place. All other state here only marks who may still be due one.
 */
import type { FixtureId, InstrumentId } from '../../actors/kernel/ids.ts'
import { PUBLISH_INTERVAL_MS } from '../../actors/kernel/limits.ts'
import type { Clock } from '../../actors/kernel/world.ts'
import { noTraffic, type Traffic } from '../stats.ts'
import type { CatchUp } from './history.ts'
import { PriceBoard, type Topic } from './price-board.ts'
import type { Pack, PublishedPrice, Since } from './price-frame.ts'
import type { Report } from '../report.ts'
import type { Subscriber } from './subscriber.ts'

/** Subscribers written to in one turn of the event loop: a write costs 5 to 10 µs. */
const SLICE = 256
/** Instruments one subscriber may follow. */
export const INSTRUMENTS_PER_SUBSCRIBER_MAX = 500

/** A match that publishes prices. */
export interface PriceSource {
  readonly matchId: FixtureId
  readonly epoch: number
  /** The prices of all its instruments, as snapshots. */
  currentPrices(): readonly PublishedPrice[]
  /** The moves since the last call, oldest first, and prices that have stood still for long. */
  takePrices(): readonly PublishedPrice[]
}

/** `not_found`: no match publishes it. `limit`: the subscriber follows the maximum already. */
export type FollowRefusal = 'not_found' | 'limit'

export interface FanOutOptions {
  readonly clock: Clock
  readonly report: Report
}

export class FanOut {
  /** What subscribers have been sent; they count it themselves. */
  readonly traffic: Traffic = noTraffic()
  readonly #options: FanOutOptions
  readonly #board = new PriceBoard<Subscriber>()
  /** Matches with uncollected moves. */
  readonly #moved = new Set<PriceSource>()
  /** Topics whose price some subscriber may not have been sent. */
  #changed = new Set<Topic<Subscriber>>()
  /** The stamp up to which all ready subscribers have been served. */
  #servedUpTo = 0
  /** Subscribers that were not ready at their turn, in this beat or since. */
  #behind = new Set<Subscriber>()
  /** Those of the last beat, until their next turn. */
  #late = new Set<Subscriber>()
  #beat: 'idle' | 'beating' | 'resting' | 'stopped' = 'idle'
  #rest: NodeJS.Timeout | undefined

  constructor(options: FanOutOptions) {
    this.#options = options
  }

  /** A match starts to publish. Subscribers that already follow its players get their current prices. */
  open(source: PriceSource): void {
    for (const topic of this.#board.open(source.matchId, source.epoch, source.currentPrices())) this.#changed.add(topic)
    this.#schedule()
  }

  /** A match has moved: its prices are collected at the next beat, together with those of other matches. */
  moved(source: PriceSource): void {
    this.#moved.add(source)
    this.#schedule()
  }

  /** Collects the moves of one match, or of all, now rather than at the next beat. */
  collect(source?: PriceSource): void {
    for (const each of source === undefined ? this.#moved : [source]) this.#collect(each)
    if (source === undefined) this.#moved.clear()
    else this.#moved.delete(source)
    this.#schedule()
  }

  /** A match stops publishing; its last moves are still delivered. */
  close(source: PriceSource): void {
    if (this.#moved.delete(source)) this.#collect(source)
    for (const topic of this.#changed) {
      for (const subscriber of topic.subscribers) {
        if (subscriber.served < topic.stamp) subscriber.serve(this.#board.stamp)
      }
    }
    this.#board.close(source.matchId)
  }

  /** Whether any subscriber follows anything. */
  get isFollowed(): boolean {
    return this.#board.isFollowed
  }

  /** Whether any subscriber follows this instrument. */
  isFollowing(id: InstrumentId): boolean {
    return (this.#board.topic(id)?.subscribers.size ?? 0) > 0
  }

  /** Whether an instrument is on the board, published by this match if one is named. New ones are once collected. */
  publishes(id: InstrumentId, matchId?: FixtureId): boolean {
    const price = this.#board.topic(id)?.price
    return price !== undefined && price !== null && (matchId === undefined || price.matchId === matchId)
  }

  /** From now on the subscriber gets the moves of this instrument, but not its current price. Null, or why not. */
  follow(subscriber: Subscriber, id: InstrumentId): FollowRefusal | null {
    const topic = this.#board.topic(id)
    if (topic === undefined) return 'not_found'
    if (topic.subscribers.has(subscriber)) return null
    if (subscriber.topics.length >= INSTRUMENTS_PER_SUBSCRIBER_MAX) return 'limit'
    subscriber.topics.push(topic)
    topic.subscribers.add(subscriber)
    return null
  }

  /** A client has reconnected and follows the same instruments: once ready it gets all their current prices. */
  resume(subscriber: Subscriber, ids: Iterable<InstrumentId>): void {
    for (const id of ids) this.follow(subscriber, id)
    this.#behind.add(subscriber)
    this.#schedule()
  }

  unfollow(subscriber: Subscriber, ids: ReadonlySet<InstrumentId>): void {
    for (const topic of subscriber.topics.splice(0)) {
      if (ids.has(topic.instrumentId)) this.#leave(subscriber, topic)
      else subscriber.topics.push(topic)
    }
  }

  /**
   * Sends all due prices, ready or not. Call it before the subscriber follows more, so that it gets none twice.
   */
  bringUpToDate(subscriber: Subscriber): void {
    subscriber.flush(this.#board.stamp)
  }

  /** The current prices of these instruments, or the moves after `since`; see `PriceBoard.catchUp`. */
  catchUp(ids: readonly InstrumentId[], pack: Pack, since?: Since): CatchUp {
    return this.#board.catchUp(ids, pack, since)
  }

  /** The client has disconnected. */
  forget(subscriber: Subscriber): void {
    this.#behind.delete(subscriber)
    this.#late.delete(subscriber)
    for (const topic of subscriber.topics.splice(0)) this.#leave(subscriber, topic)
  }

  /** Stops publishing. */
  stop(): void {
    this.#beat = 'stopped'
    clearTimeout(this.#rest)
  }

  #leave(subscriber: Subscriber, topic: Topic<Subscriber>): void {
    topic.subscribers.delete(subscriber)
    this.#board.forget(topic)
  }

  #collect(source: PriceSource): void {
    try {
      for (const price of source.takePrices()) this.#changed.add(this.#board.publish(price))
    } catch (error) {
      this.#options.report('price_collection_failed', error, { matchId: source.matchId })
    }
  }

  // Idle → beating (collect, then write in slices) → resting, and again while there is something to do.

  #schedule(): void {
    if (this.#beat !== 'idle') return
    this.#beat = 'beating'
    setImmediate(() => this.#beatOnce())
  }

  #beatOnce(): void {
    if (this.#beat === 'stopped') return
    const beganAt = this.#options.clock.now()
    for (const source of this.#moved) this.#collect(source)
    this.#moved.clear()
    const topics = [...this.#changed].toSorted((a, b) => a.stamp - b.stamp)
    this.#changed = new Set()
    this.#late = this.#behind
    this.#behind = new Set()
    const late = { audience: this.#late.values(), topic: undefined, next: 0 }
    this.#writeSlice({ topics, from: this.#servedUpTo, to: this.#board.stamp, beganAt, ...late })
  }

  /** Serves the subscribers that the last beat could not, then those of one topic after the other, each only once. */
  #writeSlice(beat: Beat): void {
    if (this.#beat === 'stopped') return
    // A move since the beat began is not among its topics: then all topics of a subscriber are looked at.
    const stamp = this.#board.stamp
    const changed = stamp === beat.to ? beat : undefined
    let effort = 0
    while (effort < SLICE) {
      const { value: subscriber, done } = beat.audience.next()
      if (done === true) {
        beat.topic = beat.topics[beat.next++]
        if (beat.topic === undefined) return this.#takeRest(beat)
        beat.audience = beat.topic.subscribers.values()
      } else if (subscriber.served >= beat.to || this.#behind.has(subscriber)) {
        effort += 1 / 16 // a look costs a fraction of a write
      } else {
        effort++
        if (!subscriber.serve(stamp, changed, beat.topic)) this.#behind.add(subscriber)
      }
    }
    setImmediate(() => this.#writeSlice(beat))
  }

  #takeRest(beat: Beat): void {
    this.#beat = 'resting'
    this.#servedUpTo = beat.to
    // However long writing takes, a third of the time is left for everything else.
    const took = this.#options.clock.now() - beat.beganAt
    this.#rest = setTimeout(
      () => {
        if (this.#beat !== 'resting') return
        this.#beat = 'idle'
        if (this.#moved.size > 0 || this.#changed.size > 0 || this.#behind.size > 0) this.#schedule()
      },
      Math.max(PUBLISH_INTERVAL_MS - took, took / 2),
    )
  }
}

/** One round of writing: the topics that moved after stamp `from` and up to `to`, in the order of their moves. */
interface Beat {
  readonly topics: readonly Topic<Subscriber>[]
  readonly from: number
  readonly to: number
  readonly beganAt: number
  /** The rest of the current audience: the subscribers of this topic, or those that the last beat could not serve. */
  audience: Iterator<Subscriber>
  topic: Topic<Subscriber> | undefined
  /** The topic whose subscribers come next. */
  next: number
}
