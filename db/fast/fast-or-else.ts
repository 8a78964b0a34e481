/** Asking the fast store, with something to fall back on while it is away. */
import type { World } from '../../actors/kernel/world.ts'
import type { FastStore } from './fast-store.ts'
import { isAway } from '../faults.ts'

/** How long a fast store that has failed is left in peace: one that hangs would cost every request its patience. */
const LEFT_ALONE_MS = 1_000

/** Asks the fast store, or does otherwise: when it is away, and for a moment after it has failed to answer. */
export type FastOrElse = <T>(ask: (fast: FastStore) => Promise<T>, otherwise: () => Promise<T>) => Promise<T>

/** To be shared by all who ask the same store, so that one who waited in vain spares the others. */
export function fastOrElse(fast: FastStore, world: Pick<World, 'now'>): FastOrElse {
  let aloneUntil = 0
  return async (ask, otherwise) => {
    if (!fast.connected || world.now() < aloneUntil) return otherwise()
    try {
      return await ask(fast)
    } catch (error) {
      if (!isAway(error)) throw error
      aloneUntil = world.now() + LEFT_ALONE_MS
      return otherwise()
    }
  }
}
