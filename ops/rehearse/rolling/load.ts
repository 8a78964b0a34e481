/** The load of a cluster behind a proxy: users who trade, some who also read, and sockets that follow every price. */
import { performance } from 'node:perf_hooks'
import { setTimeout as pause } from 'node:timers/promises'
import { z } from 'zod'
import { present } from '../../../actors/kernel/assert.ts'
import { demand } from '../rig/account.ts'
import { checkConsistency, gather, waitForTrading } from '../rig/consistency.ts'
import { Instruments, SimulatedClient } from '../rig/simulated-client.ts'
import { SimulatedTrader } from '../rig/simulated-trader.ts'
import { startTrading, type TradingLoad } from '../rig/trading-load.ts'
import { TradingTally } from '../rig/trading-tally.ts'
import { until } from '../rig/until.ts'
import { areUpToDate } from '../rig/watcher.ts'
import type { Cluster, Name } from './cluster.ts'
import { type Followed, Follower } from './follower.ts'
import { Reader } from './reader.ts'

const READERS = 3
const LOOK_MS = 200
const LOOKS_MAX = 20
/** Before and after each restart. */
const CALM_MS = 2_000
const STOP_MS = 10_000
/** Sockets are asked to reconnect within five seconds. */
const BACK_MS = 15_000

const Listing = Instruments.extend({
  instruments: z.array(z.looseObject({ id: z.string(), fixtureId: z.int() })),
})
const sum = (numbers: readonly number[]): number => numbers.reduce((total, each) => total + each, 0)
export const seconds = (ms: number): string => `${(ms / 1_000).toFixed(1)} s`

export class ClusterLoad {
  readonly tally = new TradingTally()
  readonly traders: readonly SimulatedTrader[]
  readonly admin: SimulatedClient
  readonly #readers: Reader[] = []
  readonly #followers: Follower[] = []
  readonly #sockets: number
  #followed: readonly Followed[] = []
  #trading: TradingLoad | null = null

  /** Users are named `name` 1, 2 and so on; `name` Auditor must be an admin. */
  constructor(options: { readonly name: string; readonly users: number; readonly sockets: number; seed: number }) {
    const { name, users, sockets, seed } = options
    this.traders = SimulatedTrader.crowd(name, users, seed, this.tally)
    this.admin = new SimulatedClient(`${name} Auditor`)
    this.#sockets = sockets
  }

  /** Requests so far, and how many of them failed: no answer, or a status of 500 or above. */
  get asked(): number {
    return this.tally.sent + sum(this.#readers.map((reader) => reader.asked))
  }

  get failed(): number {
    return this.tally.failed + this.failures.length
  }

  /** The failed requests of those who read. */
  get failures(): readonly string[] {
    return this.#readers.flatMap((reader) => reader.failures)
  }

  /** How often a socket ended so far. */
  get breaks(): number {
    return sum(this.#followers.map(({ breaks }) => breaks))
  }

  async start(url: string): Promise<void> {
    const { admin, traders } = this
    await gather(url, admin, traders)
    const { instruments } = await admin.read(url, '/api/instruments', Listing)
    const followed = instruments.map(({ id, fixtureId }) => ({ instrumentId: id, fixtureId }))
    this.#followed = followed
    for (let n = 0; n < this.#sockets; n++) {
      const follower = new Follower(url, present(traders[n % traders.length], 'a trader').client)
      this.#followers.push(follower)
      follower.follow(followed)
    }
    for (const { client } of traders.slice(0, READERS)) {
      const reader = new Reader(url, client)
      this.#readers.push(reader)
      reader.start(present(followed[0], 'an instrument').instrumentId)
    }
    this.#trading = startTrading(url, traders, admin)
  }

  /** Throws a Violation when a socket has not come back in time. */
  async socketsAreBack(withinMs = BACK_MS): Promise<void> {
    await until(withinMs, LOOK_MS, async () => {
      const away = this.#followers.filter(({ isConnected }) => !isConnected).length
      return away === 0 ? null : `${away} of ${this.#sockets} sockets have not reconnected`
    })
  }

  /** Stops a process and starts it again. A line about it; throws a Violation when it does not end in order. */
  async restart(cluster: Cluster, name: Name): Promise<string> {
    const before = { asked: this.asked, failed: this.failed, breaks: this.breaks }
    await pause(CALM_MS)
    const begin = performance.now()
    const code = await cluster.stop(name)
    const stopped = performance.now()
    demand(
      code === 0 && stopped - begin < STOP_MS,
      () => `${name} ended with ${code} after ${seconds(stopped - begin)}`,
    )
    await cluster.start(name)
    const started = performance.now()
    await this.socketsAreBack(BACK_MS - (started - stopped))
    await pause(CALM_MS)
    const requests = `${this.asked - before.asked} requests, ${this.failed - before.failed} failed`
    const times = `stopped in ${seconds(stopped - begin)}, listening ${seconds(started - stopped)} later`
    return `${name.padEnd(8)} ${times}; ${requests}; ${this.breaks - before.breaks} sockets reconnected`
  }

  /** Ends trading and reading. Throws the first Violation that a trader found. */
  async stop(): Promise<void> {
    await this.#trading?.stop()
    for (const reader of this.#readers) await reader.stop()
  }

  /** Compares everything, after `stop`. A report of some lines; throws a Violation for what is wrong. */
  async check(url: string): Promise<string> {
    const { admin, tally } = this
    await waitForTrading(url, admin)
    await areUpToDate(
      () => admin.read(url, '/api/instruments', Instruments),
      this.#followed.map(({ instrumentId }) => instrumentId),
      this.#followers.map((follower) => (instrument) => follower.sees(instrument)),
    )
    const counts = await this.#compareAll(url)
    tally.checks++
    const frames = sum(this.#followers.map((follower) => follower.frames))
    const gaps = sum(this.#followers.map((follower) => follower.gaps))
    const epochs = Math.max(0, ...this.#followers.map((follower) => follower.epochs))
    demand(gaps === 0, () => {
      const examples = this.#followers.map((follower) => follower.lastGap).filter((gap) => gap !== '')
      return `${gaps} moves are missing between the frames of ${examples.length} sockets: ${examples.slice(0, 3).join('; ')}`
    })
    return [
      `\n${tally.trading()}`,
      `${frames} frames of up to ${epochs} owners, ${gaps} moves missing`,
      `the books balance; ${sum(counts)} positions compared one by one`,
    ].join('\n')
  }

  /** The number of positions of each trader. The match plays on, so a comparison that it disturbs is repeated. */
  async #compareAll(url: string): Promise<readonly number[]> {
    for (let looks = 1; ; looks++) {
      await checkConsistency(url, this.traders, this.admin)
      try {
        return await Promise.all(this.traders.map((trader) => trader.compareAll(url)))
      } catch (error) {
        const news = await Promise.all(this.traders.map((trader) => trader.catchUp(url)))
        if (looks === LOOKS_MAX || news.every((events) => events === 0)) throw error
      }
    }
  }

  end(): void {
    for (const follower of this.#followers) follower.stop()
  }
}
