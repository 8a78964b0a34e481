/** The prices of one match that runs in another process, in the order of their sequence numbers and without a gap. */
import type { FixtureId } from '../../actors/kernel/ids.ts'
import type { PriceSource } from '../feed/fan-out.ts'
import { decodePriceFrame, PRICE_FRAME_BYTES, type PublishedPrice } from '../feed/price-frame.ts'

/** Frames kept while the current prices are requested. */
const WAITING_MAX = 10_000

export class RemoteMatch implements PriceSource {
  readonly matchId: FixtureId
  /** The last request for the current prices; resolves with whether it was answered. */
  renewed: Promise<boolean> = Promise.resolve(false)
  epoch = 0
  /** The newest epoch that this process has seen. */
  newestEpoch = 0
  #state: 'asking' | 'lost' | 'following' = 'lost'
  #seq = 0
  #currentPrices: readonly PublishedPrice[] = []
  /** Received and not yet taken. */
  #received: PublishedPrice[] = []

  constructor(matchId: FixtureId) {
    this.matchId = matchId
  }

  /** Whether the current prices must be requested. */
  get isLost(): boolean {
    return this.#state === 'lost'
  }

  /** The current prices have been requested; what arrives before the answer is kept. */
  ask(): void {
    this.#state = 'asking'
  }

  /** There was no answer, or a sequence number is missing. */
  lose(): void {
    this.#state = 'lost'
    this.#received = []
  }

  begin({ epoch, seq, prices }: { epoch: number; seq: number; prices: readonly PublishedPrice[] }): void {
    this.epoch = epoch
    this.newestEpoch = epoch
    this.#seq = seq
    this.#currentPrices = prices
    this.#state = 'following'
    this.receive(this.#received.splice(0))
  }

  receive(prices: readonly PublishedPrice[]): void {
    if (this.#state === 'asking') {
      // Beyond the limit all are dropped; the gap is then noticed, and the prices are requested again.
      if (this.#received.length + prices.length > WAITING_MAX) this.#received = []
      this.#received.push(...prices)
    }
    if (this.#state !== 'following') return
    for (const price of prices) {
      if (price.epoch < this.epoch || (price.epoch === this.epoch && price.seq <= this.#seq)) continue
      if (price.epoch > this.epoch || price.seq !== this.#seq + 1) return this.lose()
      this.#seq = price.seq
      this.#received.push(price)
    }
  }

  currentPrices(): readonly PublishedPrice[] {
    return this.#currentPrices
  }

  takePrices(): readonly PublishedPrice[] {
    return this.#state === 'following' ? this.#received.splice(0) : []
  }
}

/** The valid frames in these bytes. */
export function pricesIn(bytes: Buffer): PublishedPrice[] {
  return Array.from({ length: Math.floor(bytes.length / PRICE_FRAME_BYTES) }, (_, n) => {
    const frame = bytes.subarray(n * PRICE_FRAME_BYTES, (n + 1) * PRICE_FRAME_BYTES)
    const decoded = decodePriceFrame(frame)
    if (decoded === null) return []
    const { fixtureId: matchId, instrumentId, epoch, seq } = decoded
    return [{ matchId, instrumentId, epoch, seq, frame }]
  }).flat()
}
