/** The port to the leaderboards: standings in order, fast to ask for a place. The truth they are made of is in the database. */
import type { UserId } from '../actors/kernel/ids.ts'
import type { BoardName, DistrictScore, Ranked, Standing } from '../actors/community/ranking.ts'

export interface Top {
  /** How many the board ranks. */
  readonly total: number
  /** Those that were asked for, in order. */
  readonly entries: readonly Ranked[]
}

export interface Place extends Ranked {
  readonly total: number
  /** The nearest of those who rank above, or null for whoever is first. */
  readonly next: Ranked | null
}

/** Several processes may use the same boards. Every method throws when their store is away. */
export interface Boards {
  /**
   * Puts users where their standings say, on every board that shows them. A standing older than the one there is
   * ignored, so putting them twice or late does no harm. Throws BoardsUnbuilt before the first build.
   */
  put(standings: readonly Standing[]): Promise<void>

  /** So many after the first `offset`. Throws BoardsUnbuilt before the first build, as all the following. */
  top(board: BoardName, limit: number, offset?: number): Promise<Top>

  /** A user's place, or null when the board does not rank him. */
  place(board: BoardName, user: UserId): Promise<Place | null>

  /** The standings of those of the users who are ranked, in no particular order. */
  standings(users: readonly UserId[]): Promise<readonly Standing[]>

  /** Every district that has a ranked member. */
  districts(): Promise<readonly DistrictScore[]>

  /** Whether there is something to ask: false before the first build, and after the store has lost it. */
  built(): Promise<boolean>

  /**
   * Replaces all boards by these standings, and returns how many they are; null when a build is under way already.
   * Until it is done the boards show what they did, and what is put meanwhile counts in both.
   */
  build(pages: AsyncIterable<readonly Standing[]>): Promise<number | null>

  /** Lets go of the connection. */
  close(): Promise<void>
}

/** The boards are not there, because they have never been built or their store has lost them. A build heals it. */
export class BoardsUnbuilt extends Error {
  override name = 'BoardsUnbuilt'

  constructor() {
    super('the leaderboards have not been built')
  }
}
