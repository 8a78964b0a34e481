/** One visitor of the price feed: his requests, what he follows, his account, and whether he is still there. */
import type { Socket } from 'node:net'
import { WebSocket } from 'ws'
import type { UserId } from '../../actors/kernel/ids.ts'
import { type Instant, instant, SECOND_MS } from '../../actors/kernel/world.ts'
import type { AccountStream } from './account-stream.ts'
import type { FeedReply } from './feed-protocol.ts'
import type { Traffic } from '../stats.ts'
import { asMessage } from './price-frame.ts'
import { RequestRate } from '../sockets/request-rate.ts'
import { Subscriber } from './subscriber.ts'
import type { WriteDeadline } from '../sockets/write-deadline.ts'

/** Requests that wait for an earlier one of the same socket. */
export const REQUESTS_WAITING_MAX = 10
/** Names of instruments that nobody publishes: so many at once, and then one a second. */
export const LOOKUPS_MAX = 8

export interface FeedSocketOptions {
  readonly ws: WebSocket
  readonly socket: Socket
  readonly userId: UserId
  readonly deadline: WriteDeadline
  readonly traffic: Traffic
}

export class FeedSocket {
  readonly ws: WebSocket
  readonly userId: UserId
  readonly subscriber: Subscriber
  readonly rate = new RequestRate()
  /** Heard from since it was last asked. */
  alive = true
  /** Sweeper since it was last written to. */
  quietRounds = 0
  /** Sweeper in all. */
  rounds = 0
  /** Requests are answered in order, though some wait for a match to wake. */
  #queue: Promise<void> = Promise.resolve()
  #waiting = 0
  #listening: (() => void) | null = null
  #writtenThen = 0
  /** When it will have all its lookups again. */
  #lookupsWholeAt = instant(0)
  #accountAskedAt = instant(0)

  constructor({ ws, socket, userId, deadline, traffic }: FeedSocketOptions) {
    this.ws = ws
    this.userId = userId
    this.subscriber = new Subscriber({ ws, socket, deadline, traffic, pack: asMessage })
  }

  get isOpen(): boolean {
    return this.ws.readyState === WebSocket.OPEN
  }

  /** Does this after what was asked before it; false when too much waits already. The work must not reject. */
  inTurn(work: () => Promise<void> | void): boolean {
    if (this.#waiting >= REQUESTS_WAITING_MAX) return false
    this.#waiting++
    this.#queue = this.#queue.then(work).finally(() => this.#waiting--)
    return true
  }

  /** Counts one lookup; false when it is one too many for now. */
  mayLookUp(now: Instant): boolean {
    const wholeAt = Math.max(this.#lookupsWholeAt, now) + SECOND_MS
    if (wholeAt > now + LOOKUPS_MAX * SECOND_MS) return false
    this.#lookupsWholeAt = instant(wholeAt)
    return true
  }

  /** Whether the account may be asked for: once a second, since each time is a query. */
  mayAskForAccount(now: Instant): boolean {
    if (now < this.#accountAskedAt + SECOND_MS) return false
    this.#accountAskedAt = now
    return true
  }

  say(reply: FeedReply): void {
    this.quietRounds = 0
    if (this.isOpen) this.ws.send(JSON.stringify(reply))
  }

  /** Listens to the account from now on, and no longer as before. The first page answers the request `id`. */
  listen(account: AccountStream, since: number | null, id: number | undefined): void {
    this.stopListening()
    let answered = id
    const { userId, ws } = this
    this.#listening = account.listen(
      {
        userId,
        isReady: () => ws.bufferedAmount === 0,
        tell: ({ body }) => {
          this.say({ type: 'account', id: answered, ...body })
          answered = undefined
        },
        notify: (notice) => {
          if (this.isOpen) ws.send(JSON.stringify(notice))
        },
      },
      since,
    )
  }

  stopListening(): void {
    this.#listening?.()
    this.#listening = null
  }

  /** A round has passed; counts those in which nothing was written. */
  countRound(): void {
    this.rounds++
    this.quietRounds = this.subscriber.written === this.#writtenThen ? this.quietRounds + 1 : 0
    this.#writtenThen = this.subscriber.written
  }
}
