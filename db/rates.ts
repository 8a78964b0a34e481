/** Counts calls: in the fast store, over all processes, or in this process alone while the store is unavailable. */
import type { World } from '../actors/kernel/world.ts'
import { FastMemory } from './fast/fast-memory.ts'
import type { FastOrElse } from './fast/fast-or-else.ts'
import { type Allowance, type FastStore, type Hits, keys, type Spent } from './fast/fast-store.ts'

/** Callers that are counted separately without the fast store: about 15 MB. */
const ALONE_MAX = 100_000

export class Rates {
  readonly #ask: FastOrElse
  readonly #alone: FastMemory

  constructor(ask: FastOrElse, world: Pick<World, 'now'>) {
    this.#ask = ask
    this.#alone = new FastMemory(world, ALONE_MAX)
  }

  /** Counts a call in a window that the first one starts. */
  hit(route: string, caller: string, windowMs: number): Promise<Hits> {
    return this.#count((store) => store.hit(keys.rate(route, caller), windowMs))
  }

  /** Takes one call out of an allowance, if any is left. */
  spend(action: string, caller: string, allowance: Allowance): Promise<Spent> {
    return this.#count((store) => store.spend(keys.allowance(action, caller), allowance))
  }

  #count<T>(by: (store: FastStore) => Promise<T>): Promise<T> {
    return this.#ask(by, () => by(this.#alone))
  }
}
