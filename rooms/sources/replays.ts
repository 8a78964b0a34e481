/** The replays of this process: starts, lists, ends and stops them. */
import { matchMaker } from '@colyseus/core'
import type { World } from '../../actors/kernel/world.ts'
import type { Ending } from '../../actors/match/messages.ts'
import type { MatchDesk } from '../match/match-desk.ts'
import type { Report } from '../report.ts'
import { type ReplayContext, type ReplayOrder, ReplayPlayer, type ReplayStatus } from './replay-player.ts'
import { REPLAY_ROOM, type ReplayRoomOptions, replayRoomId } from './replay-room.ts'

export interface ReplaysOptions {
  readonly context: ReplayContext
  readonly desk: MatchDesk
  readonly world: World
  readonly report: Report
}

export class Replays {
  readonly #options: ReplaysOptions
  readonly #players = new Map<string, ReplayPlayer>()

  constructor(options: ReplaysOptions) {
    this.#options = options
  }

  /**
   * Starts a replay, or continues one whose match has begun. `onEnded` is called once, unless the replay is stopped.
   */
  async start(order: ReplayOrder, onEnded: (status: ReplayStatus) => void): Promise<ReplayStatus> {
    const { id } = order
    const { report } = this.#options
    const player = new ReplayPlayer({ ...this.#options, order, onEnded: () => void this.#onEnded(id, onEnded) })
    const room: ReplayRoomOptions = { id, player, report }
    this.#players.set(id, player)
    try {
      await matchMaker.createRoom(REPLAY_ROOM, room)
    } catch (error) {
      this.#players.delete(id)
      throw error
    }
    // It may have ended, or have been stopped, before its room was there.
    if (!this.#players.has(id)) await this.#leave(id)
    return player.status()
  }

  /** All running replays. */
  status(): readonly ReplayStatus[] {
    return [...this.#players.values()].map((player) => player.status())
  }

  /** Whether this replay runs here. */
  has(id: string): boolean {
    return this.#players.has(id)
  }

  /** Ends the match of a replay that runs here, settled or void. */
  conclude(id: string, ending: Ending): void {
    this.#players.get(id)?.conclude(ending)
  }

  /** Stops one replay, or all, and returns how many. Their matches stay as they are, and may be continued. */
  async stop(id?: string): Promise<number> {
    const ids = id === undefined ? [...this.#players.keys()] : [id]
    const stopped = await Promise.all(ids.map((each) => this.#stop(each)))
    return stopped.filter((status) => status !== null).length
  }

  async #onEnded(id: string, onEnded: (status: ReplayStatus) => void): Promise<void> {
    try {
      const status = await this.#stop(id)
      if (status !== null) onEnded(status)
    } catch (error) {
      this.#options.report('replay_end_failed', error, { replayId: id })
    }
  }

  async #stop(id: string): Promise<ReplayStatus | null> {
    const player = this.#players.get(id)
    if (player === undefined) return null
    this.#players.delete(id)
    const status = player.status()
    await this.#leave(id)
    return status
  }

  async #leave(id: string): Promise<void> {
    await matchMaker.getLocalRoomById(replayRoomId(id))?.disconnect()
  }
}
