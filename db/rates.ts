/** Counts calls: in the fast store, over all processes, or in this process alone while the store is unavailable. */
import { MINUTE_MS, type World } from '../actors/kernel/world.ts'
import { FastMemory } from './fast/fast-memory.ts'
import type { FastOrElse } from './fast/fast-or-else.ts'
import { type FastStore, type Hits, keys, type Spent } from './fast/fast-store.ts'

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

  /** Counts a call unless as many have been counted in the minute before it. */
  spend(action: string, caller: string, perMinute: number): Promise<Spent> {
    const allowance = { calls: perMinute, windowMs: MINUTE_MS }
    return this.#count((store) => store.spend(keys.calls(action, caller), allowance))
  }

  #count<T>(by: (store: FastStore) => Promise<T>): Promise<T> {
    return this.#ask(by, () => by(this.#alone))
  }
}
