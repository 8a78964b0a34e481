/**
 * How much a match may commit at once beside the other matches of its process. A batch of 500 keeps the event loop and
 * a connection of the database busy for 20 ms, which is ten times as long as a single order takes.
 */
import type { FixtureId } from '../../actors/kernel/ids.ts'
import { BATCH_MAX } from '../../actors/kernel/limits.ts'
import type { Instant, World } from '../../actors/kernel/world.ts'

/**
 * A crowded match commits this many while others trade a little: a quarter slower, and the others wait half as long.
 */
export const SHARED_BATCH_MAX = 100
/** A match with fewer commands waiting trades a little. */
const FEW = 20
/** How long others are considerate of it after its last commit. */
const CONSIDERATE_MS = 250

export class FairShare {
  readonly #world: Pick<World, 'now'>
  /** When each match last had a few commands to commit. */
  readonly #quiet = new Map<FixtureId, Instant>()

  constructor(world: Pick<World, 'now'>) {
    this.#world = world
  }

  /** The size of the next batch of a match, while this many commands of users wait for it. */ // A15
  batchMax(matchId: FixtureId, waiting: number): number {
    const now = this.#world.now()
    if (waiting > 0 && waiting < FEW) this.#quiet.set(matchId, now)
    if (waiting <= SHARED_BATCH_MAX) return BATCH_MAX
    for (const [other, at] of this.#quiet) {
      if (now - at > CONSIDERATE_MS) this.#quiet.delete(other)
      else if (other !== matchId) return SHARED_BATCH_MAX
    }
    return BATCH_MAX
  }
}
