/** Wraps the match store and the leases, to record commits and lost leases. */
import type { World } from '../../actors/kernel/world.ts'
import type { Batch, Leases, MatchStore, Verdict } from '../../actors/match/store.ts'
import type { Log } from './log.ts'

export interface CommitFacts {
  readonly batch: Batch
  /** `fault`: the store threw, outcome unknown. */
  readonly verdict: Verdict['kind'] | 'fault'
  readonly ms: number
}

export interface ObservedStoreOptions {
  readonly world: Pick<World, 'steady'>
  readonly log: Log
  readonly observe: (facts: CommitFacts) => void
}

/** The same store, with each commit recorded, and logged at `debug` with the requests that it answers. */
export function observedStore(store: MatchStore, { world, log, observe }: ObservedStoreOptions): MatchStore {
  const record = (facts: CommitFacts): void => {
    observe(facts)
    const { batch, verdict, ms } = facts
    const { id, matchId, epoch, requests = [] } = batch
    log.debug('batch_committed', { batch: id, matchId, epoch, verdict, ms, events: batch.events.length, requests })
  }
  return {
    load: (matchId) => store.load(matchId),
    histories: (ids) => store.histories(ids),
    recall: (userId, idempotency) => store.recall(userId, idempotency),
    async commit(batch) {
      const startedAt = world.steady.now()
      let verdict: CommitFacts['verdict'] = 'fault'
      try {
        const result = await store.commit(batch)
        verdict = result.kind
        return result
      } finally {
        record({ batch, verdict, ms: world.steady.now() - startedAt })
      }
    },
  }
}

/** The same leases, with `lost` called for each lease that another process has taken. */
export function observedLeases(leases: Leases, lost: () => void): Leases {
  return {
    acquire: (matchId) => leases.acquire(matchId),
    release: (matchId, epoch) => leases.release(matchId, epoch),
    async renew(matchId, epoch) {
      const isOurs = await leases.renew(matchId, epoch)
      if (!isOurs) lost()
      return isOurs
    },
  }
}
