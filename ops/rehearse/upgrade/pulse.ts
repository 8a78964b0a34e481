/** How long no command was carried out: one client asks all the time for something that the rules always refuse. */
import { performance } from 'node:perf_hooks'
import { setTimeout as pause } from 'node:timers/promises'
import { present } from '../../../actors/kernel/assert.ts'
import { Instruments, type SimulatedClient } from '../rig/simulated-client.ts'

const EVERY_MS = 20

export class Pulse {
  readonly #client: SimulatedClient
  readonly #url: string
  #last = performance.now()
  #longest = 0
  #isOver = false
  #beating: Promise<void> = Promise.resolve()

  constructor(url: string, client: SimulatedClient) {
    this.#url = url
    this.#client = client
  }

  async start(): Promise<void> {
    const { instruments } = await this.#client.read(this.#url, '/api/instruments', Instruments)
    const { id, currentPrice } = present(instruments[0], 'an instrument')
    this.#last = performance.now()
    this.#beating = this.#beat({ instrumentId: id, direction: 'long', lotSize: 0, clientPrice: currentPrice })
  }

  /** The longest time without a command since the last call, in milliseconds. */
  takeLongest(): number {
    const longest = Math.max(this.#longest, performance.now() - this.#last)
    this.#longest = 0
    return longest
  }

  async stop(): Promise<void> {
    this.#isOver = true
    await this.#beating
  }

  async #beat(order: object): Promise<void> {
    while (!this.#isOver) {
      const reply = await this.#client.ask(this.#url, 'POST', '/api/positions/open', order)
      if (reply !== 'lost' && reply.status < 500) {
        this.#longest = Math.max(this.#longest, performance.now() - this.#last)
        this.#last = performance.now()
      }
      await pause(EVERY_MS)
    }
  }
}
