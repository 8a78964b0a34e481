/** The whole program in this process: real sockets, real stores, and a clock that only the test moves. */
import { deepEqual } from 'node:assert/strict'
import { setTimeout as pause } from 'node:timers/promises'
import { vi } from 'vitest'
import { present } from '../../actors/kernel/assert.ts'
import type { FixtureId, UserId } from '../../actors/kernel/ids.ts'
import { SECOND_MS } from '../../actors/kernel/world.ts'
import { readConfig } from '../../src/config.ts'
import { compose, type Touchline } from '../../src/compose/index.ts'
import { createLog } from '../../src/observe/log.ts'
import { systemWorld } from '../../src/system-world.ts'
import { HttpClient } from './http-client.ts'
import type { DataPlace } from './data-place.ts'
import { audit, BALANCED } from './books.ts'

/** A limit that only a broken server exceeds. */
export const PATIENCE = { timeout: 10_000, interval: 20 }

/** Longer than the rest of the demo match at any time. */
export const MATCH_SECS = 700
/** Longer than full time must last before the match settles. */
export const CONFIRM_SECS = 61
/** Longer than a message between processes takes. */
const ON_THE_WAY_MS = 200

/**
 * Ten times real speed: a second of the server's clock is one frame of the recording, and the server looks for a due
 * frame once a second. Only the test trades.
 */
const QUIET_DEMO = { DEMO_SPEED: '10', DEMO_TRADERS: '0', RATE_LIMIT_PER_MIN: '0' }

export class ComposedServer {
  readonly url: string
  readonly wsUrl: string
  readonly #place: DataPlace
  readonly #touchline: Touchline
  readonly #clock: { now: number }
  /** Everything that was logged, at every level. */
  readonly lines: readonly string[]

  private constructor(
    addresses: { readonly url: string; readonly wsUrl: string },
    parts: { place: DataPlace; touchline: Touchline; clock: { now: number }; lines: readonly string[] },
  ) {
    this.url = addresses.url
    this.wsUrl = addresses.wsUrl
    this.#place = parts.place
    this.#touchline = parts.touchline
    this.#clock = parts.clock
    this.lines = parts.lines
  }

  /** A server in which the demo match has kicked off. `settings` replace its own. */
  static async open(place: DataPlace, settings: Readonly<Record<string, string>> = {}): Promise<ComposedServer> {
    const clock = { now: Date.now() }
    const world = systemWorld(() => clock.now)
    const lines: string[] = []
    const log = createLog({ level: 'debug', world, readable: false, write: (line) => lines.push(line) })
    const config = readConfig({ ...place.env, ...QUIET_DEMO, PORT: '0', WS_PORT: '0', ...settings })
    const touchline = await compose(config, { world, log })
    const server = new ComposedServer(await touchline.start(), { place, touchline, clock, lines })
    await vi.waitUntil(() => server.#framesReceived > 0, PATIENCE)
    return server
  }

  /** The demo match that plays now. */
  get matchId(): FixtureId {
    return present(this.#playing, 'a match that plays')
  }

  get #playing(): FixtureId | undefined {
    return this.#touchline.realTime.replays.status()[0]?.matchId
  }

  /** A signed-in user. */
  async user(name: string): Promise<HttpClient> {
    return HttpClient.of(this.url, name)
  }

  /** Closes every socket of a user, as signing out does; their session stays valid. */
  disconnect(user: UserId): void {
    this.#touchline.realTime.disconnectUser(user)
  }

  /** What the server's clock says. */
  get now(): number {
    return this.#clock.now
  }

  /** Advances the clock. */
  jump(seconds: number): void {
    this.#clock.now += seconds * SECOND_MS
  }

  /** Advances the clock, and waits until the match has caught up, or another has begun. */
  async play(seconds: number): Promise<void> {
    // Messages on the way to this process would be refused as old.
    await pause(ON_THE_WAY_MS)
    // Between two matches none plays.
    const match = await vi.waitUntil(() => this.#playing, PATIENCE)
    const before = this.#framesReceived
    this.jump(seconds)
    const isNext = (): boolean => (this.#playing ?? match) !== match
    await vi.waitUntil(() => isNext() || this.#framesReceived > before, PATIENCE)
  }

  /** Closes the server. Throws if it logged a warning or error, or its books do not balance. */
  async close(): Promise<void> {
    await this.#touchline.stop()
    const books = await audit(this.#place)
    await this.#place.remove()
    // When the test moves the clock, messages on the way become old.
    const isOld = (line: string): boolean => /"event":"bus_message_refused","why":"old"/.test(line)
    const complaints = this.lines.filter((line) => /"level":"(warn|error)"/.test(line) && !isOld(line))
    deepEqual({ ...books, complaints }, { ...books, ...BALANCED, complaints: [] })
  }

  get #framesReceived(): number {
    const [replay] = this.#touchline.realTime.replays.status()
    return replay === undefined ? 0 : (this.#touchline.realTime.desk.view(replay.matchId)?.info.feedSeq ?? 0)
  }
}
