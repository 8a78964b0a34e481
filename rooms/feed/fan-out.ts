/**
 * Brings the prices of every match to whoever follows them, through either door. Matches are asked for their moves at most
 * every PUBLISH_INTERVAL_MS; each move is one shared frame; each subscriber gets one write for all he is due; and a few
 * hundred writes are one turn of the event loop, so that 20,000 subscribers hold up nothing else.
 */
import type { FixtureId, InstrumentId } from '../../actors/kernel/ids.ts'
import { PUBLISH_INTERVAL_MS } from '../../actors/kernel/limits.ts'
import type { World } from '../../actors/kernel/world.ts'
import { noTraffic, type Traffic } from '../stats.ts'
import { type Pack, PriceBoard, type PublishedPrice, type Since, type Topic } from './price-board.ts'
import { FLAG, flagged } from './price-frame.ts'
import type { Report } from '../report.ts'
import type { Subscriber } from './subscriber.ts'

/** Subscribers written to in one turn of the event loop: a write costs 5 to 10 µs. */
const SLICE = 256
/** Instruments one subscriber may follow. */
export const INSTRUMENTS_PER_SUBSCRIBER_MAX = 500

/** A match that publishes. */
export interface PriceSource {
  readonly matchId: FixtureId
  readonly epoch: number
  /** How all its prices stand. */
  currentPrices(): readonly PublishedPrice[]
  /** What moved since the last call. */
  takePrices(): readonly PublishedPrice[]
}

/** `not_found`: nobody publishes it. `limit`: he follows as many as he may. */
export type FollowRefusal = 'not_found' | 'limit'

export interface FanOutOptions {
  readonly world: Pick<World, 'now'>
  readonly report: Report
}

export class FanOut {
  /** What its followers have been written; they count it themselves. */
  readonly traffic: Traffic = noTraffic()
  readonly #options: FanOutOptions
  readonly #board = new PriceBoard<Subscriber>()
  /** Matches with moves to collect. */
  readonly #moved = new Set<PriceSource>()
  /** Topics with a price that some follower may not have been sent. */
  #changed = new Set<Topic<Subscriber>>()
  /** The stamp up to which everybody has been served who was ready. */
  #settled = 0
  /** Followers who were not ready when it was their turn, in this beat or since. */
  #behind = new Set<Subscriber>()
  /** Those of the last beat, until it is their turn again. */
  #late = new Set<Subscriber>()
  #beat: 'idle' | 'beating' | 'resting' | 'stopped' = 'idle'
  #rest: NodeJS.Timeout | undefined

  constructor(options: FanOutOptions) {
    this.#options = options
  }

  /** A match begins to publish. Who follows its players already is told how they stand. */
  open(source: PriceSource): void {
    for (const topic of this.#board.open(source.matchId, source.epoch, source.currentPrices())) this.#changed.add(topic)
    this.#schedule()
  }

  /** A match has moved: its prices will be taken soon, together with those of others. */
  moved(source: PriceSource): void {
    this.#moved.add(source)
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

  /** Whether anybody follows anything. */
  get isFollowed(): boolean {
    return this.#board.isFollowed
  }

  /** Whether somebody publishes this instrument: this match, when one is named. */
  publishes(id: InstrumentId, matchId?: FixtureId): boolean {
    // Whoever was listed a moment ago still waits for the next beat.
    if (this.#board.topic(id) === undefined) this.#collectAll()
    const price = this.#board.topic(id)?.price
    return price !== undefined && price !== null && (matchId === undefined || price.matchId === matchId)
  }

  /** From now on he gets the moves of this instrument, but not how it stands; null, or why not. */
  follow(subscriber: Subscriber, id: InstrumentId): FollowRefusal | null {
    const topic = this.#board.topic(id)
    if (topic === undefined) return 'not_found'
    if (topic.subscribers.has(subscriber)) return null
    if (subscriber.topics.length >= INSTRUMENTS_PER_SUBSCRIBER_MAX) return 'limit'
    subscriber.topics.push(topic)
    topic.subscribers.add(subscriber)
    return null
  }

  /** He has come back and follows what he followed: once he is ready he is sent how all of it stands. */
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

  /** Sends him what is due, ready or not. To be called before he follows more, so that nothing reaches him twice. */
  bringUpToDate(subscriber: Subscriber): void {
    subscriber.flush(this.#board.stamp)
  }

  /** Messages that say how these instruments stand; or, where all of it is remembered, the moves after `since` instead. */
  catchUp(ids: readonly InstrumentId[], pack: Pack, since?: Since): readonly Buffer[] {
    return ids.flatMap((id) => {
      const topic = this.#board.topic(id)
      if (topic === undefined || topic.price === null) return []
      const missed = since === undefined ? null : this.#board.missed(topic.price, since)
      if (missed === null) return [topic.snapshot(pack)]
      return missed.map((move) => pack(flagged(move.frame, FLAG.replay)))
    })
  }

  /** He is gone. */
  forget(subscriber: Subscriber): void {
    this.#behind.delete(subscriber)
    this.#late.delete(subscriber)
    for (const topic of subscriber.topics.splice(0)) this.#leave(subscriber, topic)
  }

  /** Publishes no more. */
  stop(): void {
    this.#beat = 'stopped'
    clearTimeout(this.#rest)
  }

  #leave(subscriber: Subscriber, topic: Topic<Subscriber>): void {
    topic.subscribers.delete(subscriber)
    this.#board.forget(topic)
  }

  #collectAll(): void {
    for (const source of this.#moved) this.#collect(source)
    this.#moved.clear()
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
    const beganAt = this.#options.world.now()
    this.#collectAll()
    const topics = [...this.#changed].toSorted((a, b) => a.stamp - b.stamp)
    this.#changed = new Set()
    this.#late = this.#behind
    this.#behind = new Set()
    const late = { audience: this.#late.values(), topic: undefined, next: 0 }
    this.#writeSlice({ topics, from: this.#settled, to: this.#board.stamp, beganAt, ...late })
  }

  /** Serves whom the last beat could not, and then the followers of one topic after the other: each once, the first time. */
  #writeSlice(beat: Beat): void {
    if (this.#beat === 'stopped') return
    // What has moved since the beat began is not among its topics; then everybody is asked about all he follows.
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
        effort += 1 / 16 // to look is a small part of a write
      } else {
        effort++
        if (!subscriber.serve(stamp, changed, beat.topic)) this.#behind.add(subscriber)
      }
    }
    setImmediate(() => this.#writeSlice(beat))
  }

  #takeRest(beat: Beat): void {
    this.#beat = 'resting'
    this.#settled = beat.to
    // A third of the time is left for everything else, however long the writing takes.
    const took = this.#options.world.now() - beat.beganAt
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

/** One round of writing: the topics that moved in stamps after `from`, up to `to`, in the order in which they did. */
interface Beat {
  readonly topics: readonly Topic<Subscriber>[]
  readonly from: number
  readonly to: number
  readonly beganAt: number
  /** Who is left of those whose turn it is: the followers of this topic, or whom the last beat could not serve. */
  audience: Iterator<Subscriber>
  topic: Topic<Subscriber> | undefined
  /** The topic whose followers come after them. */
  next: number
}
