/** Somebody who follows prices, through whichever door he came: what he follows and how far he has been served. */
import type { Socket } from 'node:net'
import { WebSocket } from 'ws'
import type { Traffic } from './figures.ts'
import type { Pack, Topic } from './price-board.ts'
import type { WriteDeadline } from './write-deadline.ts'

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

export class Subscriber {
  readonly topics = new Set<Topic<Subscriber>>()
  readonly #options: SubscriberOptions
  /** The board's stamp up to which he has been served. */
  #served = NOTHING
  #written = 0

  constructor(options: SubscriberOptions) {
    this.#options = options
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
    const { ws, socket, hasArrived } = this.#options
    return socket.writableLength === 0 && ws.readyState === WebSocket.OPEN && (hasArrived === undefined || hasArrived())
  }

  /** Writes frames in one go, one system call however many they are. To nobody once the socket is closing. */
  write(frames: readonly Buffer[]): void {
    if (frames.length > 0) this.#send(Buffer.concat(frames.map(this.#options.pack)), frames.length)
  }

  /**
   * Writes the newest price of every topic that moved since the last time, in the order in which they moved. False when
   * he is not ready: then the prices wait, and newer ones will take their place.
   */
  serve(stamp: number, changed?: Changed): boolean {
    if (!this.isReady) return false
    this.flush(stamp, changed)
    return true
  }

  /** The same, ready or not. */
  flush(stamp: number, changed?: Changed): void {
    const due = this.#dueAmong(changed)
    const { pack, traffic } = this.#options
    for (const topic of due) if (topic.hasMovedTwiceSince(this.#served)) traffic.conflated++
    const messages = due.map((topic) => topic.messageAfter(this.#served, pack))
    const [only] = messages
    if (only !== undefined) this.#send(messages.length === 1 ? only : Buffer.concat(messages), due.length)
    this.#served = stamp
  }

  #dueAmong(changed: Changed | undefined): Topic<Subscriber>[] {
    const due: Topic<Subscriber>[] = []
    if (changed !== undefined && this.#served >= changed.from && changed.topics.length < this.topics.size) {
      for (const topic of changed.topics) if (this.#isDue(topic) && this.topics.has(topic)) due.push(topic)
    } else {
      for (const topic of this.topics) if (this.#isDue(topic)) due.push(topic)
    }
    return due.length > 1 ? due.toSorted((a, b) => a.stamp - b.stamp) : due
  }

  #isDue(topic: Topic<Subscriber>): boolean {
    return topic.stamp > this.#served && topic.price !== null
  }

  #send(bytes: Buffer, prices: number): void {
    const { ws, socket, deadline, traffic } = this.#options
    if (ws.readyState !== WebSocket.OPEN) return
    this.#written++
    traffic.writes++
    traffic.prices += prices
    socket.write(bytes)
    if (socket.writableLength > 0) deadline.check(ws)
  }
}
