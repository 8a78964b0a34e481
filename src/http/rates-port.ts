/** Where calls are counted. */
import type { Hits, Spent } from '../../db/fast/fast-store.ts'

/** Counts calls, over all processes if they share a fast store. */
export interface Rates {
  hit(route: string, caller: string, windowMs: number): Promise<Hits>
  spend(action: string, caller: string, perMinute: number): Promise<Spent>
}
