/** One socket of the price feed: its queue of requests, its subscriptions, and whether its client still answers. */
import { WebSocket } from 'ws'
import { type Instant, instant, SECOND_MS } from '../../actors/kernel/world.ts'
import type { Visitor } from '../sockets/admission.ts'
import { RequestRate } from '../sockets/request-rate.ts'
import type { FeedReply } from './feed-protocol.ts'
import type { Subscriptions } from './subscriptions.ts'

/** Requests that wait for an earlier one of the same socket. */
export const REQUESTS_WAITING_MAX = 10
/** Lookups of unpublished instruments: this many at once, then one a second. */
export const LOOKUPS_MAX = 8

export interface FeedSocketOptions {
  readonly ws: WebSocket
  readonly visitor: Visitor
  readonly subscriptions: Subscriptions
}

export class FeedSocket {
  readonly ws: WebSocket
  readonly visitor: Visitor
  readonly subscriptions: Subscriptions
  readonly rate = new RequestRate()
  /** The client has sent something since the last ping. */
  alive = true
  /** Sweeps since the last write to it. */
  quietSweeps = 0
  sweeps = 0
  /** Requests are answered in order, even when one waits for a match to be activated. */
  #queue: Promise<void> = Promise.resolve()
  #waiting = 0
  #writtenBefore = 0
  /** When all its lookups are available again. */
  #lookupsRestoredAt = instant(0)

  constructor({ ws, visitor, subscriptions }: FeedSocketOptions) {
    this.ws = ws
    this.visitor = visitor
    this.subscriptions = subscriptions
  }

  get isOpen(): boolean {
    return this.ws.readyState === WebSocket.OPEN
  }

  /** Runs `answer` after all earlier requests; false when too many wait already. `answer` must not reject. */
  inTurn(answer: () => Promise<void> | void): boolean {
    if (this.#waiting >= REQUESTS_WAITING_MAX) return false
    this.#waiting++
    this.#queue = this.#queue.then(answer).finally(() => this.#waiting--)
    return true
  }

  /** Uses up one lookup; false when none is left. */
  mayLookUp(now: Instant): boolean {
    const restoredAt = Math.max(this.#lookupsRestoredAt, now) + SECOND_MS
    if (restoredAt > now + LOOKUPS_MAX * SECOND_MS) return false
    this.#lookupsRestoredAt = instant(restoredAt)
    return true
  }

  send(reply: FeedReply): void {
    this.quietSweeps = 0
    if (this.isOpen) this.ws.send(JSON.stringify(reply))
  }

  /** A notice is no reason to put off a heartbeat. */
  sendNotice(notice: object): void {
    if (this.isOpen) this.ws.send(JSON.stringify(notice))
  }

  countSweep(): void {
    const { written } = this.subscriptions.subscriber
    this.sweeps++
    this.quietSweeps = written === this.#writtenBefore ? this.quietSweeps + 1 : 0
    this.#writtenBefore = written
  }
}
