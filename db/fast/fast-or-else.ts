/** Asks the fast store, with a fallback for when it is unavailable. */
import type { World } from '../../actors/kernel/world.ts'
import type { FastStore } from './fast-store.ts'
import { isAway } from '../faults.ts'

/** Pause after a failure. A store that hangs would cost every request its whole timeout. */
const LEFT_ALONE_MS = 1_000

/** Asks the fast store, or the fallback when the store is unavailable or has just failed. */
export type FastOrElse = <T>(ask: (fast: FastStore) => Promise<T>, otherwise: () => Promise<T>) => Promise<T>

/** Share one per store: after a failure all callers use the fallback for 1 s. */
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
