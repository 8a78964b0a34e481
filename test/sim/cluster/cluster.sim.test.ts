import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { fixtureId } from '../../../actors/kernel/ids.ts'
import { chanceFrom } from '../../../actors/replay/chance.ts'
import { leasesContract, processesContract, type RecordsBench } from '../../contract/records.ts'
import { pubSubContract } from '../../contract/pub-sub.ts'
import { edited } from '../../support/mutants.ts'
import { CLUSTER_MUTATIONS } from './mutations.ts'
import { SimulatedNetwork } from './network.ts'
import { Records } from './records.ts'
import { simulateCluster } from './simulation.ts'
import { VirtualTime } from './virtual-time.ts'

const ROOT = join(import.meta.dirname, '../../..')
const SMALL = { processes: 6, matches: 12 } as const
const PATIENCE_MS = 120_000

describe('a simulated cluster', () => {
  it(
    '[X14] every invariant holds through seed 1',
    async () => {
      const { counts, gaps } = await simulateCluster({ seed: 1, ...SMALL })
      expect(counts['traded']).toBeGreaterThan(100)
      expect(gaps.crowd.length).toBeGreaterThan(0)
      expect(gaps.drained.length).toBeGreaterThan(0)
    },
    PATIENCE_MS,
  )

  it(
    'the same seed is the same run',
    async () => {
      const run = { seed: 3, processes: 3, matches: 3 }
      expect(await simulateCluster(run)).toEqual(await simulateCluster(run))
    },
    PATIENCE_MS,
  )

  it('every mutation still applies, exactly once', () => {
    for (const { edits } of CLUSTER_MUTATIONS) {
      for (const edit of edits) {
        const text = readFileSync(join(ROOT, edit.file), 'utf8')
        expect(edited(text, edit)).not.toBe(text)
      }
    }
  })
})

describe('the simulated network', () => {
  pubSubContract(async () => {
    const time = new VirtualTime()
    const network = new SimulatedNetwork({ time, chance: chanceFrom(1), onMessage: () => undefined })
    const end = () => network.end({ state: 'running', parked: [] })
    let isPassing = false
    const timer = setInterval(() => {
      if (isPassing) return
      isPassing = true
      void time.pass(5).finally(() => (isPassing = false))
    }, 1)
    return { ends: [end(), end()], close: async () => clearInterval(timer) }
  })
})

describe('the simulated tables', () => {
  /** The clock of each test is its own. */
  const bench = (): RecordsBench => {
    let now = 1_000_000
    const settled = new Map<number, boolean>()
    const records = new Records({
      now: () => now,
      unsettled: () => [...settled].filter(([, isSettled]) => !isSettled).map(([id]) => fixtureId(id)),
      onAcquired: () => undefined,
    })
    return {
      leasesOf: (owner) => records.leases(owner, 5_000),
      at: (id, runsMatches = true) => records.registry({ id, runsMatches }),
      store: async (matches) => {
        for (const { id, isSettled } of matches) settled.set(id, isSettled)
      },
      expire: async (id) => {
        const lease = records.leaseOf(id)
        if (lease !== undefined) lease.expiresAt = now
      },
      unseen: async (_, secs) => void (now += secs * 1_000),
      missedBefore: async (secs) => void (now += secs * 1_000),
    }
  }

  describe('leases', () => {
    const one = bench()
    leasesContract(() => one)
  })

  describe('processes', () => {
    let current = bench()
    processesContract(() => current, {
      fresh: () => {
        current = bench()
      },
    })
  })
})
