/** Port to the leaderboards: ordered standings with fast access to a place. They are built from the database. */
import type { UserId } from '../actors/kernel/ids.ts'
import type { BoardName, BoardPlace, DistrictScore, Ranked, Standing } from '../actors/community/ranking.ts'

export interface Top {
  /** The number of users that the board ranks. */
  readonly total: number
  /** The requested entries, in order. */
  readonly entries: readonly Ranked[]
}

/** Where a page begins. */
export interface TopStart {
  /** After this place; null for the top. */
  readonly after?: BoardPlace | null
  /** How many entries to skip from there. */
  readonly offset?: number
}

export interface Place extends Ranked {
  readonly total: number
  /** The nearest user who ranks above; null for the first. */
  readonly next: Ranked | null
}

/** Several processes may use the same boards. Every method throws when the store is unavailable. */
export interface Boards {
  /**
   * Places users on every board that shows them, by their standings. A standing older than the stored one is ignored,
   * so a repeated or late put does no harm. One without a close takes its user off the boards. Throws BoardsUnbuilt
   * before the first build.
   */
  put(standings: readonly Standing[]): Promise<void>

  /**
   * At most `limit` entries from `start`, or from the top. Like all methods below, it throws BoardsUnbuilt before the
   * first build.
   */
  top(board: BoardName, limit: number, start?: TopStart): Promise<Top>

  /** A user's place; null when the board does not rank the user. */
  place(board: BoardName, user: UserId): Promise<Place | null>

  /** The standings of the given users who are ranked, in no particular order. */
  standings(users: readonly UserId[]): Promise<readonly Standing[]>

  /** Every district with a ranked member. */
  districts(): Promise<readonly DistrictScore[]>

  /**
   * Whether the boards were built by these rules and are whole: false before the first build, and after the store has
   * lost them, or may have lost the latest standings by a crash or a failover.
   */
  built(rules: string): Promise<boolean>

  /**
   * Replaces all boards by these standings, which follow these rules, and returns their number; null when another build
   * is running. Until it is done the boards show what they did before, and standings put meanwhile count in both.
   */
  build(pages: AsyncIterable<readonly Standing[]>, rules: string): Promise<number | null>

  /** Closes the connection. */
  close(): Promise<void>
}

/** The boards do not exist: they were never built, or the store has lost them. A build restores them. */
export class BoardsUnbuilt extends Error {
  override name = 'BoardsUnbuilt'

  constructor() {
    super('the leaderboards have not been built')
  }
}
