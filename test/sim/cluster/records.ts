/** Leases and processes in memory, with the contract of the tables `match_leases` and `processes`. */
import type { FixtureId } from '../../../actors/kernel/ids.ts'
import { MINUTE_MS, SECOND_MS } from '../../../actors/kernel/world.ts'
import type { Leases } from '../../../actors/match/store.ts'
import type { Ownership } from '../../../rooms/cluster/peers.ts'
import type { OtherProcess, Registry } from '../../../rooms/cluster/presence.ts'

export interface RecordsOptions {
  /** The database's clock, in milliseconds. */
  readonly now: () => number
  readonly unsettled: () => readonly FixtureId[]
  /** A match has a new epoch, which fences all before it. */
  readonly onAcquired: (matchId: FixtureId, lease: Lease, former: Lease | undefined) => void
}

export interface Lease {
  readonly owner: string
  readonly epoch: number
  expiresAt: number
}

interface ProcessRow extends OtherProcess {
  hears: boolean
  seenAt: number
  missedBy: readonly string[]
  missedAt: number
}

const SEEN_WITHIN_MS = 3 * SECOND_MS
const MISSED_WITHIN_MS = 2 * SECOND_MS
const ORPHANS_MAX = 100

export class Records {
  readonly #options: RecordsOptions
  readonly #leases = new Map<FixtureId, Lease>()
  readonly #processes = new Map<string, ProcessRow>()

  constructor(options: RecordsOptions) {
    this.#options = options
  }

  /** The lease of a match, expired or not. */
  leaseOf(matchId: FixtureId): Lease | undefined {
    return this.#leases.get(matchId)
  }

  leases(owner: string, ttlMs: number): Leases & Ownership {
    const { now, unsettled, onAcquired } = this.#options
    const running = (matchId: FixtureId): Lease | undefined => {
      const lease = this.#leases.get(matchId)
      return lease !== undefined && lease.expiresAt > now() ? lease : undefined
    }
    const own = (matchId: FixtureId, epoch: number): Lease | undefined => {
      const lease = this.#leases.get(matchId)
      return lease?.epoch === epoch ? lease : undefined
    }
    return {
      acquire: async (matchId) => {
        const holder = running(matchId)
        if (holder !== undefined && holder.owner !== owner) return null
        const former = this.#leases.get(matchId)
        const lease = { owner, epoch: (former?.epoch ?? 0) + 1, expiresAt: now() + ttlMs }
        this.#leases.set(matchId, lease)
        onAcquired(matchId, lease, former)
        return lease.epoch
      },
      renew: async (matchId, epoch) => {
        const lease = own(matchId, epoch)
        if (lease !== undefined) lease.expiresAt = now() + ttlMs
        return lease !== undefined
      },
      release: async (matchId, epoch) => {
        const lease = own(matchId, epoch)
        if (lease !== undefined) lease.expiresAt = -Infinity
      },
      ownerOf: async (matchId) => running(matchId)?.owner ?? null,
      elsewhere: async () => unsettled().filter((matchId) => (running(matchId)?.owner ?? owner) !== owner),
      orphans: async (here) => {
        const hosted = new Set(here)
        const isOrphan = (matchId: FixtureId): boolean => (running(matchId)?.owner ?? owner) === owner
        return unsettled()
          .filter((matchId) => !hosted.has(matchId) && isOrphan(matchId))
          .slice(0, ORPHANS_MAX)
      },
    }
  }

  registry(self: OtherProcess): Registry {
    const { now } = this.#options
    const rows = this.#processes
    return {
      seen: async (hears) => {
        const row = rows.get(self.id)
        if (row === undefined) rows.set(self.id, { ...self, hears, seenAt: now(), missedBy: [], missedAt: -Infinity })
        else Object.assign(row, { hears, seenAt: now() })
        for (const { id, seenAt } of rows.values()) if (seenAt < now() - MINUTE_MS) rows.delete(id)
        return [...rows.values()]
          .filter((other) => other.id !== self.id && other.hears && other.seenAt > now() - SEEN_WITHIN_MS)
          .map(({ id, runsMatches }) => ({ id, runsMatches }))
          .toSorted((a, b) => (a.id < b.id ? -1 : 1))
      },
      missed: async (process, witnesses) => {
        const row = rows.get(process)
        if (row === undefined) return { witnesses: 0, matches: [] }
        const before = row.missedAt > now() - MISSED_WITHIN_MS ? row.missedBy.filter((by) => by !== self.id) : []
        row.missedBy = [...before, self.id]
        row.missedAt = now()
        const count = row.missedBy.length
        if (count < witnesses) return { witnesses: count, matches: [] }
        const expired = [...this.#leases].filter(([, lease]) => lease.owner === process && lease.expiresAt > now())
        for (const [, lease] of expired) lease.expiresAt = -Infinity
        return { witnesses: count, matches: expired.map(([matchId]) => matchId) }
      },
      left: async () => void rows.delete(self.id),
    }
  }
}
