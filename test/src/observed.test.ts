import { describe, expect, it } from 'vitest'
import type { Batch, Leases, MatchStore } from '../../actors/match/store.ts'
import { createLog } from '../../src/observe/log.ts'
import { type CommitFacts, observedLeases, observedStore } from '../../src/observe/observed.ts'
import { KICK_OFF, MATCH } from '../support/fixtures.ts'
import { MemoryMatchStore } from '../support/memory-store.ts'
import { TestWorld } from '../support/test-world.ts'

const BATCH: Batch = {
  id: 'b1',
  matchId: MATCH,
  epoch: 1,
  at: KICK_OFF,
  events: [],
  instruments: [],
  ticks: [],
  keyed: [],
  watch: [],
  requests: ['r1', 'r2'],
  openPositionsMax: 100,
}

function observe(commit: MatchStore['commit']) {
  const world = new TestWorld()
  const store = new MemoryMatchStore()
  store.commit = commit
  const seen: CommitFacts[] = []
  const lines: unknown[] = []
  const log = createLog({ level: 'debug', world, readable: false, write: (line) => lines.push(JSON.parse(line)) })
  return { world, seen, lines, store: observedStore(store, { world, log, observe: (facts) => seen.push(facts) }) }
}

describe('an observed store', () => {
  it('reports the verdict and duration of each commit, including faults', async () => {
    const parts = observe(async () => {
      parts.world.pass(7)
      return { kind: 'fenced' }
    })
    expect(await parts.store.commit(BATCH)).toEqual({ kind: 'fenced' })
    expect(parts.seen).toEqual([{ batch: BATCH, verdict: 'fenced', ms: 7 }])

    const broken = observe(() => Promise.reject(new Error('away')))
    await expect(broken.store.commit(BATCH)).rejects.toThrow('away')
    expect(broken.seen).toMatchObject([{ verdict: 'fault' }])
  })

  it('logs the requests that a commit answers', async () => {
    const { store, lines } = observe(async () => ({ kind: 'committed', wallets: new Map() }))
    await store.commit(BATCH)
    expect(lines).toMatchObject([
      {
        level: 'debug',
        event: 'batch_committed',
        batch: 'b1',
        matchId: MATCH,
        epoch: 1,
        verdict: 'committed',
        requests: ['r1', 'r2'],
      },
    ])
  })
})

it('reports a lease lost to another process, but not a renewal that failed', async () => {
  let lost = 0
  const answers: (boolean | Error)[] = [true, false, new Error('away')]
  const store: Leases = new MemoryMatchStore()
  store.renew = async () => {
    const answer = answers.shift()
    if (answer instanceof Error) throw answer
    return answer ?? false
  }
  const leases = observedLeases(store, () => lost++)
  expect(await leases.renew(MATCH, 1)).toBe(true)
  expect(await leases.renew(MATCH, 1)).toBe(false)
  await expect(leases.renew(MATCH, 1)).rejects.toThrow('away')
  expect(lost).toBe(1)
})
