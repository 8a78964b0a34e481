/**
 * How long no order was carried out. Several times a second a user orders, under a new key, what the rules always
 * refuse. The refusal is stored, so its answer is also a commit. An order that waits does not hold up the next.
 */
import { performance } from 'node:perf_hooks'
import { setTimeout as pause } from 'node:timers/promises'
import { present } from '../../../actors/kernel/assert.ts'
import { Failure, Instruments, type InstrumentSeen, type SimulatedClient } from '../rig/simulated-client.ts'

const EVERY_MS = 200

export class Pauses {
  readonly #client: SimulatedClient
  #last = 0
  #longest = 0
  #sent = 0
  #isOver = false
  #running: Promise<void> = Promise.resolve()

  constructor(client: SimulatedClient) {
    this.#client = client
  }

  async start(url: string): Promise<void> {
    const { instruments } = await this.#client.read(url, '/api/instruments', Instruments)
    this.#isOver = false
    this.restart()
    this.#running = this.#send(url, instruments)
  }

  restart(): void {
    this.#last = performance.now()
    this.#longest = 0
  }

  /** When the last order was carried out, or `restart` was called, by `performance.now`. */
  get last(): number {
    return this.#last
  }

  /** The longest time without an order that was carried out since the restart, the present one included, in ms. */
  get longest(): number {
    return Math.max(this.#longest, performance.now() - this.#last)
  }

  /** Resolves when the last order is answered or given up. */
  async stop(): Promise<void> {
    this.#isOver = true
    await this.#running
  }

  /** Players in turn, because one of them may be suspended. */
  async #send(url: string, instruments: readonly InstrumentSeen[]): Promise<void> {
    const waiting = new Set<Promise<void>>()
    while (!this.#isOver) {
      const instrument = present(instruments[this.#sent++ % instruments.length], 'an instrument')
      const order = this.#order(url, instrument).finally(() => waiting.delete(order))
      waiting.add(order)
      await pause(EVERY_MS)
    }
    await Promise.all(waiting)
  }

  async #order(url: string, { id, currentPrice }: InstrumentSeen): Promise<void> {
    const order = { instrumentId: id, direction: 'long', lotSize: 0, clientPrice: currentPrice }
    const reply = await this.#client.ask(url, 'POST', '/api/positions/open', order, `pause ${performance.now()}`)
    if (reply === 'lost' || reply.status >= 500) return
    // Refused for the moment, without a commit.
    if (Failure.safeParse(reply.body).data?.code === 'MARKET_SUSPENDED') return
    this.#longest = this.longest
    this.#last = performance.now()
  }
}
