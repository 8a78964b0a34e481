/**
 * Finds the unsettled matches that no process runs, and takes them up: no stop-loss may wait for a client. When a
 * process dies, all others look at once.
 */
import type { FixtureId } from '../../actors/kernel/ids.ts'
import type { World } from '../../actors/kernel/world.ts'
import type { Ownership, Peers } from '../cluster/peers.ts'

export interface OrphanSearchOptions {
  readonly ownership: Pick<Ownership, 'orphans'>
  /** The matches of this process. */
  readonly hosted: ReadonlyMap<FixtureId, unknown>
  /** Null when there are no other processes. */
  readonly peers: Pick<Peers, 'isNext'> | null
  readonly world: Pick<World, 'randomInt'>
  /** Whether this process takes no matches now. */
  readonly isOff: () => boolean
  /** Runs a match here, unless another process was faster. Must not reject. */
  readonly takeUp: (matchId: FixtureId) => Promise<void>
}

export class OrphanSearch {
  readonly #options: OrphanSearchOptions
  #looking: Promise<void> | null = null
  /** An orphan may have come since the search under way has last queried for them. */
  #again = false

  constructor(options: OrphanSearchOptions) {
    this.#options = options
  }

  /** Resolves when there was none left to try. A search that is under way goes on instead of a second one. */
  look(): Promise<void> {
    this.#again = true
    this.#looking ??= this.#search().finally(() => (this.#looking = null))
    return this.#looking
  }

  /**
   * One after the other, and any of them next: if all processes began with the first, all but one would come too late
   * for it, and then for the second. Each is tried once, since one that cannot be loaded stays an orphan.
   */
  async #search(): Promise<void> {
    const { ownership, hosted, peers, world, isOff, takeUp } = this.#options
    const tried = new Set<FixtureId>()
    while (!isOff()) {
      if (this.#again) tried.clear()
      this.#again = false
      const orphans = await ownership.orphans([...hosted.keys(), ...tried])
      const matchId = orphans[orphans.length > 1 ? world.randomInt(orphans.length) : 0]
      if (matchId === undefined) {
        if (this.#again) continue
        return
      }
      tried.add(matchId)
      if (peers === null || (await peers.isNext(matchId, hosted.size))) await takeUp(matchId)
    }
  }
}
