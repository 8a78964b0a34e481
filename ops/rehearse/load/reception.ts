/** What one connection of a simulated user receives, at the price feed or in a match room: counted, and checked. */
import { z } from 'zod'
import { decodePriceFrame, FLAG } from '../../../rooms/feed/price-frame.ts'
import { PriceWatch } from '../rig/price-watch.ts'
import type { LoadTally } from './tally.ts'

/** One of a user's connections. */
export interface Watcher {
  /** The newest price of each instrument, in micros. */
  readonly prices: ReadonlyMap<string, number>
  /** Connected, and a first message received. */
  readonly isHere: boolean
  /** Connects or reconnects: resolves when the first price is there. Failures are counted; it resolves in any case. */
  connect(): Promise<void>
  /** Breaks the connection; `connect` follows. */
  drop(): void
  /** Breaks it for ever. */
  end(): void
}

export const Ticket = z.looseObject({ token: z.string(), wsUrl: z.string() })
/** Until a connection that is asked for has its first price. */
export const CONNECT_MS = 15_000

const Account = z.looseObject({
  marker: z.coerce.number(),
  snapshot: z.boolean(),
  events: z.array(z.looseObject({ marker: z.coerce.number() })),
})

export class Reception {
  readonly prices = new Map<string, number>()
  readonly #tally: LoadTally
  readonly #watch = new PriceWatch()
  #marker: number | null = null
  /** Since the return to a seat no price of these has come. */
  #returned = new Set<string>()

  constructor(tally: LoadTally) {
    this.#tally = tally
  }

  /** What to resume a match's prices from; undefined before the first. */
  since(fixture: number): { readonly epoch: number; readonly seq: number } | undefined {
    return this.#watch.since(fixture)
  }

  /** The last account event, to resume from; undefined before the first answer. */
  get marker(): string | undefined {
    return this.#marker === null ? undefined : String(this.#marker)
  }

  /** The connection is back in its seat, where all that it followed is sent again: the newest prices, as conflated. */
  resume(): void {
    this.#returned = new Set(this.prices.keys())
  }

  /** Takes the bytes of a price frame. */
  seePrice(data: Uint8Array): void {
    const tally = this.#tally
    tally.counts.prices++
    const frame = decodePriceFrame(data)
    if (frame === null) return void tally.counts.damaged++
    const isAgain = this.#returned.delete(frame.instrumentId)
    const isNew = !isAgain && (frame.flags & (FLAG.snapshot | FLAG.replay)) === 0
    if (isNew) tally.durations.tick.record(Date.now() - frame.at)
    const before = this.#watch.gaps
    const isCurrent = isAgain && (frame.flags & FLAG.conflated) !== 0
    this.#watch.see(isCurrent ? { ...frame, flags: frame.flags | FLAG.snapshot } : frame)
    if (this.#watch.gaps > before) tally.miss('gaps', this.#watch.lastGap)
    this.prices.set(frame.instrumentId, frame.price)
  }

  /** Takes a page of account events. Throws if it is none. */
  seeAccount(page: unknown): void {
    const { snapshot, events, marker } = Account.parse(page)
    for (const event of snapshot ? [] : events) {
      this.#tally.counts.accountEvents++
      if (this.#marker !== null && event.marker !== this.#marker + 1) {
        this.#tally.miss('accountGaps', `account event ${event.marker} after ${this.#marker}`)
      }
      this.#marker = event.marker
    }
    this.#marker = marker
  }
}
