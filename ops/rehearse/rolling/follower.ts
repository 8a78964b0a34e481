/** A user with the page's own feed client, who follows prices and counts missing moves. */
import { z } from 'zod'
import { Feed, type FeedState } from '../../../src/web/client/feed.ts'
import type { InstrumentSeen, SimulatedClient } from '../rig/simulated-client.ts'
import { PriceWatch } from '../rig/price-watch.ts'

const Token = z.looseObject({ token: z.string(), wsUrl: z.string() })

export interface Followed {
  readonly instrumentId: string
  readonly fixtureId: number
}

export class Follower {
  frames = 0
  /** How often the connection ended. */
  breaks = 0
  readonly #watch = new PriceWatch()
  readonly #epochs = new Set<number>()
  readonly #feed: Feed
  #state: FeedState = 'stopped'

  constructor(url: string, client: SimulatedClient) {
    this.#feed = new Feed({
      token: async () => {
        const reply = await client.ask(url, 'POST', '/api/ws/token')
        return Token.parse(reply === 'lost' ? null : reply.body)
      },
      onPrice: (frame) => {
        this.frames++
        this.#epochs.add(frame.epoch)
        this.#watch.see({ ...frame, previous: frame.previousPrice })
      },
      onAccount: () => undefined,
      onNotice: () => undefined,
      onState: (state) => {
        if (state === 'waiting') this.breaks++
        this.#state = state
      },
      onServerTime: () => undefined,
    })
  }

  /** Moves missing between two frames, over all connections. */
  get gaps(): number {
    return this.#watch.gaps
  }

  /** The last of them; empty if there is none. */
  get lastGap(): string {
    return this.#watch.lastGap
  }

  /** Owners whose frames arrived. */
  get epochs(): number {
    return this.#epochs.size
  }

  sees({ id, currentPrice }: Pick<InstrumentSeen, 'id' | 'currentPrice'>): boolean {
    return this.#watch.priceOf(id) === currentPrice
  }

  get isConnected(): boolean {
    return this.#state === 'live'
  }

  follow(instruments: readonly Followed[]): void {
    this.#feed.start()
    this.#feed.follow(instruments)
  }

  stop(): void {
    this.#feed.stop()
  }
}
