/** What the real-time side can say of itself in numbers. Counts only ever grow; whoever asks makes rates of them. */
import type { FixtureId } from '../actors/kernel/ids.ts'

/** What has been written to those who follow prices, over both doors. */
export interface Traffic {
  /** Writes: one for all the prices that somebody is due at a time. */
  writes: number
  /** Prices in them. */
  prices: number
  /** Of these, prices that stand for older ones which their reader was too slow for. */
  conflated: number
}

export const noTraffic = (): Traffic => ({ writes: 0, prices: 0, conflated: 0 })

/** How requests to other processes ended; `failed`: the other side met a fault. */
export interface RequestEnds {
  answered: number
  gone: number
  silent: number
  failed: number
}

/** A match that runs in this process. */
export interface MatchStats {
  readonly matchId: FixtureId
  /** What waits in its mailbox. */
  readonly waiting: number
  /** How old the newest word of its feed is; null when it is not in play, or has never been fed. */
  readonly feedAgeMs: number | null
}

export interface RealTimeStats {
  /** Open sockets by door. */
  readonly sockets: { readonly feed: number; readonly room: number }
  readonly traffic: Readonly<Traffic>
  /** Sockets that were closed because they did not take what they were sent. */
  readonly tooSlow: number
  readonly matches: readonly MatchStats[]
  /** Null in a process that has no others. */
  readonly requests: Readonly<RequestEnds> | null
}
