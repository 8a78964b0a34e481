/**
 * The prices of matches that run in other processes, as frames ready to be sent. The owner publishes each frame once,
 * and every process sends it to its own subscribers. The current prices of a match are requested when it is first
 * followed, and again whenever a sequence number is missing or the owner changes.
 */
import type { FixtureId, UserId } from '../../actors/kernel/ids.ts'
import { SECOND_MS } from '../../actors/kernel/world.ts'
import type { FanOut, PriceSource } from '../feed/fan-out.ts'
import type { PublishedPrice } from '../feed/price-frame.ts'
import type { Report } from '../report.ts'
import type { Peers } from './peers.ts'
import { type ClusterBus, type CurrentPrices, type MatchNews, priceTopic } from './protocol.ts'
import { pricesIn, RemoteMatch } from './remote-match.ts'

export interface RemotePricesOptions {
  readonly bus: ClusterBus
  readonly peers: Peers
  readonly fanOut: FanOut
  /** The matches of this process, which then has their prices anyway. */
  readonly hosted: Pick<ReadonlyMap<FixtureId, Hosted>, 'get'>
  readonly logAppended: (userId: UserId) => void
  readonly report: Report
}

/** For the owner to answer with the current prices of a match. */
const PRICES_MS = 2 * SECOND_MS

/** A match under one owner. */
type Incarnation = Pick<PriceSource, 'matchId' | 'epoch'>

/** A match that runs in this process. */
export interface Hosted {
  readonly source: OwnSource
  /** Set once it is being retired. */
  readonly leaving: Promise<void> | null
  /** Resolves when everything is released. */
  readonly closed: Promise<void>
  retire(): Promise<void>
}

/** A match of this process, whose current prices other processes may request. */
export interface OwnSource extends PriceSource {
  /** The number of the last collected move. */
  readonly seq: number
}

export class RemotePrices {
  readonly #options: RemotePricesOptions
  readonly #followed = new Map<FixtureId, RemoteMatch>()
  /** Publishes to the other processes what happens in the matches of this one. */
  readonly relay = {
    prices: (prices: readonly PublishedPrice[]): void => {
      const [first] = prices
      if (first === undefined) return
      this.#options.bus.publishBytes(priceTopic(first.matchId), Buffer.concat(prices.map(({ frame }) => frame)))
    },
    logAppended: (users: Iterable<UserId>): void => this.#options.bus.publish('accounts', [...users]),
    opened: (match: Incarnation): void => this.#publish(match, 'opened'),
    closed: (match: Incarnation): void => this.#publish(match, 'closed'),
  }

  constructor(options: RemotePricesOptions) {
    this.#options = options
  }

  /** Subscribes to the other processes, and answers their requests for the current prices of matches that run here. */
  async open(): Promise<void> {
    const { bus, peers, fanOut, hosted, logAppended } = this.#options
    peers.serve('prices', ({ matchId }): CurrentPrices | undefined => {
      const source = hosted.get(matchId)?.source
      if (source === undefined || !this.#isHere(matchId)) return undefined
      // Otherwise a move that waits for the next beat would be in the current prices and be published again after them.
      fanOut.collect(source)
      const frames = Buffer.concat(source.currentPrices().map(({ frame }) => frame)).toString('base64')
      return { epoch: source.epoch, seq: source.seq, frames }
    })
    await bus.subscribe('accounts', (users) => {
      for (const user of users) logAppended(user)
    })
    await bus.subscribe('matches', (news) => this.#onNews(news))
    bus.onGap(() => {
      for (const match of this.#followed.values()) void this.#renew(match)
    })
  }

  /** Makes the prices of a match available here; false when no process runs it. Rejects with a fault. */
  async follow(matchId: FixtureId): Promise<boolean> {
    const known = this.#followed.get(matchId)
    if (known !== undefined) return known.renewed
    const match = new RemoteMatch(matchId)
    this.#followed.set(matchId, match)
    try {
      await this.#options.bus.subscribeBytes(priceTopic(matchId), (bytes) => this.#onPrices(match, bytes))
      if (await this.#renew(match)) return true
    } catch (error) {
      await this.#forget(match)
      throw error
    }
    await this.#forget(match)
    return false
  }

  #publish({ matchId, epoch }: Incarnation, news: MatchNews['news']): void {
    const { bus } = this.#options
    bus.publish('matches', { from: bus.processId, matchId, epoch, news })
  }

  #onNews(said: MatchNews): void {
    const { from, matchId, epoch, news } = said
    const match = this.#followed.get(matchId)
    if (from === this.#options.bus.processId) {
      // It runs in this process now, which publishes its prices itself.
      if (match !== undefined && news === 'opened') void this.#forget(match, { keepsPrices: true })
      return
    }
    if (news === 'closed') {
      // A former owner may close late, when another process already runs the match.
      // Its news may be slower than a lease, so that this process runs the match by now.
      const keepsPrices = this.#isHere(matchId)
      if (match !== undefined && epoch >= match.newestEpoch) void this.#forget(match, { keepsPrices })
      return
    }
    const own = this.#options.hosted.get(matchId)
    if (own !== undefined) {
      // Without the database this process does not learn that its lease has run out, and would show standing prices.
      if (epoch <= own.source.epoch) return
      void own.retire()
      return void own.closed.then(() => this.#onNews(said))
    }
    if (match !== undefined && epoch < match.newestEpoch) return
    this.#options.peers.learn(matchId, from)
    if (match !== undefined) {
      if (epoch === match.newestEpoch && !match.isLost) return
      match.newestEpoch = epoch
      return void this.#renew(match)
    }
    // Subscribers that followed its players before a handover have no other source.
    if (this.#options.fanOut.isFollowed) {
      this.follow(matchId).catch((error: unknown) => this.#options.report('price_follow_failed', error, { matchId }))
    }
  }

  #onPrices(match: RemoteMatch, bytes: Buffer): void {
    if (this.#followed.get(match.matchId) !== match || this.#isHere(match.matchId)) return
    match.receive(pricesIn(bytes))
    if (match.isLost) void this.#renew(match)
    else this.#options.fanOut.moved(match)
  }

  #isHere(matchId: FixtureId): boolean {
    return this.#options.hosted.get(matchId)?.leaving === null
  }

  /** Requests the current prices and continues from them. False when there is no answer. */
  #renew(match: RemoteMatch): Promise<boolean> {
    match.renewed = this.#request(match)
    return match.renewed
  }

  async #request(match: RemoteMatch): Promise<boolean> {
    const { peers, fanOut, report } = this.#options
    const { matchId, newestEpoch } = match
    match.ask()
    const asked = await peers.ask('prices', { matchId }, PRICES_MS).catch((error: unknown) => {
      report('current_prices_failed', error, { matchId })
      return null
    })
    const isHere = this.#isHere(matchId)
    if (asked?.kind !== 'answered' || isHere) {
      match.lose()
      // The news of its end was lost, and no other will come, unless it has been opened again meanwhile.
      const isOver = (asked?.kind === 'settled' || asked?.kind === 'unknown') && match.newestEpoch === newestEpoch
      if (isOver && !isHere) void this.#forget(match)
      return false
    }
    const { epoch, seq, frames } = asked.answer
    // A former owner answered, which has not yet noticed that it lost the match.
    if (epoch < match.newestEpoch) {
      match.lose()
      return false
    }
    match.begin({ epoch, seq, prices: pricesIn(Buffer.from(frames, 'base64')) })
    fanOut.open(match)
    fanOut.moved(match)
    return true
  }

  async #forget(match: RemoteMatch, { keepsPrices = false } = {}): Promise<void> {
    if (this.#followed.get(match.matchId) !== match) return
    this.#followed.delete(match.matchId)
    if (!keepsPrices) this.#options.fanOut.close(match)
    await this.#options.bus.unsubscribe(priceTopic(match.matchId)).catch(() => undefined)
  }
}
