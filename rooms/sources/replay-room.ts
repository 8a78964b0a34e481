/** The Colyseus room of one replay: its player runs as long as the room does. Clients do not join it. */
import { SafeRoom } from '../match/safe-room.ts'
import type { Report } from '../report.ts'
import type { ReplayPlayer } from './replay-player.ts'

export const REPLAY_ROOM = 'replay'
export const replayRoomId = (id: string): string => `${REPLAY_ROOM}-${id}`

/** The longest delay of a Node timer. */
const NEVER_MS = 2 ** 31 - 1

export interface ReplayRoomOptions {
  readonly id: string
  readonly player: ReplayPlayer
  readonly report: Report
}

export class ReplayRoom extends SafeRoom {
  /** Colyseus keeps one timer per room: a patch timer or, if the rate is null, a clock tick every 17 ms. */
  override patchRate = NEVER_MS
  /** Colyseus constructs a room without its options: null until `onCreate`. */
  #options: ReplayRoomOptions | null = null

  override async onCreate(options: ReplayRoomOptions): Promise<void> {
    this.#options = options
    this.roomId = replayRoomId(options.id)
    await options.player.start()
  }

  override async onDispose(): Promise<void> {
    await this.#options?.player.stop()
  }

  protected override report(...failure: Parameters<Report>): void {
    this.#options?.report(...failure)
  }
}
