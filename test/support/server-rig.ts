/** The whole program in this process; the test itself sends the updates of its matches. */
import { deepEqual } from 'node:assert/strict'
import { type FixtureId, fixtureId } from '../../actors/kernel/ids.ts'
import { instant, SECOND_MS } from '../../actors/kernel/world.ts'
import type { FixtureSnapshot } from '../../actors/market/fixture.ts'
import { readConfig } from '../../src/config.ts'
import { compose, type Touchline } from '../../src/compose/index.ts'
import { createLog } from '../../src/observe/log.ts'
import { systemWorld } from '../../src/system-world.ts'
import { half, player, snapshot } from './fixtures.ts'
import { HttpClient } from './http-client.ts'
import type { DataPlace } from './data-place.ts'
import { audit, BALANCED } from './books.ts'

const MATCHES_FROM = 77_000
/** Players per match. Those of the nth match are the instruments P(10n + 1), P(10n + 2), …, each worth 200. */
const PLAYERS_PER_MATCH = 4

interface Clocks {
  now: number
  /** How far the wall clock is off. */
  off: number
}

const matchOf = (n: number): FixtureId => fixtureId(MATCHES_FROM + n)

export class ServerRig {
  readonly url: string
  /** The warnings and errors that the server logged. */
  readonly complaints: string[]
  readonly #place: DataPlace
  readonly #touchline: Touchline
  readonly #clock: Clocks
  /** The number of the last update of each match in play. */
  readonly #lastUpdate = new Map<number, number>()

  private constructor(
    url: string,
    parts: { place: DataPlace; touchline: Touchline; clock: Clocks; complaints: string[] },
  ) {
    this.url = url
    this.complaints = parts.complaints
    this.#place = parts.place
    this.#touchline = parts.touchline
    this.#clock = parts.clock
  }

  /** A server whose clocks move only by `jump` and `setOff`, with matches 1 to `matches` in play. */
  static async open(
    place: DataPlace,
    { matches = 1, perMinute = 0 }: { readonly matches?: number; readonly perMinute?: number } = {},
  ): Promise<ServerRig> {
    const clock = { now: Date.now(), off: 0 }
    const world = systemWorld(
      () => clock.now + clock.off,
      () => clock.now,
    )
    const complaints: string[] = []
    const log = createLog({ level: 'warn', world, readable: false, write: (line) => complaints.push(line) })
    const limits = { RATE_LIMIT_PER_MIN: String(perMinute) }
    const config = readConfig({ ...place.env, ...limits, DEMO_REPLAY: 'none', PORT: '0', WS_PORT: '0' })
    const touchline = await compose(config, { world, log })
    const { url } = await touchline.start()
    const rig = new ServerRig(url, { place, touchline, clock, complaints })
    for (let n = 1; n <= matches; n++) await rig.plays(n)
    return rig
  }

  /** The settings that let another process share the data. */
  get env(): DataPlace['env'] {
    return this.#place.env
  }

  /** A signed-in user. */
  async user(name: string): Promise<HttpClient> {
    return HttpClient.of(this.url, name)
  }

  users(name: string, count: number): Promise<HttpClient[]> {
    return Promise.all(Array.from({ length: count }, (_, n) => this.user(`${name} ${n + 1}`)))
  }

  /** Sends the next update of the nth match: ten more seconds of play, unless `over` changes that. */
  async plays(n: number, over: Partial<FixtureSnapshot> = {}): Promise<void> {
    const seq = (this.#lastUpdate.get(n) ?? 0) + 1
    this.#lastUpdate.set(n, seq)
    const update = snapshot({
      fixtureId: matchOf(n),
      players: Array.from({ length: PLAYERS_PER_MATCH }, (_, i) => player(10 * n + i + 1)),
      periods: half(10 * seq),
      sourceAt: instant(this.#clock.now + this.#clock.off),
      ...over,
    })
    await this.#touchline.realTime.desk.feed({ kind: 'feed_update', seq, snapshot: update }, { replay: false })
  }

  /** Advances the clock, then sends an update of every match in play. */
  async jump(seconds: number): Promise<void> {
    this.#clock.now += seconds * SECOND_MS
    for (const n of this.#lastUpdate.keys()) await this.plays(n)
  }

  /** Sets the wall clock off by so much; what measures durations does not notice. */
  setOff(ms: number): void {
    this.#clock.off = ms
  }

  /** Ends the nth match, which settles. */
  async ends(n: number): Promise<void> {
    await this.plays(n, { state: 'FINISHED', stateId: 5, periods: [] })
    this.#lastUpdate.delete(n)
  }

  /** Closes the server. Throws if its books do not balance or it logged an unexpected warning or error. */
  async close(expected: RegExp = /(?!)/): Promise<void> {
    await this.#touchline.stop()
    const books = await audit(this.#place)
    await this.#place.remove()
    const complaints = this.complaints.filter((line) => !expected.test(line))
    deepEqual({ ...books, complaints }, { ...books, ...BALANCED, complaints: [] })
  }
}
