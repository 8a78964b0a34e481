import { expect, it, vi } from 'vitest'
import type { FeedUpdate } from '../../actors/match/messages.ts'
import { DEFAULT_RULES } from '../../actors/kernel/limits.ts'
import type { FixtureSnapshot } from '../../actors/market/fixture.ts'
import type { MatchDesk } from '../../rooms/match/match-desk.ts'
import type { ProviderAnswer } from '../../rooms/sources/provider.ts'
import { ProviderPoller } from '../../rooms/sources/provider-poller.ts'
import { MATCH, snapshot } from '../support/fixtures.ts'
import { MemoryMatchStore } from '../support/memory-store.ts'
import { TestWorld } from '../support/test-world.ts'

const EXPECTED = { home: 1.7, away: 0.9 }

it('a match in play is told the odds of the calendar, and its own where the provider sends some', async () => {
  const answer = (fixtures: readonly FixtureSnapshot[]): ProviderAnswer => ({
    fixtures,
    sources: new Map(),
    unreadable: [],
    allowance: null,
  })
  const own = { home: 1, away: 2 }
  const inPlay = vi
    .fn<() => Promise<ProviderAnswer>>()
    .mockResolvedValue(answer([snapshot({ expectedGoals: own })]))
    .mockResolvedValueOnce(answer([]))
    .mockResolvedValueOnce(answer([snapshot()]))
  const heard: FixtureSnapshot['expectedGoals'][] = []
  const desk = { feed: async ({ snapshot: seen }: FeedUpdate) => heard.push(seen.expectedGoals) }
  const asked = vi.fn<() => void>()
  const poller = new ProviderPoller({
    provider: {
      inPlay,
      fixtures: async () => answer([]),
      calendar: async () => {
        asked()
        return answer([snapshot({ state: 'NS', periods: [], expectedGoals: EXPECTED })])
      },
    },
    calendar: { note: async () => undefined, replace: async () => undefined, running: async () => [] },
    pollMs: 1,
    log: () => undefined,
    desk: desk as unknown as MatchDesk,
    leases: new MemoryMatchStore(),
    leaseTtlMs: 60_000,
    world: new TestWorld(),
    rules: () => DEFAULT_RULES,
    report: (what, error) => {
      throw new Error(what, { cause: error })
    },
  })
  poller.start()
  await vi.waitUntil(() => heard.length >= 2)
  await poller.stop()
  expect(snapshot().fixtureId).toBe(MATCH)
  expect(heard.slice(0, 2)).toEqual([EXPECTED, own])
  expect(asked).toHaveBeenCalledTimes(1)
})
