/** Somebody who follows prices, through whichever door he came: what he follows and how far he has been served. */
import type { Socket } from 'node:net'
import { WebSocket } from 'ws'
import type { Traffic } from '../stats.ts'
import type { Pack, Topic } from './price-board.ts'
import type { WriteDeadline } from '../sockets/write-deadline.ts'

export interface SubscriberOptions {
  readonly ws: WebSocket
  /** The connection under `ws`: prices are written past it, all that are due in one write. */
  readonly socket: Socket
  readonly deadline: WriteDeadline
  readonly pack: Pack
  /** Where he counts what he is written. */
  readonly traffic: Traffic
  /** Whether he may be sent anything yet; an SDK client may not before it has acknowledged its join. */
  readonly hasArrived?: () => boolean
}

/** Every topic that may have moved after stamp `from`: where they are fewer than what he follows, they are looked through. */
export interface Changed {
  readonly topics: readonly Topic<Subscriber>[]
  readonly from: number
}

/** Before every stamp: whatever he is sent next stands for all that came before. */
const NOTHING = -1

const byStamp = (a: Topic<Subscriber>, b: Topic<Subscriber>): number => a.stamp - b.stamp

/** A match moves most of its prices at once and always in the same order, so there is seldom anything to sort. */
const isInOrder = (topics: readonly Topic<Subscriber>[]): boolean =>
  topics.every(({ stamp }, n) => stamp >= (n === 0 ? 0 : (topics[n - 1]?.stamp ?? 0)))

/**
 * Between two writes to a subscriber come those to thousands of others, so that nothing of his is in the processor's caches:
 * what a write needs of him lies together in his own fields, and in as few objects besides as can be.
 */
export class Subscriber {
  /** What he follows, each once, in no order that means anything. */
  readonly topics: Topic<Subscriber>[] = []
  readonly pack: Pack
  readonly #ws: WebSocket
  readonly #socket: Socket
  readonly #deadline: WriteDeadline
  readonly #traffic: Traffic
  readonly #hasArrived: (() => boolean) | undefined
  /** The board's stamp up to which he has been served. */
  #served = NOTHING
  #written = 0

  constructor({ ws, socket, deadline, traffic, pack, hasArrived }: SubscriberOptions) {
    this.pack = pack
    this.#ws = ws
    this.#socket = socket
    this.#deadline = deadline
    this.#traffic = traffic
    this.#hasArrived = hasArrived
  }

  get served(): number {
    return this.#served
  }

  /** Counts the writes. */
  get written(): number {
    return this.#written
  }

  /** Whether the network has taken all he was sent, so that more may follow. */
  get isReady(): boolean {
    return this.#socket.writableLength === 0 && this.#isOpen && (this.#hasArrived === undefined || this.#hasArrived())
  }

  get #isOpen(): boolean {
    return this.#ws.readyState === WebSocket.OPEN
  }

  /** Writes messages in one go, one system call however many they are. To nobody once the socket is closing. */
  write(messages: readonly Buffer[]): void {
    if (messages.length > 0 && this.#isOpen) this.#send(Buffer.concat(messages), messages.length)
  }

  /**
   * Writes the newest price of every topic that moved since the last time, in the order in which they moved. False when
   * he is not ready: then the prices wait, and newer ones will take their place. `found` is a topic of his that moved:
   * when no other did, nothing else of his has to be looked at.
   */
  serve(stamp: number, changed?: Changed, found?: Topic<Subscriber>): boolean {
    if (!this.isReady) return false
    const isAll = found !== undefined && changed?.topics.length === 1 && this.#served >= changed.from
    if (!isAll) this.#sendDue(changed)
    else if (this.#isDue(found)) this.#send(this.#messageOf(found), 1)
    this.#served = stamp
    return true
  }

  /** The same, ready or not. To nobody once the socket is closing. */
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
    if (topic.hasMovedTwiceSince(this.#served)) this.#traffic.conflated++
    return topic.messageAfter(this.#served, this.pack)
  }

  /** All of them in one, in the order in which they moved. */
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
