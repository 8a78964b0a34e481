/** One subscriber of the price feed: what he follows, what he has been sent, and whether he is still there. */
import type { Socket } from 'node:net'
import { WebSocket } from 'ws'
import type { UserId } from '../actors/kernel/ids.ts'
import { type Instant, instant, SECOND_MS } from '../actors/kernel/world.ts'
import type { FeedReply } from './feed-protocol.ts'
import type { Topic } from './price-board.ts'
import type { WriteDeadline } from './write-deadline.ts'

const REQUESTS_PER_SECOND_MAX = 10

export class FeedSocket {
  readonly ws: WebSocket
  readonly userId: UserId
  readonly topics = new Set<Topic<FeedSocket>>()
  /** Requests are answered in order, though some wait for a match to wake. */
  queue: Promise<void> = Promise.resolve()
  /** Heard from since it was last asked. */
  alive = true
  /** Rounds since it was last written to. */
  quietRounds = 0
  /** Rounds in all. */
  rounds = 0
  readonly #socket: Socket
  readonly #deadline: WriteDeadline
  /** The board's stamp up to which it has been served. */
  #served: number
  #requests = 0
  #windowEnds = instant(0)

  constructor(options: {
    readonly ws: WebSocket
    readonly socket: Socket
    readonly userId: UserId
    readonly deadline: WriteDeadline
    readonly stamp: number
  }) {
    this.ws = options.ws
    this.userId = options.userId
    this.#socket = options.socket
    this.#deadline = options.deadline
    this.#served = options.stamp
  }

  get isOpen(): boolean {
    return this.ws.readyState === WebSocket.OPEN
  }

  /** Counts one request; false when it is one too many in this second. */
  mayAsk(now: Instant): boolean {
    if (now >= this.#windowEnds) {
      this.#windowEnds = instant(now + SECOND_MS)
      this.#requests = 0
    }
    return ++this.#requests <= REQUESTS_PER_SECOND_MAX
  }

  say(reply: FeedReply): void {
    this.quietRounds = 0
    if (this.isOpen) this.ws.send(JSON.stringify(reply))
  }

  /** Writes complete WebSocket messages, past `ws`, in one go: one system call however many they are. */
  write(messages: readonly Buffer[]): void {
    const [first] = messages
    if (first === undefined || !this.isOpen) return
    this.quietRounds = 0
    this.#socket.write(messages.length === 1 ? first : Buffer.concat(messages))
    this.#deadline.check(this.ws)
  }

  /**
   * Writes the newest price of every topic that moved since the last time, in the order in which they moved. False when
   * earlier bytes still wait for the network: then the prices wait too, and newer ones will take their place.
   */
  serve(stamp: number): boolean {
    if (this.#socket.writableLength > 0) return false
    const due = [...this.topics].filter((topic) => topic.stamp > this.#served && topic.price !== null)
    due.sort((a, b) => a.stamp - b.stamp)
    this.write(due.map((topic) => topic.messageAfter(this.#served)))
    this.#served = stamp
    return true
  }
}
