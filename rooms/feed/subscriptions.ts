/** The subscriptions of one client, to prices and account events. Both endpoints use them. */
import { type FixtureId, type InstrumentId, instrumentId, type UserId } from '../../actors/kernel/ids.ts'
import { type Clock, instant, SECOND_MS } from '../../actors/kernel/world.ts'
import type { AccountListener, AccountStream } from './account-stream.ts'
import type { FanOut } from './fan-out.ts'
import type { FollowAccount, Rejection, Unfollow } from './feed-protocol.ts'
import type { CatchUp } from './history.ts'
import type { Since } from './price-frame.ts'
import type { Subscriber } from './subscriber.ts'

export interface SubscriptionsOptions {
  readonly subscriber: Subscriber
  readonly userId: UserId
  readonly fanOut: FanOut
  readonly account: AccountStream
  readonly clock: Clock
}

export interface FollowTerms {
  /** The newest frame the client has. */
  readonly since?: Since | undefined
  /** Only instruments of this match can be followed. */
  readonly matchId?: FixtureId
  /** Instruments to ask for again: their match could not be activated yet. */
  readonly busy?: ReadonlySet<InstrumentId>
}

export interface Followed {
  readonly instrumentIds: readonly InstrumentId[]
  readonly rejected: readonly Rejection[]
  /** To be sent next: the current prices, or the moves after `since`. */
  readonly catchUp: CatchUp
}

/** The instruments that a request names, in lower case and each once. */
export const instrumentsIn = ({ instrumentIds }: Unfollow): ReadonlySet<InstrumentId> =>
  new Set(instrumentIds.map((id) => instrumentId(id.toLowerCase())))

export class Subscriptions {
  readonly subscriber: Subscriber
  readonly #options: SubscriptionsOptions
  #stopAccount: (() => void) | null = null
  #accountRefusedUntil = instant(0)

  constructor(options: SubscriptionsOptions) {
    this.subscriber = options.subscriber
    this.#options = options
  }

  /** The instruments the client follows. */
  get instruments(): readonly InstrumentId[] {
    return this.subscriber.topics.map((topic) => topic.instrumentId)
  }

  /** Those of these instruments that no match publishes. New listings are collected first. */
  unpublished(ids: Iterable<InstrumentId>): readonly InstrumentId[] {
    const { fanOut } = this.#options
    const missing = [...ids].filter((id) => !fanOut.publishes(id))
    if (missing.length === 0) return missing
    fanOut.collect()
    return missing.filter((id) => !fanOut.publishes(id))
  }

  follow(ids: ReadonlySet<InstrumentId>, { since, matchId, busy }: FollowTerms): Followed {
    const { fanOut } = this.#options
    const instrumentIds: InstrumentId[] = []
    const rejected: Rejection[] = []
    this.unpublished(ids)
    // Due prices go out first, so that none is sent twice.
    fanOut.bringUpToDate(this.subscriber)
    for (const id of ids) {
      const refusal = fanOut.publishes(id, matchId) ? fanOut.follow(this.subscriber, id) : 'not_found'
      if (refusal === null) instrumentIds.push(id)
      else rejected.push({ instrumentId: id, code: busy?.has(id) === true ? 'busy' : refusal })
    }
    return { instrumentIds, rejected, catchUp: fanOut.catchUp(instrumentIds, this.subscriber.pack, since) }
  }

  unfollow(ids: ReadonlySet<InstrumentId>): void {
    this.#options.fanOut.unfollow(this.subscriber, ids)
  }

  /** Follows these instruments again after a reconnection. */
  resume(ids: readonly InstrumentId[]): void {
    this.#options.fanOut.resume(this.subscriber, ids)
  }

  /**
   * Sends account events from a marker on, instead of as before. False when the last request was less than a second
   * ago: each costs a query.
   */
  followAccount({ since }: FollowAccount, send: Pick<AccountListener, 'page' | 'notice'>): boolean {
    const { account, userId, clock } = this.#options
    if (clock.now() < this.#accountRefusedUntil) return false
    this.#accountRefusedUntil = instant(clock.now() + SECOND_MS)
    this.#stopAccount?.()
    const listener: AccountListener = { ...send, userId, isReady: () => this.subscriber.isReady }
    this.#stopAccount = account.listen(listener, since === undefined ? null : Number(since))
    return true
  }

  /** The client has disconnected. */
  end(): void {
    this.#stopAccount?.()
    this.#stopAccount = null
    this.#options.fanOut.forget(this.subscriber)
  }
}
