/** A replay as an actor: plays a recording into a match at its speed, with a crowd that trades on it. */
import { present } from '../../actors/kernel/assert.ts'
import type { FixtureId, UserId } from '../../actors/kernel/ids.ts'
import { SECOND_MS, type World } from '../../actors/kernel/world.ts'
import type { FixtureSnapshot } from '../../actors/market/fixture.ts'
import type { Ending } from '../../actors/match/ending.ts'
import { isOver } from '../../actors/market/phase.ts'
import { frameDue, frameIntervalMs, type Recording } from '../../actors/replay/recording.ts'
import { SimulatedTraders } from './simulated-traders.ts'
import type { MatchDesk } from '../match/match-desk.ts'
import type { Report } from '../report.ts'
import { SafeRoom } from '../match/safe-room.ts'

export const REPLAY_ROOM = 'replay'
export const replayRoomId = (id: string): string => `${REPLAY_ROOM}-${id}`

/** A prime near a second: how often a part of the crowd has its turn. */
const CROWD_MS = 1_013
/** How often a match that is to end is looked at, however slowly it played. */
const ENDING_MS = 499
/** A match that another process runs is asked for again after this long; should that one die, this one plays on. */
const STAND_BY_MS = SECOND_MS
/** A recording that ends in the middle of its match is ended this long after its last frame. */
const PATIENCE_MS = 60 * SECOND_MS

/** What every replay needs of the house. */
export interface ReplayContext {
  /** A payload as a snapshot of this match, its players told apart by the cast's name; null when it makes no sense. */
  readonly parse: (payload: unknown, matchId: FixtureId, cast: string) => FixtureSnapshot | null
  /** So many accounts for simulated traders. */
  readonly enrol: (count: number) => Promise<readonly UserId[]>
}

export interface ReplayOrder {
  readonly id: string
  readonly recording: Recording
  /** Names the players of this replay apart from those of every other that plays now. */
  readonly cast: string
  /** Index of the frame that a new match begins with. */
  readonly from: number
  readonly matchId: FixtureId
  /** Times faster than life, 1 to 120. */
  readonly speed: number
  /** 0 to 500. */
  readonly traders: number
}

export interface ReplayStatus {
  readonly id: string
  /** The name of the recording. */
  readonly script: string
  readonly matchId: FixtureId
  readonly minute: number | null
  readonly speed: number
  readonly traders: number
  readonly state: 'playing' | 'ended'
}

export interface ReplayRoomOptions {
  readonly order: ReplayOrder
  readonly surroundings: ReplayContext
  readonly desk: MatchDesk
  readonly world: World
  readonly report: Report
  /** The match has settled. Not called when the replay is stopped. */
  readonly onEnded: () => void
}

export class ReplayRoom extends SafeRoom {
  /** Nobody joins; null ticks the room's clock every 17 ms, fine enough for the shortest frame interval of 83 ms. */
  override patchRate = null
  #options: ReplayRoomOptions | null = null
  #crowd: SimulatedTraders | null = null
  #startedAt = 0
  /** Index of the last frame that the match has heard. */
  #played = -1
  #minute: number | null = null
  #atWork: Promise<void> | null = null
  /** Set when it is to play no more frames, but to end its match. */
  #ending: Ending | null = null
  /** Nothing is tried before: the match is elsewhere. */
  #idleUntil = 0
  #ended = false

  override async onCreate(options: ReplayRoomOptions): Promise<void> {
    this.#options = options
    const { order, surroundings, desk, world } = options
    this.roomId = replayRoomId(order.id)
    if (order.traders > 0) this.#crowd = new SimulatedTraders(await surroundings.enrol(order.traders), desk, world)
    await desk.activate(order.matchId)
    this.#goOnFrom(Math.max(order.from, this.#heard))
    this.clock.setInterval(() => this.#step(), frameIntervalMs(order.speed))
    this.clock.setInterval(() => (this.#ending === null ? undefined : this.#step()), ENDING_MS)
    this.clock.setInterval(() => this.#crowd?.takeTurn(order.matchId), CROWD_MS)
    this.clock.setTimeout(() => this.#step(), 0) // the first frame is due now, once the room exists
  }

  /** Waits for the frame in hand. */
  override async onDispose(): Promise<void> {
    await this.#atWork
  }

  status(): ReplayStatus {
    const { order } = this.#given
    return {
      id: order.id,
      script: order.recording.name,
      matchId: order.matchId,
      minute: this.#minute,
      speed: order.speed,
      traders: order.traders,
      state: this.#ended ? 'ended' : 'playing',
    }
  }

  /** Plays no more, and ends the match: everybody is settled, or gets his margin back. The first word counts. */
  conclude(ending: Ending): void {
    this.#ending ??= ending
    this.#step()
  }

  protected override report(...failure: Parameters<Report>): void {
    this.#options?.report(...failure)
  }

  get #given(): ReplayRoomOptions {
    return present(this.#options, 'options of the replay')
  }

  /** How many frames of the recording the match has heard, as far as it runs here. */
  get #heard(): number {
    const { desk, order } = this.#given
    return desk.view(order.matchId)?.info.feedSeq ?? 0
  }

  /** Makes this frame the one that is due now. */
  #goOnFrom(frame: number): void {
    const { order, world } = this.#given
    this.#played = frame - 1
    this.#startedAt = world.now() - frame * frameIntervalMs(order.speed)
  }

  /** Plays the frame that is due, one at a time: while the match is busy with the last one, frames are skipped, not queued. */
  #step(): void {
    if (this.#atWork !== null || this.#ended || this.#given.world.now() < this.#idleUntil) return
    this.#atWork = (this.#ending === null ? this.#play() : this.#finish(this.#ending))
      .catch((error: unknown) =>
        this.report('replay_frame_failed', error, { roomId: this.roomId, frame: this.#played + 1 }),
      )
      .finally(() => (this.#atWork = null))
  }

  async #play(): Promise<void> {
    const { order, surroundings, desk, world } = this.#given
    // After a restart it goes on where the match has got to, which is known only once the match runs here.
    if (this.#heard > this.#played + 1) this.#goOnFrom(this.#heard)
    const elapsedMs = world.now() - this.#startedAt
    const due = frameDue(order.recording, elapsedMs, order.speed)
    if (due > this.#played) {
      const parsed = surroundings.parse(order.recording.frames[due], order.matchId, order.cast)
      if (parsed === null) {
        this.#played = due
        const facts = { roomId: this.roomId, recording: order.recording.name, frame: due }
        return this.report('replay_frame_skipped', new Error('the recorded frame cannot be parsed'), facts)
      }
      // True now, as far as the match is concerned: only then can a replay that stands still be told from one that runs.
      const snapshot = { ...parsed, sourceAt: world.now() }
      const fed = await desk.feed({ kind: 'feed_update', seq: due + 1, snapshot }, { replay: true })
      if (fed === 'elsewhere') return this.#standBy()
      this.#played = due
      if (fed === 'dropped' && desk.view(order.matchId) === undefined) return this.#end() // settled before we came
    }
    const info = desk.view(order.matchId)?.info
    this.#minute = info?.minute ?? this.#minute
    // A match that is over settles by itself, and keeps its instruments until it has.
    if (info !== undefined && isOver(info.phase)) return info.settledAt === null ? undefined : this.#end()
    const overdue = elapsedMs - order.recording.frames.length * frameIntervalMs(order.speed)
    if (overdue > PATIENCE_MS) this.#ending = 'full_time'
  }

  /** Tells the match that it is over, and waits until it has settled. */
  async #finish(ending: Ending): Promise<void> {
    const { order, desk } = this.#given
    const info = desk.view(order.matchId)?.info
    if (info !== undefined && info.settling !== null) return info.settledAt === null ? undefined : this.#end()
    // Where it is over, unknown or out of reach there is nothing to do here; whoever asked for the end will find out.
    if ((await desk.end(order.matchId, ending)) !== 'ending') this.#standBy()
  }

  #standBy(): void {
    this.#idleUntil = this.#given.world.now() + STAND_BY_MS
  }

  #end(): void {
    if (this.#ended) return
    this.#ended = true
    this.#given.onEnded()
  }
}
