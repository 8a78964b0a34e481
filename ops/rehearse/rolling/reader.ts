/** A user who reads almost without pause and counts failed requests. */
import { setTimeout as pause } from 'node:timers/promises'
import type { SimulatedClient, Reply } from '../rig/simulated-client.ts'

/** A bit of everything: from memory, from the database, from the owner of a match; public and private. */
const PATHS = [
  '/api/instruments',
  '/api/matches',
  '/api/wallet',
  '/api/positions?status=open',
  '/api/account/changes',
  '/api/leaderboard/roi/global',
  '/api/auth/me',
] as const
const PAUSE_MS = 20

export class Reader {
  asked = 0
  /** Failed requests: no answer, or a status of 500 or above. */
  readonly failures: string[] = []
  readonly #client: SimulatedClient
  readonly #url: string
  #isOver = false
  #reading: Promise<void> = Promise.resolve()

  constructor(url: string, client: SimulatedClient) {
    this.#url = url
    this.#client = client
  }

  /** Starts reading. Quotes are asked for `instrumentId`. */
  start(instrumentId: string): void {
    this.#reading = this.#read(instrumentId)
  }

  async stop(): Promise<void> {
    this.#isOver = true
    await this.#reading
  }

  async #read(instrumentId: string): Promise<void> {
    const order = { instrumentId, direction: 'long', lotSize: 0.1 }
    while (!this.#isOver) {
      for (const path of PATHS) this.#count(path, await this.#client.ask(this.#url, 'GET', path))
      const path = '/api/positions/quote'
      this.#count(path, await this.#client.ask(this.#url, 'POST', path, order))
      await pause(PAUSE_MS)
    }
  }

  #count(path: string, reply: Reply): void {
    this.asked++
    if (reply === 'lost') this.failures.push(`${path} got no answer`)
    else if (reply.status >= 500) this.failures.push(`${path} ${reply.status} ${JSON.stringify(reply.body)}`)
  }
}
