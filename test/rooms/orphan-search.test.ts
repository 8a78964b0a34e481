import { expect, it } from 'vitest'
import { type FixtureId, fixtureId } from '../../actors/kernel/ids.ts'
import { OrphanSearch, type OrphanSearchOptions } from '../../rooms/match/orphan-search.ts'
import { TestWorld } from '../support/test-world.ts'

const ids = (count: number): FixtureId[] => Array.from({ length: count }, (_, n) => fixtureId(n + 1))

/** A search among these orphans, and what it has taken, in order. */
function searching(orphans: FixtureId[], over: Partial<OrphanSearchOptions> = {}) {
  const taken: FixtureId[] = []
  const hosted = new Map<FixtureId, unknown>()
  const search = new OrphanSearch({
    ownership: { orphans: async (running) => orphans.filter((id) => !running.includes(id)) },
    hosted,
    peers: null,
    world: new TestWorld(),
    isOff: () => false,
    takeUp: async (matchId) => {
      taken.push(matchId)
      hosted.set(matchId, {})
    },
    ...over,
  })
  return { search, taken, hosted }
}

it('[Q3] takes up every orphan once, also one that cannot be taken up', async () => {
  const tried: FixtureId[] = []
  const { search } = searching(ids(9), { takeUp: async (matchId) => void tried.push(matchId) })
  await search.look()
  expect(tried.toSorted((a, b) => a - b)).toEqual(ids(9))
})

it('processes that look at the same time begin with different orphans', async () => {
  const orders = await Promise.all(
    [1, 2, 3].map(async (seed) => {
      const { search, taken } = searching(ids(20), { world: new TestWorld({ seed }) })
      await search.look()
      return taken.join()
    }),
  )
  expect(new Set(orders).size).toBe(3)
})

it('leaves what another process has taken while this one waited', async () => {
  const orphans = ids(6)
  const { search, taken } = searching(orphans, {
    // Another process is faster with every even one.
    peers: {
      isNext: async (matchId) => {
        if (matchId % 2 === 1) return true
        orphans.splice(orphans.indexOf(matchId), 1)
        return false
      },
    },
  })
  await search.look()
  expect(taken.toSorted((a, b) => a - b)).toEqual([1, 3, 5])
})

it('looks once for all who ask meanwhile, and finds what has come since', async () => {
  const orphans = ids(2)
  let queries = 0
  const { search, taken } = searching(orphans, {
    ownership: {
      orphans: async (running) => {
        queries++
        return orphans.filter((id) => !running.includes(id))
      },
    },
  })
  const looks = [search.look(), search.look(), search.look()]
  orphans.push(fixtureId(77))
  looks.push(search.look())
  await Promise.all(looks)
  expect(taken).toContain(77)
  expect(queries).toBeLessThan(8)
})

it('ends when this process takes no matches any more', async () => {
  const tried: FixtureId[] = []
  const { search } = searching(ids(5), {
    isOff: () => tried.length === 2,
    takeUp: async (matchId) => void tried.push(matchId),
  })
  await search.look()
  expect(tried).toHaveLength(2)
})
