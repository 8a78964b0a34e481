/** One receiver of prices, at either endpoint: the topics it follows, and how far it has been served. */
import type { Socket } from 'node:net'
import { WebSocket } from 'ws'
import type { Traffic } from '../stats.ts'
import type { CatchUp } from './history.ts'
import type { Topic } from './price-board.ts'
import type { Pack } from './price-frame.ts'
import type { WriteDeadline } from '../sockets/write-deadline.ts'

export interface SubscriberOptions {
  readonly ws: WebSocket
  /** The connection under `ws`. Prices bypass `ws`: all that are due go out in one write. */
  readonly socket: Socket
  readonly deadline: WriteDeadline
  readonly pack: Pack
  /** Where it counts what it was sent. */
  readonly traffic: Traffic
  /** Whether the client can receive messages yet: an SDK client cannot before it has acknowledged its join. */
  readonly hasJoined?: () => boolean
}

/** The topics that moved after stamp `from`. A subscriber looks through these if it follows more than there are. */
export interface Changed {
  readonly topics: readonly Topic<Subscriber>[]
  readonly from: number
}

/** Nothing served yet: the client has reconnected, and may have the current prices. */
const NOTHING = -1

const byStamp = (a: Topic<Subscriber>, b: Topic<Subscriber>): number => a.stamp - b.stamp

/** A match moves most of its prices together and in the same order, so sorting is seldom necessary. */
const isInOrder = (topics: readonly Topic<Subscriber>[]): boolean =>
  topics.every(({ stamp }, n) => stamp >= (n === 0 ? 0 : (topics[n - 1]?.stamp ?? 0)))

/**
 * Between two writes to one subscriber come thousands to others, so none of its data is in the processor's caches. What
 * a write needs is therefore in its own fields, and in as few other objects as possible.
 */
export class Subscriber {
  /** Each once, in no particular order. */
  readonly topics: Topic<Subscriber>[] = []
  readonly pack: Pack
  readonly #ws: WebSocket
  readonly #socket: Socket
  readonly #deadline: WriteDeadline
  readonly #traffic: Traffic
  readonly #hasJoined: (() => boolean) | undefined
  /** The board's stamp up to which it has been served. */
  #served = NOTHING
  #written = 0

  constructor({ ws, socket, deadline, traffic, pack, hasJoined }: SubscriberOptions) {
    this.pack = pack
    this.#ws = ws
    this.#socket = socket
    this.#deadline = deadline
    this.#traffic = traffic
    this.#hasJoined = hasJoined
  }

  get served(): number {
    return this.#served
  }

  /** The number of writes. */
  get written(): number {
    return this.#written
  }

  /** Whether the network has taken everything sent so far, so that more may follow. */
  get isReady(): boolean {
    return this.#socket.writableLength === 0 && this.#isOpen && (this.#hasJoined === undefined || this.#hasJoined())
  }

  get #isOpen(): boolean {
    return this.#ws.readyState === WebSocket.OPEN
  }

  /** Writes all of it with one system call; does nothing once the socket is closing. */
  write({ bytes, prices }: CatchUp): void {
    const [first] = bytes
    if (first !== undefined && this.#isOpen) this.#send(bytes.length === 1 ? first : Buffer.concat(bytes), prices)
  }

  /**
   * Writes the newest price of every topic that moved since the last time, in the order of the moves. False if the
   * subscriber is not ready: then the prices wait, and newer ones replace them. `found` is one of its topics that
   * moved: if it is the only topic that moved, the others need no look.
   */
  serve(stamp: number, changed?: Changed, found?: Topic<Subscriber>): boolean {
    if (!this.isReady) return false
    const isAll = found !== undefined && changed?.topics.length === 1 && this.#served >= changed.from
    if (!isAll) this.#sendDue(changed)
    else if (this.#isDue(found)) this.#send(this.#messageOf(found), 1)
    this.#served = stamp
    return true
  }

  /** The same, ready or not; writes nothing once the socket is closing. */
  flush(stamp: number): void {
    if (this.#isOpen) this.#sendDue()
    this.#served = stamp
  }

  #sendDue(changed?: Changed): void {
    const isAll = changed === undefined || this.#served < changed.from || changed.topics.length >= this.topics.length
    const candidates = isAll ? this.topics : changed.topics
    let first: Topic<Subscriber> | undefined
    let due: Topic<Subscriber>[] | undefined
    for (const topic of candidates) {
      if (!this.#isDue(topic) || !(isAll || topic.subscribers.has(this))) continue
      if (first === undefined) first = topic
      else if (due === undefined) due = [first, topic]
      else due.push(topic)
    }
    if (due !== undefined) this.#send(this.#joined(due), due.length)
    else if (first !== undefined) this.#send(this.#messageOf(first), 1)
  }

  #isDue(topic: Topic<Subscriber>): boolean {
    return topic.stamp > this.#served && topic.price !== null
  }

  #messageOf(topic: Topic<Subscriber>): Buffer {
    if (this.#served === NOTHING) return topic.snapshot(this.pack)
    if (topic.hasMovedTwiceSince(this.#served)) this.#traffic.conflated++
    return topic.messageAfter(this.#served, this.pack)
  }

  /** One message with all of them, in the order of the moves. */
  #joined(due: Topic<Subscriber>[]): Buffer {
    const ordered = isInOrder(due) ? due : due.toSorted(byStamp)
    return Buffer.concat(ordered.map((topic) => this.#messageOf(topic)))
  }

  #send(bytes: Buffer, prices: number): void {
    this.#written++
    this.#traffic.writes++
    this.#traffic.prices += prices
    this.#socket.write(bytes)
    if (this.#socket.writableLength > 0) this.#deadline.check(this.#ws)
  }
}
