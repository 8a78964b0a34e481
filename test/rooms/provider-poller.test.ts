import { afterEach, expect, it, vi } from 'vitest'
import type { FeedUpdate } from '../../actors/match/messages.ts'
import { fixtureId } from '../../actors/kernel/ids.ts'
import { DEFAULT_RULES } from '../../actors/kernel/limits.ts'
import type { SaidFixture } from '../../actors/market/fixture.ts'
import type { MatchDesk } from '../../rooms/match/match-desk.ts'
import type { FeedFault, Provider, ProviderAnswer, RunningMatch } from '../../rooms/sources/provider.ts'
import { ProviderPoller } from '../../rooms/sources/provider-poller.ts'
import { MATCH, snapshot } from '../support/fixtures.ts'
import { MemoryMatchStore } from '../support/memory-store.ts'
import { TestWorld } from '../support/test-world.ts'

afterEach(() => void vi.useRealTimers())

const EXPECTED = { home: 1.7, away: 0.9 }

/** What a poller needs besides its provider. */
const around = (desk: object) => ({
  calendar: { note: async () => undefined, replace: async () => undefined, running: async () => [] },
  faults: { note: async () => undefined },
  pollMs: 1,
  log: () => undefined,
  desk: desk as MatchDesk,
  leases: new MemoryMatchStore(),
  leaseTtlMs: 60_000,
})

it('a match in play is told the odds of the calendar, and its own where the provider sends some', async () => {
  const answer = (fixtures: readonly SaidFixture[]): ProviderAnswer => ({
    fixtures,
    sources: new Map(),
    unreadable: [],
    refused: new Map(),
    allowance: null,
  })
  const own = { home: 1, away: 2 }
  const inPlay = vi
    .fn<() => Promise<ProviderAnswer>>()
    .mockResolvedValue(answer([snapshot({ expectedGoals: own })]))
    .mockResolvedValueOnce(answer([]))
    .mockResolvedValueOnce(answer([snapshot()]))
  const heard: SaidFixture['expectedGoals'][] = []
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
    ...around(desk),
    world: new TestWorld(),
    rules: () => DEFAULT_RULES,
    report: (what, error) => {
      throw new Error(what, { cause: error })
    },
  })
  poller.start()
  await vi.waitUntil(() => heard.length >= 2, { timeout: 30_000 })
  await poller.stop()
  expect(snapshot().fixtureId).toBe(MATCH)
  expect(heard.slice(0, 2)).toEqual([EXPECTED, own])
  expect(asked).toHaveBeenCalledTimes(1)
})

it('[V8] a fixture that cannot be stored, and a calendar that fails, cost the others nothing', async () => {
  const listed = [
    snapshot({ state: 'NS', periods: [] }),
    snapshot({ fixtureId: fixtureId(7), state: 'NS', periods: [] }),
  ]
  const answer = (fixtures: readonly SaidFixture[]): ProviderAnswer => ({
    fixtures,
    sources: new Map(),
    unreadable: [{ matchId: 9, detail: 'no teams' }],
    refused: new Map(),
    allowance: null,
  })
  const stored = new Set<number>()
  const kept: FeedFault[] = []
  const reported: unknown[] = []
  let calendars = 0
  const world = new TestWorld()
  const poller = new ProviderPoller({
    provider: {
      inPlay: async () => {
        world.pass(1)
        return answer(listed)
      },
      fixtures: async () => answer([]),
      calendar: async () => {
        if (++calendars < 3) throw new Error('504')
        return answer([])
      },
    },
    calendar: {
      note: async (fixtures) => {
        if (fixtures.some(({ matchId }) => matchId === 7)) throw new RangeError('Invalid time value')
        for (const { matchId } of fixtures) stored.add(matchId)
      },
      replace: async () => undefined,
      running: async () => [],
    },
    faults: { note: async (faults) => void kept.push(...faults) },
    pollMs: 1,
    log: () => undefined,
    desk: {} as unknown as MatchDesk,
    leases: new MemoryMatchStore(),
    leaseTtlMs: 60_000,
    world,
    rules: () => DEFAULT_RULES,
    report: (event, _, facts) => reported.push([event, facts?.['matchId'] ?? facts?.['request']]),
  })
  poller.start()
  await vi.waitUntil(() => calendars === 3, { timeout: 30_000 })
  await poller.stop()
  expect([...stored]).toEqual([MATCH])
  expect(reported).toEqual([
    ['fixture_skipped', 9],
    ['fixture_skipped', 7],
    ['provider_failed', 'calendar'],
  ])
  const { failing, faults, silentSince } = poller.status()
  expect({ failing, request: faults.request, isAnswered: silentSince === world.steady.now() }).toEqual({
    failing: 0,
    request: 2,
    isAnswered: true,
  })
  expect(faults.calendar).toBeGreaterThan(1)
  expect(kept.map(({ reason, matchId }) => `${reason} ${matchId}`)).toEqual(
    expect.arrayContaining(['unreadable 9', 'calendar 7', 'request null']),
  )
})

/** A poller that is told these answers, the last one for ever, and hears what it sends to the matches. */
const polling = (...answers: readonly Partial<ProviderAnswer>[]) => pollingOf(answers)

function pollingOf(
  answers: readonly Partial<ProviderAnswer>[],
  other: Partial<Provider> = {},
  running: readonly RunningMatch[] = [],
) {
  const world = new TestWorld()
  const heard: SaidFixture[] = []
  const reported: string[] = []
  let polls = 0
  const none = { fixtures: [], sources: new Map(), unreadable: [], refused: new Map(), allowance: null } as const
  const desk = { feed: async ({ snapshot: seen }: FeedUpdate) => heard.push(seen), hasGivenBack: false }
  const parts = around(desk)
  const poller = new ProviderPoller({
    provider: {
      inPlay: async () => ({ ...none, ...answers[Math.min(polls++, answers.length - 1)] }),
      fixtures: async () => none,
      calendar: async () => none,
      ...other,
    },
    ...parts,
    calendar: { ...parts.calendar, running: async () => running },
    world,
    rules: () => DEFAULT_RULES,
    report: (event) => reported.push(event),
  })
  poller.start()
  return { poller, world, heard, reported, desk, leases: parts.leases, polls: () => polls }
}

it('[V2] the calendar leaves the last calls of a quota to the polls, by what it took last time', async () => {
  const of = (remaining: number) => ({ allowance: { remaining, resetsInSecs: 3_600 } })
  const none = { fixtures: [], sources: new Map(), unreadable: [], refused: new Map() } as const
  const calendar = vi.fn<() => Promise<ProviderAnswer>>(async () => ({ ...none, ...of(9_999_940) }))
  const ample = Array.from({ length: 360 }, () => of(10_000_000))
  const { poller } = pollingOf([...ample, of(60)], { calendar })
  await vi.waitUntil(() => poller.status().polls === 361, { timeout: 30_000 })
  expect(calendar).toHaveBeenCalledTimes(1)
  await poller.stop()
})

it('[V2] an allowance counts until it is renewed, also if the provider never tells of it again', async () => {
  const { poller, world, polls } = polling({ allowance: { remaining: 10_000, resetsInSecs: 5 } }, {})
  await vi.waitUntil(() => polls() > 2, { timeout: 30_000 })
  expect(poller.status().quotaLeft).toBe(10_000)
  world.pass(5_000)
  expect(poller.status().quotaLeft).toBeNull()
  await poller.stop()
})

it('[V8] of a fixture that is listed twice the row whose clock is ahead counts', async () => {
  const [period] = snapshot().periods
  const at = (elapsedSecs: number) => snapshot({ periods: period === undefined ? [] : [{ ...period, elapsedSecs }] })
  const { poller, heard } = polling({ fixtures: [at(60), at(120)] }, { fixtures: [at(130), at(60)] }, { fixtures: [] })
  await vi.waitUntil(() => heard.length >= 2, { timeout: 30_000 })
  await poller.stop()
  expect(heard.map(({ periods }) => periods[0]?.elapsedSecs)).toEqual([120, 130])
})

it('[V9] what could be read of a list that breaks off is taken, and the poll has failed all the same', async () => {
  const { poller, heard, reported } = polling({ fixtures: [snapshot()], incomplete: new Error('page 2: 500') })
  await vi.waitUntil(() => heard.length >= 1 && reported.length > 0, { timeout: 30_000 })
  await poller.stop()
  expect(reported).toEqual(['provider_failed'])
  expect(poller.status().failing).toBeGreaterThan(0)
})

it('[V9] what a list that breaks off leaves out is asked for by number', async () => {
  const asked: number[] = []
  const fixtures = async (ids: readonly number[]) => {
    asked.push(...ids)
    throw new Error('500')
  }
  const broken = { fixtures: [snapshot()], incomplete: new Error('page 2: 500') }
  const { poller } = pollingOf([broken], { fixtures }, [{ matchId: fixtureId(7), phase: 'live', feedSeq: 1 }])
  await vi.waitUntil(() => asked.length > 0, { timeout: 30_000 })
  await poller.stop()
  expect(new Set(asked)).toEqual(new Set([7]))
})

it('[V8] a calendar that takes long holds up no poll, and the pause that it is told holds for all', async () => {
  const { promise: read, reject: fail } = Promise.withResolvers<never>()
  const { poller, polls } = pollingOf([{ fixtures: [snapshot()] }], { calendar: () => read })
  await vi.waitUntil(() => polls() > 5, { timeout: 30_000 })
  expect(poller.status()).toMatchObject({ failing: 0, failures: 0 })
  fail(Object.assign(new Error('429'), { retryAfterMs: 3_600_000 }))
  await vi.waitUntil(() => poller.status().failures === 1, { timeout: 30_000 })
  const then = polls()
  const other = polling({ fixtures: [snapshot()] })
  await vi.waitUntil(() => other.polls() > 5, { timeout: 30_000 }) // as long as five polls take
  expect(polls()).toBe(then)
  await Promise.all([poller.stop(), other.poller.stop()])
})

it('[Q18] a process that has given its matches back leaves the polls to another, until it hears again', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval'] })
  const { poller, desk, leases, polls } = polling({})
  const [acquire, release] = [vi.spyOn(leases, 'acquire'), vi.spyOn(leases, 'release')]
  await vi.waitUntil(() => polls() > 0, { timeout: 30_000 })
  desk.hasGivenBack = true
  await vi.waitUntil(() => release.mock.calls.length > 0, { timeout: 30_000 })
  const then = polls()
  await vi.advanceTimersByTimeAsync(10_000)
  expect([poller.status().polling, polls(), acquire.mock.calls.length]).toEqual([false, then, 1])
  desk.hasGivenBack = false
  await vi.advanceTimersByTimeAsync(1_000)
  expect([poller.status().polling, acquire.mock.calls.length]).toEqual([true, 2])
  await poller.stop()
})

it('[Q1] a renewal that is under way is over before the lease is released', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval'] })
  const { poller, leases, polls } = polling({ allowance: { remaining: 10, resetsInSecs: 3_600 } })
  const { promise: renewed, resolve: renew } = Promise.withResolvers<boolean>()
  vi.spyOn(leases, 'renew').mockReturnValue(renewed)
  const release = vi.spyOn(leases, 'release')
  await vi.advanceTimersByTimeAsync(60_000)
  expect(polls()).toBe(1)
  const stopped = poller.stop()
  await vi.advanceTimersByTimeAsync(100)
  expect(release).not.toHaveBeenCalled()
  renew(true)
  await stopped
  expect(release).toHaveBeenCalledTimes(1)
})

it('[Q12] a stop waits a second at most for the provider, whose late answer is neither sent nor told', async () => {
  const none = { sources: new Map(), unreadable: [], refused: new Map(), allowance: null } as const
  const { promise: read, reject: fail } = Promise.withResolvers<never>()
  const { promise: listed, resolve: list } = Promise.withResolvers<ProviderAnswer>()
  const [calendar, inPlay] = [
    vi.fn<() => Promise<never>>(() => read),
    vi.fn<() => Promise<ProviderAnswer>>(() => listed),
  ]
  const pollers = [pollingOf([{}], { calendar }), pollingOf([], { inPlay })]
  await vi.waitUntil(() => calendar.mock.calls.length + inPlay.mock.calls.length === 2, { timeout: 30_000 })
  const releases = pollers.map(({ leases }) => vi.spyOn(leases, 'release'))
  await Promise.all(pollers.map(({ poller }) => poller.stop()))
  for (const release of releases) expect(release).toHaveBeenCalledTimes(1)
  fail(new Error('504'))
  list({ ...none, fixtures: [snapshot()], unreadable: [{ matchId: 9, detail: 'no teams' }] })
  for (let turn = 0; turn < 10; turn++) await new Promise(setImmediate)
  expect(pollers.flatMap(({ heard, reported }) => [heard, reported])).toEqual([[], [], [], []])
})

it('[V9] a provider that refuses from the start is silent since then, and again since a later start', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval'] })
  const refused = Object.assign(new Error('429'), { retryAfterMs: 3_600_000 })
  const { poller, world, leases } = pollingOf([], { inPlay: async () => Promise.reject(refused) })
  expect(poller.status().silentSince, 'before it polls').toBeNull()
  await vi.waitUntil(() => poller.status().failures > 0, { timeout: 30_000 })
  const begun = world.steady.now()
  world.pass(600_000)
  expect(poller.status()).toMatchObject({ polling: true, silentSince: begun })
  vi.spyOn(leases, 'renew').mockResolvedValueOnce(false)
  await vi.advanceTimersByTimeAsync(20_000)
  expect(poller.status().polling, 'its lease is lost').toBe(false)
  await vi.advanceTimersByTimeAsync(3_600_000)
  expect(poller.status()).toMatchObject({ polling: true, silentSince: begun + 600_000 })
  await poller.stop()
})

it('[V9] a poll counts when it has ended: one that fails never looks answered', async () => {
  const { promise: listed, reject: fail } = Promise.withResolvers<never>()
  const inPlay = vi.fn<() => Promise<never>>().mockReturnValue(listed)
  const { poller } = pollingOf([], { inPlay })
  await vi.waitUntil(() => inPlay.mock.calls.length > 0, { timeout: 30_000 })
  expect(poller.status()).toMatchObject({ polls: 0, failures: 0 })
  fail(new Error('504'))
  await vi.waitUntil(() => poller.status().failures > 0, { timeout: 30_000 })
  const { polls, failures } = poller.status()
  expect(polls).toBe(failures)
  await poller.stop()
})
