/**
 * The connection between the actors and their store. Every call waits here until the simulation delivers, delays or
 * cuts it, so that the simulation alone decides the order of events.
 */
import type { InstrumentId } from '../../actors/kernel/ids.ts'
import { InvariantBroken } from '../../actors/kernel/assert.ts'
import type { TradingRules } from '../../actors/kernel/limits.ts'
import type { Batch, InstrumentHistory, MatchStore, Verdict } from '../../actors/match/store.ts'
import type { MemoryMatchStore } from '../support/memory-store.ts'
import type { Owner } from './owner.ts'
import { Violation } from './violation.ts'

export class LostConnection extends Error {
  override name = 'LostConnection'
}

/** A commit under way: requested, then carried out, then answered; or cut off anywhere in between. */
export interface CommitCall {
  readonly kind: 'commit'
  readonly owner: Owner
  readonly batch: Batch
  /** The rules it was decided by, and the published prices. */
  readonly rules: TradingRules
  readonly published: ReadonlyMap<InstrumentId, number>
  /** The store's verdict, once it has been carried out. */
  verdict: Verdict | null
  /** The digest of the match as this commit left it. */
  after: string
  readonly answer: (verdict: Verdict) => void
  readonly fail: (error: Error) => void
}

export interface HistoriesCall {
  readonly kind: 'histories'
  readonly owner: Owner
  readonly ids: readonly InstrumentId[]
  readonly answer: (histories: ReadonlyMap<InstrumentId, InstrumentHistory>) => void
  readonly fail: (error: Error) => void
}

export type Call = CommitCall | HistoriesCall

export class Wire {
  readonly calls: Call[] = []
  /** Commits whose caller is gone or received a failure, but which may still reach the store. */
  readonly ghosts: CommitCall[] = []
  readonly #store: MemoryMatchStore

  constructor(store: MemoryMatchStore) {
    this.#store = store
  }

  /** The store as an owner sees it. */
  storeFor(owner: () => Owner, rules: () => TradingRules): MatchStore {
    return {
      load: (id) => this.#store.load(id),
      recall: (user, key) => this.#store.recall(user, key),
      histories: (ids) =>
        new Promise((answer, fail) => this.calls.push({ kind: 'histories', owner: owner(), ids, answer, fail })),
      commit: (batch) =>
        new Promise((answer, fail) => {
          const { published: known, actor } = owner()
          const published = new Map([...actor.view.instruments()].map((i) => [i.id, known.get(i.id) ?? i.start]))
          const call = {
            kind: 'commit',
            owner: owner(),
            batch,
            rules: rules(),
            published,
            verdict: null,
            after: '',
          } as const
          this.calls.push({ ...call, answer, fail })
        }),
    }
  }

  /**
   * Lets the store carry out a commit; null if it throws because two matches listed a player at the same moment. Any
   * other error is a violation, since the game must not request an impossible commit.
   */
  async carryOut(call: CommitCall): Promise<Verdict | null> {
    try {
      call.verdict = await this.#store.commit(call.batch)
      return call.verdict
    } catch (error) {
      if (error instanceof InvariantBroken && error.message.endsWith('is held by another match')) return null
      if (error instanceof InvariantBroken) throw new Violation('ledger', `the store cannot do it: ${error.message}`)
      throw error
    }
  }

  /** Removes it, also from the commits without a caller. */
  take(call: Call): void {
    const at = this.calls.indexOf(call)
    if (at >= 0) this.calls.splice(at, 1)
  }

  /** The caller is gone: its commits may still arrive, or not. */
  cutOff(owner: Owner, arrives: () => boolean): void {
    for (const call of this.calls.filter((c) => c.owner === owner)) {
      this.take(call)
      if (call.kind === 'commit' && call.verdict === null && arrives()) this.ghosts.push(call)
    }
  }
}
