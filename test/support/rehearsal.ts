/**
 * The whole program with a mock of the live provider, on one clock. Each call to the provider advances the clock by ten
 * seconds of play, so a match ends within seconds while every interval of the game keeps its real length.
 */
import { deepEqual } from 'node:assert/strict'
import { present } from '../../actors/kernel/assert.ts'
import { type FixtureId, fixtureId, type UserId } from '../../actors/kernel/ids.ts'
import type { TradeWindow } from '../../actors/kernel/outcome.ts'
import type { MatchInfo } from '../../actors/match/messages.ts'
import type { MatchView } from '../../actors/match/state.ts'
import { FRAME_MS, type Recording } from '../../actors/replay/recording.ts'
import { type PlayedRecording, type ProviderMock, startMock, type Trouble } from '../../ops/tools/provider-mock/mock.ts'
import { SimulatedTraders } from '../../rooms/sources/simulated-traders.ts'
import type { ProviderStatus } from '../../rooms/sources/provider.ts'
import { readConfig } from '../../src/config.ts'
import { compose, type Touchline } from '../../src/compose/index.ts'
import { createLog } from '../../src/observe/log.ts'
import { systemWorld } from '../../src/system-world.ts'
import { HttpClient } from './http-client.ts'
import type { DataPlace } from './data-place.ts'
import { audit, BALANCED } from './books.ts'

const TOKEN = 'rehearsal-token'

export interface RehearsalOptions {
  readonly matches: readonly {
    readonly recording: Recording
    readonly startsInMs?: number
    readonly listedFrames?: number
  }[]
  /** False if the test starts the program itself. */
  readonly started?: boolean
  /** The failure of the nth call to the provider; null if it succeeds. */
  readonly trouble?: (call: number) => Trouble | null
}

export class Rehearsal {
  /** The warnings and errors that the program logged. */
  readonly complaints: string[] = []
  readonly #place: DataPlace
  readonly #clock: { now: number }
  readonly #matches: readonly PlayedRecording[]
  #mock: ProviderMock | null = null
  #touchline: Touchline | null = null
  #url = ''
  #traders: SimulatedTraders | null = null
  /** The update of each match after which traders have acted. */
  readonly #traded = new Map<FixtureId, number>()
  #calls = 0

  private constructor(place: DataPlace, options: RehearsalOptions) {
    this.#place = place
    const startsAt = Date.now()
    this.#clock = { now: startsAt }
    this.#matches = options.matches.map(({ startsInMs = 0, ...match }, n) => ({
      ...match,
      fixtureId: 501 + n,
      startsAt: startsAt + startsInMs,
    }))
  }

  static async open(place: DataPlace, options: RehearsalOptions): Promise<Rehearsal> {
    const rehearsal = new Rehearsal(place, options)
    rehearsal.#mock = await startMock({
      matches: rehearsal.#matches,
      clock: () => rehearsal.#clock.now,
      trouble: () => {
        rehearsal.#clock.now += FRAME_MS
        return options.trouble?.(rehearsal.#calls++) ?? null
      },
      token: TOKEN,
      callsLeft: () => null,
    })
    if (options.started !== false) await rehearsal.start()
    return rehearsal
  }

  /** Starts the program, also after `stop`. */
  async start(): Promise<void> {
    const world = systemWorld(() => this.#clock.now)
    const log = createLog({ level: 'warn', world, readable: false, write: (line) => this.complaints.push(line) })
    const config = readConfig({
      ...this.#place.env,
      PROVIDER_URL: present(this.#mock, 'mock').url,
      PROVIDER_TOKEN: TOKEN,
      PROVIDER_POLL_MS: '10',
      RATE_LIMIT_PER_MIN: '0',
      PORT: '0',
      WS_PORT: '0',
    })
    this.#touchline = await compose(config, { world, log })
    this.#url = (await this.#touchline.start()).url
  }

  async stop(): Promise<void> {
    await this.#touchline?.stop()
    this.#touchline = null
    this.#traders = null
  }

  /** The nth match, from 1. */
  id(n = 1): FixtureId {
    return fixtureId(500 + n)
  }

  /** The current state of the nth match; undefined while it does not run. */
  view(n = 1): MatchView | undefined {
    return this.#program.realTime.desk.view(this.id(n))
  }

  info(n = 1): MatchInfo | undefined {
    return this.view(n)?.info
  }

  /** The trade window of the nth match; undefined while it does not run. */
  window(n = 1): TradeWindow | undefined {
    return this.#program.realTime.desk.window(this.id(n))
  }

  get status(): ProviderStatus {
    return present(this.#program.realTime.provider(), 'poller').status()
  }

  /** The paths requested from the mock. */
  get asked(): readonly string[] {
    return present(this.#mock, 'mock').asked
  }

  async user(name: string): Promise<HttpClient> {
    return HttpClient.of(this.#url, name)
  }

  /** Creates `count` simulated traders. */
  async enrol(count: number): Promise<readonly UserId[]> {
    const names = Array.from({ length: count }, (_, n) => `Trader ${n + 1}`)
    const users = (await this.#program.users.createSyntheticMany(names)).map(({ user }) => user.id)
    this.#traders = new SimulatedTraders(
      users,
      this.#program.realTime.desk,
      systemWorld(() => this.#clock.now),
    )
    return users
  }

  /**
   * Lets some of the traders act in the nth match, once after each of its updates. By the clock of the machine they
   * would trade as often as the store can take it, which was most of what a match computed.
   */
  trade(n = 1): void {
    const [id, seq] = [this.id(n), this.info(n)?.feedSeq ?? 0]
    if (this.#traded.get(id) === seq) return
    this.#traded.set(id, seq)
    this.#traders?.takeTurn(id)
  }

  /** Closes the server. Throws if its books do not balance or it logged an unexpected warning or error. */
  async close(expected: RegExp = /(?!)/): Promise<void> {
    await this.stop()
    await this.#mock?.close()
    const books = await audit(this.#place)
    await this.#place.remove()
    const complaints = this.complaints.filter((line) => !expected.test(line))
    deepEqual({ ...books, complaints }, { ...books, ...BALANCED, complaints: [] })
  }

  get #program(): Touchline {
    return present(this.#touchline, 'program')
  }
}
