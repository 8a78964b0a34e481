/** Looks until something holds. */
import { performance } from 'node:perf_hooks'
import { setTimeout as pause } from 'node:timers/promises'
import { demand } from './account.ts'

/** Looks until there is no complaint any more; throws a Violation of the last one when it takes too long. */
export async function until(withinMs: number, everyMs: number, look: () => Promise<string | null>): Promise<void> {
  for (const late = performance.now() + withinMs; ; await pause(everyMs)) {
    const complaint = await look()
    if (complaint === null) return
    demand(performance.now() < late, () => complaint)
  }
}
