/** The replays of this process: start one, see how they stand, stop them. */
import { matchMaker } from '@colyseus/core'
import type { World } from '../../actors/kernel/world.ts'
import type { Ending } from '../../actors/match/ending.ts'
import type { MatchDesk } from '../match/match-desk.ts'
import {
  REPLAY_ROOM,
  type ReplayOrder,
  ReplayRoom,
  type ReplayRoomOptions,
  replayRoomId,
  type ReplayStatus,
  type ReplayContext,
} from './replay-room.ts'
import type { Report } from '../report.ts'

export interface ReplaysOptions {
  readonly surroundings: ReplayContext
  readonly desk: MatchDesk
  readonly world: World
  readonly report: Report
}

export class Replays {
  readonly #options: ReplaysOptions
  readonly #rooms = new Map<string, ReplayRoom>()

  constructor(options: ReplaysOptions) {
    this.#options = options
  }

  /** Starts a replay, or goes on with one whose match has begun already. `onEnded` is called once, unless it is stopped. */
  async start(order: ReplayOrder, onEnded: (status: ReplayStatus) => void): Promise<ReplayStatus> {
    const { id } = order
    const room: ReplayRoomOptions = {
      ...this.#options,
      order,
      onEnded: () => void this.#conclude(id, onEnded),
    }
    await matchMaker.createRoom(REPLAY_ROOM, room)
    const started = matchMaker.getLocalRoomById(replayRoomId(id))
    if (!(started instanceof ReplayRoom)) throw new Error(`replay ${id} has no room`)
    this.#rooms.set(id, started)
    return started.status()
  }

  /** The replays that play now. */
  status(): readonly ReplayStatus[] {
    return [...this.#rooms.values()].map((room) => room.status())
  }

  /** Whether this replay plays here. */
  has(id: string): boolean {
    return this.#rooms.has(id)
  }

  /** Has a replay that plays here end its match, settled or void. */
  conclude(id: string, ending: Ending): void {
    this.#rooms.get(id)?.conclude(ending)
  }

  /** Stops one replay, or all. Their matches stay as they are, and may be gone on with. Says how many there were. */
  async stop(id?: string): Promise<number> {
    const ids = id === undefined ? [...this.#rooms.keys()] : [id]
    const stopped = await Promise.all(ids.map((each) => this.#finish(each)))
    return stopped.filter((status) => status !== null).length
  }

  async #conclude(id: string, onEnded: (status: ReplayStatus) => void): Promise<void> {
    try {
      const status = await this.#finish(id)
      if (status !== null) onEnded(status)
    } catch (error) {
      this.#options.report('replay_end_failed', error, { replayId: id })
    }
  }

  async #finish(id: string): Promise<ReplayStatus | null> {
    const room = this.#rooms.get(id)
    if (room === undefined) return null
    this.#rooms.delete(id)
    const status = room.status()
    await room.disconnect()
    return status
  }
}
