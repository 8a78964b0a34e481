/**
 * The prices of matches that other processes run, as frames ready to be sent: their owner tells each one once, and every
 * process brings it to its own subscribers. How a match stands is asked for when it is first followed, and again whenever
 * a number is missing or another owner speaks.
 */
import type { FixtureId, UserId } from '../../actors/kernel/ids.ts'
import { SECOND_MS } from '../../actors/kernel/world.ts'
import type { Bus, ProcessId } from './bus.ts'
import type { FanOut, PriceSource } from '../feed/fan-out.ts'
import type { Peers } from './peers.ts'
import type { PublishedPrice } from '../feed/price-board.ts'
import { decodePriceFrame, PRICE_FRAME_BYTES } from '../feed/price-frame.ts'
import type { Report } from '../report.ts'

/** What the others are told of the matches that run here. */
export interface Relay {
  prices(prices: readonly PublishedPrice[]): void
  /** Something was written into the logs of these users. */
  logAppended(users: Iterable<UserId>): void
  /** It runs here: said when it opens, and again and again, since nobody may count on messages. */
  opened(match: Incarnation): void
  closed(match: Incarnation): void
}

/** A match under one owner. */
export type Incarnation = Pick<PriceSource, 'matchId' | 'epoch'>

export interface RemotePricesOptions {
  readonly bus: Bus
  readonly peers: Peers
  readonly fanOut: FanOut
  /** Whether a match runs in this process; then its prices are here already. */
  readonly isHere: (matchId: FixtureId) => boolean
  readonly logAppended: (userId: UserId) => void
  readonly report: Report
}

const TOPIC = { prices: (matchId: FixtureId) => `prices:${matchId}`, matches: 'matches', accounts: 'accounts' } as const
const STANDING_MS = 2 * SECOND_MS

interface MatchNews extends Incarnation {
  readonly from: ProcessId
  readonly news: 'opened' | 'closed'
}

/** A match of this process, which others may ask how it stands. */
export interface StandingSource extends PriceSource {
  /** The number of the last move. */
  readonly seq: number
  /** Gives every move its number, so that `seq` says as of which move the prices stand. */
  numberMoves(): void
}

/** How a match stands, as it goes over the bus. */
interface Standing {
  readonly epoch: number
  readonly seq: number
  readonly frames: string
}

export class RemotePrices {
  readonly #options: RemotePricesOptions
  readonly #followed = new Map<FixtureId, RemoteMatch>()

  constructor(options: RemotePricesOptions) {
    this.#options = options
  }

  /** What the others are to be told. */
  get relay(): Relay {
    const { bus } = this.#options
    const tell = ({ matchId, epoch }: Incarnation, news: MatchNews['news']): void => {
      const message: MatchNews = { from: bus.processId, matchId, epoch, news }
      bus.tell(TOPIC.matches, Buffer.from(JSON.stringify(message)))
    }
    return {
      prices: (prices) => {
        const [first] = prices
        if (first !== undefined) bus.tell(TOPIC.prices(first.matchId), Buffer.concat(prices.map(({ frame }) => frame)))
      },
      logAppended: (users) => bus.tell(TOPIC.accounts, Buffer.from(JSON.stringify([...users]))),
      opened: (match) => tell(match, 'opened'),
      closed: (match) => tell(match, 'closed'),
    }
  }

  /** Listens to the others, and answers them how the matches of this process stand. */
  async open(sourceOf: (matchId: FixtureId) => StandingSource | undefined): Promise<void> {
    const { bus, peers, fanOut, logAppended } = this.#options
    peers.serve('standing', (matchId): Standing | undefined => {
      const source = sourceOf(matchId)
      if (source === undefined) return undefined
      // Or a move that waits for the next beat would be in the prices already, and be told once more.
      source.numberMoves()
      fanOut.moved(source)
      const frames = Buffer.concat(source.standingPrices().map(({ frame }) => frame)).toString('base64')
      return { epoch: source.epoch, seq: source.seq, frames }
    })
    await bus.hear(TOPIC.accounts, (message) => {
      for (const user of JSON.parse(message.toString()) as UserId[]) logAppended(user)
    })
    await bus.hear(TOPIC.matches, (message) => this.#onNews(JSON.parse(message.toString()) as MatchNews))
    bus.onGap(() => {
      for (const match of this.#followed.values()) void this.#renew(match)
    })
  }

  /** Sees to it that the prices of a match are here; false when no process runs it. Rejects with a fault. */
  async follow(matchId: FixtureId): Promise<boolean> {
    const known = this.#followed.get(matchId)
    if (known !== undefined) return known.standing
    const match = new RemoteMatch(matchId)
    this.#followed.set(matchId, match)
    try {
      await this.#options.bus.hear(TOPIC.prices(matchId), (message) => this.#onPrices(match, message))
      if (await this.#renew(match)) return true
    } catch (error) {
      await this.#forget(match)
      throw error
    }
    await this.#forget(match)
    return false
  }

  #onNews({ from, matchId, epoch, news }: MatchNews): void {
    const match = this.#followed.get(matchId)
    if (from === this.#options.bus.processId) {
      // It runs here now and publishes by itself.
      if (match !== undefined && news === 'opened') void this.#forget(match, { keepsPrices: true })
      return
    }
    if (news === 'closed') {
      // One that was overtaken lets go of a match that somebody else runs by now.
      if (match !== undefined && epoch >= match.newestEpoch) void this.#forget(match)
      return
    }
    if (match !== undefined && epoch < match.newestEpoch) return
    this.#options.peers.learn(matchId, from)
    if (match !== undefined) {
      if (epoch === match.newestEpoch && !match.isLost) return
      match.newestEpoch = epoch
      return void this.#renew(match)
    }
    // Who follows its players from the time before it was handed over has nobody else to ask for them.
    if (this.#options.fanOut.isFollowed) {
      this.follow(matchId).catch((error: unknown) => this.#options.report('price_follow_failed', error, { matchId }))
    }
  }

  #onPrices(match: RemoteMatch, message: Buffer): void {
    if (this.#followed.get(match.matchId) !== match || this.#options.isHere(match.matchId)) return
    match.arrive(pricesIn(message))
    if (match.isLost) void this.#renew(match)
    else this.#options.fanOut.moved(match)
  }

  /** Asks how a match stands, and takes it from there. False when nobody says. */
  #renew(match: RemoteMatch): Promise<boolean> {
    match.standing = this.#ask(match)
    return match.standing
  }

  async #ask(match: RemoteMatch): Promise<boolean> {
    const { peers, fanOut, isHere, report } = this.#options
    match.ask()
    const asked = await peers.ask(match.matchId, 'standing', null, STANDING_MS).catch((error: unknown) => {
      report('standing_prices_failed', error, { matchId: match.matchId })
      return null
    })
    if (asked?.kind !== 'answered' || isHere(match.matchId)) {
      match.lose()
      return false
    }
    const { epoch, seq, frames } = asked.answer as Standing
    // Whoever answers has been overtaken, and does not know it yet.
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
    await this.#options.bus.unhear(TOPIC.prices(match.matchId)).catch(() => undefined)
  }
}

/** One match that runs elsewhere, as far as its prices go. */
class RemoteMatch implements PriceSource {
  readonly matchId: FixtureId
  /** Whether somebody has said how it stands. */
  standing: Promise<boolean> = Promise.resolve(false)
  epoch = 0
  /** The newest epoch that was heard of. */
  newestEpoch = 0
  #state: 'asking' | 'lost' | 'following' = 'lost'
  #seq = 0
  #standingPrices: readonly PublishedPrice[] = []
  /** Arrived and not yet taken. */
  #arrived: PublishedPrice[] = []

  constructor(matchId: FixtureId) {
    this.matchId = matchId
  }

  /** Whether it must be asked how things stand. */
  get isLost(): boolean {
    return this.#state === 'lost'
  }

  /** Until there is an answer, what arrives is kept. */
  ask(): void {
    this.#state = 'asking'
  }

  /** There is no answer. */
  lose(): void {
    this.#state = 'lost'
    this.#arrived = []
  }

  begin({ epoch, seq, prices }: { epoch: number; seq: number; prices: readonly PublishedPrice[] }): void {
    this.epoch = epoch
    this.newestEpoch = epoch
    this.#seq = seq
    this.#standingPrices = prices
    this.#state = 'following'
    this.arrive(this.#arrived.splice(0))
  }

  arrive(prices: readonly PublishedPrice[]): void {
    if (this.#state === 'asking') {
      // Too many to keep: then some are missing, and it is asked again.
      if (this.#arrived.length + prices.length > ARRIVED_MAX) this.#arrived = []
      this.#arrived.push(...prices)
    }
    if (this.#state !== 'following') return
    for (const price of prices) {
      if (price.epoch < this.epoch || (price.epoch === this.epoch && price.seq <= this.#seq)) continue
      if (price.epoch > this.epoch || price.seq !== this.#seq + 1) return this.lose()
      this.#seq = price.seq
      this.#arrived.push(price)
    }
  }

  standingPrices(): readonly PublishedPrice[] {
    return this.#standingPrices
  }

  takePrices(): readonly PublishedPrice[] {
    return this.#state === 'following' ? this.#arrived.splice(0) : []
  }
}

/** Frames kept while a match is asked how it stands. */
const ARRIVED_MAX = 10_000

function pricesIn(message: Buffer): PublishedPrice[] {
  return Array.from({ length: Math.floor(message.length / PRICE_FRAME_BYTES) }, (_, n) => {
    const frame = message.subarray(n * PRICE_FRAME_BYTES, (n + 1) * PRICE_FRAME_BYTES)
    const decoded = decodePriceFrame(frame)
    if (decoded === null) return []
    const { fixtureId: matchId, instrumentId, epoch, seq } = decoded
    return [{ matchId, instrumentId, epoch, seq, frame }]
  }).flat()
}
