/** How long matches were without an owner, by what became of the last one. */
import type { FixtureId } from '../../../actors/kernel/ids.ts'
import { hold } from './invariants.ts'

/**
 * What became of the owner. `killed`: the kernel closed its connections, so others notice. `crowd`: half of all
 * processes were killed at once. `lost`: it is frozen, without power or without the bus, or bus or database were away
 * meanwhile, so its leases must run out. `drained`: it was asked to stop.
 */
export type Loss = 'killed' | 'crowd' | 'lost' | 'drained'

/**
 * Milliseconds within which a match has an owner again, beside the time for which bus or database were away: noticed by
 * peers; or a lease, a scan for orphans, and what it takes to take them up; or such a scan alone.
 */
export const GAP_MAX_MS: Readonly<Record<Loss, number>> = { killed: 1_500, crowd: 2_500, lost: 7_500, drained: 2_000 }

interface Gap {
  readonly since: number
  readonly loss: Loss
}

export class Gaps {
  /** The lengths of all, in milliseconds. */
  readonly lengths: Record<Loss, number[]> = { killed: [], crowd: [], lost: [], drained: [] }
  readonly #open = new Map<FixtureId, Gap>()
  /** When the database or the bus was away. */
  readonly #outages: { readonly from: number; readonly until: number }[] = []

  outage(from: number, until: number): void {
    this.#outages.push({ from, until })
  }

  /** A match has no owner. */
  begin(matchId: FixtureId, now: number, loss: Loss): void {
    if (!this.#open.has(matchId)) this.#open.set(matchId, { since: now, loss })
  }

  /** A match has an owner. */
  end(matchId: FixtureId, now: number): void {
    const gap = this.#open.get(matchId)
    if (gap === undefined) return
    this.#open.delete(matchId)
    this.#check(matchId, gap, now)
    this.lengths[this.#lossOf(gap, now)].push(now - gap.since)
  }

  check(now: number): void {
    for (const [matchId, gap] of this.#open) this.#check(matchId, gap, now)
  }

  #check(matchId: FixtureId, gap: Gap, now: number): void {
    const loss = this.#lossOf(gap, now)
    const during = this.#outages
      .filter(({ from, until }) => until > gap.since && from < now)
      .reduce((sum, { from, until }) => sum + Math.min(until, now) - Math.max(from, gap.since), 0)
    const ms = now - gap.since - during
    hold('owner', ms <= GAP_MAX_MS[loss], () => `match ${matchId} (${loss}) has no owner for ${Math.round(ms)} ms`)
  }

  /** Beside an outage nobody can say that a process is gone. */
  #lossOf({ since, loss }: Gap, now: number): Loss {
    const isDisturbed = this.#outages.some(({ from, until }) => until > since - 5_000 && from < now)
    return isDisturbed && loss === 'killed' ? 'lost' : loss
  }
}
