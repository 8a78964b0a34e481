/** Plays a recording into its match at a given speed, with simulated traders that trade on it. */
import type { FixtureId, UserId } from '../../actors/kernel/ids.ts'
import { type Instant, instant, SECOND_MS, type World } from '../../actors/kernel/world.ts'
import type { SaidFixture } from '../../actors/market/fixture.ts'
import { isOver } from '../../actors/market/phase.ts'
import type { Ending } from '../../actors/match/messages.ts'
import { frameDue, frameIntervalMs, type Recording } from '../../actors/replay/recording.ts'
import type { MatchDesk } from '../match/match-desk.ts'
import { type Report, reportWith } from '../report.ts'
import { SimulatedTraders } from './simulated-traders.ts'

/** Between two turns of a part of the traders: a prime near a second. */
const TRADERS_MS = 1_013
/** Between two checks whether a match has ended; the same at every speed. */
const ENDING_MS = 499
/** After this time a match that another process runs is tried again: if that process dies, this one continues. */
const STAND_BY_MS = SECOND_MS
/** A recording that stops in mid-match ends its match this long after the last frame. */
const END_AFTER_MS = 60 * SECOND_MS

/** What every replay needs of the process it runs in. */
export interface ReplayContext {
  /** A payload as a snapshot of this match, its players named apart by the cast; null when it cannot be parsed. */
  readonly parse: (payload: unknown, matchId: FixtureId, cast: string) => SaidFixture | null
  /** Returns this many accounts for simulated traders. */
  readonly enrol: (count: number) => Promise<readonly UserId[]>
}

/** The namespace of the instruments of a cast. */
export const playersOf = (cast: string): string => `replay/${cast}`

export interface ReplayOrder {
  readonly id: string
  readonly recording: Recording
  /** Names the players of this replay apart from those of every other running replay. */
  readonly cast: string
  /** Index of the frame that a new match begins with. */
  readonly from: number
  readonly matchId: FixtureId
  /** Times faster than life, 1 to 120. */
  readonly speed: number
  /** 0 to 500. */
  readonly traders: number
  /** Plays every frame, late if need be, from the anchors of the recording: all runs have the same bases. */
  readonly lossless: boolean
  /** Whether it is traded with practice money. A match that has begun keeps its purse. */
  readonly practice: boolean
}

export interface ReplayStatus {
  readonly id: string
  /** The name of the recording. */
  readonly recording: string
  readonly matchId: FixtureId
  readonly minute: number | null
  readonly speed: number
  readonly traders: number
  readonly state: 'playing' | 'ended'
}

export interface ReplayPlayerOptions {
  readonly order: ReplayOrder
  readonly context: ReplayContext
  readonly desk: MatchDesk
  readonly world: World
  readonly report: Report
  /** The match has settled. Not called when the replay is stopped. */
  readonly onEnded: () => void
}

export class ReplayPlayer {
  readonly #options: ReplayPlayerOptions
  readonly #report: Report
  readonly #timers: NodeJS.Timeout[] = []
  #startedAt: Instant = instant(0)
  /** Index of the last frame that the match has accepted. */
  #played = -1
  #minute: number | null = null
  #step: Promise<void> | null = null
  /** Set when the replay should stop playing frames and end its match. */
  #ending: Ending | null = null
  /** Until then the match is left to the process that runs it. */
  #idleUntil: Instant = instant(0)
  #ended = false

  constructor(options: ReplayPlayerOptions) {
    this.#options = options
    this.#report = reportWith(options.report, { replayId: options.order.id })
  }

  /** Plays the first frame, or continues where the match is. Rejects with a fault. */
  async start(): Promise<void> {
    const { order, context, desk, world } = this.#options
    if (order.traders > 0) {
      const traders = new SimulatedTraders(await context.enrol(order.traders), desk, world)
      this.#timers.push(setInterval(() => traders.takeTurn(order.matchId), TRADERS_MS))
    }
    await desk.activate(order.matchId)
    this.#continueFrom(Math.max(order.from, this.#accepted))
    this.#timers.push(
      setInterval(() => this.#takeStep(), frameIntervalMs(order.speed)),
      setInterval(() => (this.#ending === null ? undefined : this.#takeStep()), ENDING_MS),
    )
    this.#takeStep()
    await this.#step
  }

  /** Waits for the frame under way. */
  async stop(): Promise<void> {
    for (const timer of this.#timers.splice(0)) clearInterval(timer)
    await this.#step
  }

  status(): ReplayStatus {
    const { order } = this.#options
    return {
      id: order.id,
      recording: order.recording.name,
      matchId: order.matchId,
      minute: this.#minute,
      speed: order.speed,
      traders: order.traders,
      state: this.#ended ? 'ended' : 'playing',
    }
  }

  /** Stops playing frames and ends the match, settled or void. Only the first call counts. */
  conclude(ending: Ending): void {
    this.#ending ??= ending
    this.#takeStep()
  }

  /** The number of frames that the match has accepted, 0 if it does not run here. */
  get #accepted(): number {
    const { desk, order } = this.#options
    return desk.view(order.matchId)?.info.feedSeq ?? 0
  }

  /** Makes this frame the one that is due now. */
  #continueFrom(frame: number): void {
    const { order, world } = this.#options
    this.#played = frame - 1
    this.#startedAt = instant(world.steady.now() - frame * frameIntervalMs(order.speed))
  }

  /** One step at a time: while the match is busy, frames are skipped or wait for the next turn, and none is queued. */
  #takeStep(): void {
    if (this.#step !== null || this.#ended || this.#options.world.steady.now() < this.#idleUntil) return
    this.#step = (this.#ending === null ? this.#play() : this.#finish(this.#ending))
      .catch((error: unknown) => this.#report('replay_frame_failed', error, { frame: this.#played + 1 }))
      .finally(() => (this.#step = null))
  }

  async #play(): Promise<void> {
    const { order, context, desk, world } = this.#options
    // After a restart the position in the recording is known only once the match runs here.
    if (this.#accepted > this.#played + 1) this.#continueFrom(this.#accepted)
    const elapsedMs = world.steady.now() - this.#startedAt
    const { frames } = order.recording
    const phase = desk.view(order.matchId)?.info.phase
    // Full time is confirmed by updates, of which a replay that was held up may have skipped all but the last.
    const isAgain = this.#played >= frames.length - 1 && phase !== undefined && isOver(phase)
    const newest = isAgain ? this.#played + 1 : frameDue(order.recording, elapsedMs, order.speed)
    const due = order.lossless ? Math.min(newest, this.#played + 1) : newest
    if (due > this.#played) {
      const payload = frames[Math.min(due, frames.length - 1)]
      const parsed = context.parse(payload, order.matchId, order.cast)
      if (parsed === null) {
        this.#played = due
        const facts = { recording: order.recording.name, frame: due }
        return this.#report('replay_frame_skipped', new Error('the recorded frame cannot be parsed'), facts)
      }
      // The match must take the frame as true now, or it could not distinguish a stopped replay from a running one.
      const snapshot = { ...parsed, sourceAt: world.now() }
      const source = { payload, players: playersOf(order.cast) }
      const update = {
        kind: 'feed_update',
        seq: due + 1,
        snapshot,
        speed: order.speed,
        atAnchors: order.lossless,
        source,
      } as const
      const fed = await desk.feed(update, { replay: true, purse: order.practice ? 'practice' : 'main' })
      if (fed === 'elsewhere') return this.#standBy()
      this.#played = due
      if (fed === 'dropped' && desk.view(order.matchId) === undefined) return this.#end() // it was settled already
    }
    const info = desk.view(order.matchId)?.info
    this.#minute = info?.minute ?? this.#minute
    // A match that is over settles itself; its replay ends after that.
    if (info !== undefined && isOver(info.phase)) return info.settledAt === null ? undefined : this.#end()
    const overdueMs = elapsedMs - frames.length * frameIntervalMs(order.speed)
    if (due === newest && overdueMs > END_AFTER_MS) this.#ending = 'full_time'
  }

  /** Ends the match, and waits until it has settled. */
  async #finish(ending: Ending): Promise<void> {
    const { order, desk } = this.#options
    const info = desk.view(order.matchId)?.info
    if (info !== undefined && info.settling !== null) return info.settledAt === null ? undefined : this.#end()
    // A match that is over, unknown or out of reach cannot be ended here; it is tried again later.
    if ((await desk.ask('end', { matchId: order.matchId, ending })) !== 'ending') this.#standBy()
  }

  #standBy(): void {
    this.#idleUntil = instant(this.#options.world.steady.now() + STAND_BY_MS)
  }

  #end(): void {
    if (this.#ended) return
    this.#ended = true
    this.#options.onEnded()
  }
}
