/** The contract of the leases of matches and of the list of processes, on which the cluster relies. */
import { beforeEach, expect, it } from 'vitest'
import { type FixtureId, fixtureId } from '../../actors/kernel/ids.ts'
import type { Leases } from '../../actors/match/store.ts'
import type { Ownership } from '../../rooms/cluster/peers.ts'
import type { Registry } from '../../rooms/cluster/presence.ts'

/** A database in which a test can make time pass. */
export interface RecordsBench {
  leasesOf(owner: string): Leases & Ownership
  at(process: string, runsMatches?: boolean): Registry
  /** Stores matches, without a lease. */
  store(matches: readonly { readonly id: FixtureId; readonly isSettled: boolean }[]): Promise<void>
  /** The lease of a match runs out. */
  expire(matchId: FixtureId): Promise<void>
  /** A process has not been seen for so many seconds more. */
  unseen(process: string, secs: number): Promise<void>
  /** All that was missed was missed so many seconds earlier. */
  missedBefore(secs: number): Promise<void>
}

let matches = 800
const match = (): FixtureId => fixtureId(++matches)

export function leasesContract(bench: () => RecordsBench): void {
  const [ada, bob] = [() => bench().leasesOf('ada'), () => bench().leasesOf('bob')]

  it('[Q1] a running lease cannot be taken; an expired or released one can, under a greater epoch', async () => {
    const id = match()
    expect(await ada().ownerOf(id)).toBeNull()
    expect(await ada().acquire(id)).toBe(1)
    expect(await bob().acquire(id)).toBeNull()
    expect(await bob().ownerOf(id)).toBe('ada')
    expect(await ada().acquire(id)).toBe(2)
    await bench().expire(id)
    expect(await bob().ownerOf(id)).toBeNull()
    expect(await bob().acquire(id)).toBe(3)
    // A former owner can neither renew nor release a lease it has lost.
    expect(await ada().renew(id, 2)).toBe(false)
    await ada().release(id, 2)
    expect(await ada().acquire(id)).toBeNull()
    await bob().release(id, 3)
    expect(await ada().acquire(id)).toBe(4)
  })

  it('[Q3] every process finds the unsettled matches without a running owner, and its own that do not run', async () => {
    const [never, ended, alices, bobs, here, over] = [match(), match(), match(), match(), match(), match()]
    const unsettled = [never, ended, alices, bobs, here].map((id) => ({ id, isSettled: false }))
    await bench().store([...unsettled, { id: over, isSettled: true }])
    await bob().acquire(ended)
    await bench().expire(ended)
    await ada().acquire(alices)
    await bob().acquire(bobs)
    expect(await ada().orphans([here])).toEqual([never, ended, alices])
    expect(await ada().elsewhere()).toEqual([bobs])
  })
}

/** `fresh` makes every test begin without processes and leases. */
export function processesContract(bench: () => RecordsBench, { fresh }: { fresh: () => Promise<void> | void }): void {
  beforeEach(fresh)
  const at = (process: string, runsMatches?: boolean) => bench().at(process, runsMatches)
  const leasesOf = (owner: string) => bench().leasesOf(owner)

  it('[Q18] a process learns which others run and hear, for as long as they say so', async () => {
    expect(await at('a').seen(true)).toEqual([])
    expect(await at('b', false).seen(true)).toEqual([{ id: 'a', runsMatches: true }])
    expect(await at('c').seen(false)).toEqual([
      { id: 'a', runsMatches: true },
      { id: 'b', runsMatches: false },
    ])
    expect(await at('a').seen(true)).toEqual([{ id: 'b', runsMatches: false }])
    await bench().unseen('b', 4)
    expect(await at('a').seen(true)).toEqual([])
    await at('a').left()
    expect(await at('c').seen(true)).toEqual([])
  })

  it('[Q19] two witnesses, or one where there is no second, release the matches of a process and of no other', async () => {
    const [first, second, others] = [match(), match(), match()]
    for (const id of ['a', 'b', 'c', 'd']) await at(id).seen(true)
    for (const id of [first, second]) await leasesOf('a').acquire(id)
    await leasesOf('b').acquire(others)
    expect(await at('c').missed('a', 2)).toEqual({ witnesses: 1, matches: [] })
    expect(await at('c').missed('a', 2)).toEqual({ witnesses: 1, matches: [] }) // the same one
    const { witnesses, matches: released } = await at('d').missed('a', 2)
    expect([witnesses, new Set(released)]).toEqual([2, new Set([first, second])])
    expect(await at('b').missed('a', 2)).toEqual({ witnesses: 3, matches: [] })
    expect(await leasesOf('d').ownerOf(others)).toBe('b')
    expect(await leasesOf('d').acquire(first)).toBe(2)
    // It was alive: it has lost this match, and can renew the other.
    expect(await leasesOf('a').renew(first, 1)).toBe(false)
    expect(await leasesOf('a').renew(second, 1)).toBe(true)
    expect(await at('c').missed('b', 1)).toEqual({ witnesses: 1, matches: [others] })
  })

  it('[Q19] a witness of long ago does not count, nor one of a process that has left', async () => {
    const id = match()
    await at('a').seen(true)
    await leasesOf('a').acquire(id)
    expect(await at('c').missed('a', 2)).toEqual({ witnesses: 1, matches: [] })
    await bench().missedBefore(3)
    expect(await at('d').missed('a', 2)).toEqual({ witnesses: 1, matches: [] })
    await at('a').left()
    expect(await at('c').missed('a', 2)).toEqual({ witnesses: 0, matches: [] })
    expect(await leasesOf('c').ownerOf(id)).toBe('a')
  })
}
