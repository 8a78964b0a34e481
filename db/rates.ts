/** Counting calls: in the fast store, so that all processes count together, and alone while it is away. */
import type { World } from '../actors/kernel/world.ts'
import { FastMemory } from './fast-memory.ts'
import { type Allowance, type FastStore, type Hits, keys, type Spent } from './fast-store.ts'
import { isAway } from './faults.ts'

/** Callers that can be told apart without the fast store: some 15 MB. */
const ALONE_MAX = 100_000
/** How long a fast store that has failed is left in peace: one that hangs would cost every request its patience. */
const LEFT_ALONE_MS = 1_000

export class Rates {
  readonly #fast: FastStore
  readonly #world: Pick<World, 'now'>
  readonly #alone: FastMemory
  #aloneUntil = 0

  constructor(fast: FastStore, world: Pick<World, 'now'>) {
    this.#fast = fast
    this.#world = world
    this.#alone = new FastMemory(world, ALONE_MAX)
  }

  /** Counts a call in a window that the first one starts. */
  hit(route: string, caller: string, windowMs: number): Promise<Hits> {
    return this.#count((store) => store.hit(keys.rate(route, caller), windowMs))
  }

  /** Takes one of the calls that an allowance holds, if there is one left. */
  spend(action: string, caller: string, allowance: Allowance): Promise<Spent> {
    return this.#count((store) => store.spend(keys.allowance(action, caller), allowance))
  }

  async #count<T>(by: (store: FastStore) => Promise<T>): Promise<T> {
    const now = this.#world.now()
    if (!this.#fast.connected || now < this.#aloneUntil) return by(this.#alone)
    try {
      return await by(this.#fast)
    } catch (error) {
      if (!isAway(error)) throw error
      this.#aloneUntil = now + LEFT_ALONE_MS
      return by(this.#alone)
    }
  }
}
