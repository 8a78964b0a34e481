/** Cases of a feed that errs on the wire: what the poller of a running server makes of whole answers. */
import { createServer } from 'node:http'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { listen } from '../../ops/rehearse/conformance/listen.ts'
import { DEFAULT_RULES } from '../../actors/kernel/limits.ts'
import type { FeedUpdate, MatchInfo } from '../../actors/match/messages.ts'
import type { MatchDesk } from '../../rooms/match/match-desk.ts'
import { ProviderPoller } from '../../rooms/sources/provider-poller.ts'
import { createProvider } from '../../src/provider/client.ts'
import { MemoryMatchStore } from '../support/memory-store.ts'
import { TestWorld } from '../support/test-world.ts'
import { otherOf, pollsOf, readCase } from './feed-case.ts'

interface Answer {
  readonly status?: number
  readonly body: unknown
}

/** A bound for a busy machine. */
const SOON = { timeout: 10_000, interval: 5 }
const NOTHING_ON = { body: { message: 'No result(s) found matching your request.' } } as const
const open: (() => Promise<void>)[] = []
afterEach(async () => {
  for (const close of open.splice(0).toReversed()) await close()
})

/** A server whose provider answers a path, for the nth time from 0, with this. */
async function serve(answer: (path: string, nth: number) => Answer, running = async (): Promise<never[]> => []) {
  const asked: string[] = []
  const server = createServer((request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? '/', 'http://provider')
    const path = `${pathname.replace('/v3/football/', '')}${searchParams.has('cursor') ? ' cursor' : ''}`
    const { status = 200, body } = answer(path, asked.filter((one) => one === path).length)
    asked.push(path)
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
  })
  const port = await listen(server, 0)
  open.push(() => new Promise((resolve) => server.close(() => resolve())))
  const world = new TestWorld()
  /** What the log and the reports said: the event, and the error's words. */
  const said: { readonly event: string; readonly words: string }[] = []
  const heard: number[] = []
  const calendar: number[] = []
  const desk = { feed: async ({ snapshot }: FeedUpdate) => heard.push(snapshot.fixtureId) }
  const note = async (matches: readonly MatchInfo[]): Promise<void> => {
    // As PostgreSQL: a year of five digits is no date to it, and fails the whole statement.
    const unstorable = matches.find(({ startsAt }) => new Date(startsAt).toISOString().startsWith('+'))
    if (unstorable !== undefined) throw new Error(`the date of ${unstorable.matchId} cannot be stored`)
    calendar.push(...matches.map(({ matchId }) => matchId))
  }
  const options = {
    provider: createProvider({ url: `http://127.0.0.1:${port}`, token: 'token', timeoutMs: 2_000, world }),
    calendar: {
      note,
      replace: (_from: number, _to: number, matches: readonly MatchInfo[]) => note(matches),
      running,
    },
    faults: { note: async () => undefined },
    pollMs: 1,
    log: (event: string, fields?: object) => said.push({ event, words: JSON.stringify(fields ?? {}) }),
    desk: desk as unknown as MatchDesk,
    leases: new MemoryMatchStore(),
    leaseTtlMs: 60_000,
    world,
    rules: () => DEFAULT_RULES,
    report: (event: string, error: unknown) => said.push({ event, words: String(error) }),
  }
  const poller = new ProviderPoller(options)
  open.push(() => poller.stop())
  poller.start()
  const failures = () => said.filter(({ event }) => event === 'provider_failed').map(({ words }) => words)
  return { asked, said, heard, calendar, poller, failures }
}

const [fixtureA] = pollsOf(readCase('rating-zero-washout'))
const fixtureB = otherOf({ fixture: 8_001, payload: {} })

/** Fails for good with an answer, and returns what was said and asked until then. */
async function failing(answer: Answer) {
  const served = await serve(() => answer)
  await vi.waitUntil(() => served.failures().length > 0, SOON)
  await vi.waitUntil(() => served.asked.length > 2, SOON)
  return served
}

describe('a feed that errs on the wire', () => {
  it('raw-200-error-body: an error with status 200 is a failure, and no second request follows', async () => {
    const { asked, failures, poller } = await failing({
      body: { message: 'Too many requests for this entity.', code: 5005 },
    })
    expect(failures()[0]).toContain('Too many requests for this entity.')
    expect(poller.status().failing).toBeGreaterThan(0)
    expect(new Set(asked)).toEqual(new Set(['livescores/inplay']))
  })

  it('raw-403-include: what the plan does not include is named once', async () => {
    const message = "You do not have access to the 'lineups.details' include"
    const { failures } = await failing({ status: 403, body: { message, code: 5002 } })
    expect(failures()).toEqual([expect.stringContaining(message)])
  })

  it('raw-wrong-url-404: a wrong address is a failure with its words', async () => {
    const message = 'The route v3/footbal/livescores/inplay could not be found.'
    const { failures } = await failing({ status: 404, body: { message } })
    expect(failures()[0]).toContain(`the provider answered 404: ${message}`)
  })

  it('raw-calendar-fails-once: the calendar is read again at the next poll', async () => {
    const { asked, calendar } = await serve((path, nth) => {
      if (!path.startsWith('fixtures/between')) return NOTHING_ON
      return nth === 0 ? { status: 500, body: { message: 'Server Error' } } : { body: { data: [fixtureB] } }
    })
    await vi.waitUntil(() => calendar.length > 0, SOON)
    expect(calendar).toContain(8_001)
    // The poll whose calendar failed, and the one after it; one more may have begun.
    expect(asked.filter((path) => path === 'livescores/inplay').length).toBeLessThanOrEqual(3)
  })

  it('raw-inplay-pages: the second page of matches in play is read, or its absence is told', async () => {
    const { heard, said } = await serve((path) => {
      if (path === 'livescores/inplay cursor') return { body: { data: [fixtureB], pagination: { has_more: false } } }
      if (path !== 'livescores/inplay') return NOTHING_ON
      return { body: { data: [fixtureA], pagination: { has_more: true, next_cursor: 'two' } } }
    })
    await vi.waitUntil(() => heard.includes(8_001) || said.some(({ event }) => event === 'provider_failed'), SOON)
    expect(heard.length === 0 || heard.includes(9_309)).toBe(true)
  })

  it('raw-remaining-zero: a quota at zero pauses the polls, and is told once', async () => {
    const limit = { resets_in_seconds: 3_600, remaining: 0 }
    const { said, asked } = await serve(() => ({ body: { data: [fixtureA], rate_limit: limit } }))
    const told = () => said.filter(({ event }) => event !== 'provider_polling_started')
    await vi.waitUntil(() => told().length > 0, SOON)
    expect(told()).toHaveLength(1)
    expect(new Set(asked)).toEqual(new Set(['livescores/inplay']))
  })

  it('poison-timestamp-ms-ns: one fixture with an impossible date harms no other', async () => {
    const [bad] = pollsOf(readCase('poison-timestamp-ms-ns'))
    const { calendar, heard } = await serve((path) =>
      path === 'livescores/inplay' ? { body: { data: [bad, fixtureA] } } : { body: { data: [bad, fixtureB] } },
    )
    await vi.waitUntil(() => calendar.includes(8_001) && heard.includes(9_309), SOON)
  })

  it('a database that is away is no fault of the provider, which is not asked', async () => {
    let isAway = true
    const { asked, said, poller } = await serve(
      (path) => (path === 'livescores/inplay' ? NOTHING_ON : { body: { data: [fixtureB] } }),
      async () => {
        if (isAway) throw new Error('Connection terminated')
        return []
      },
    )
    await vi.waitUntil(() => said.length > 2, SOON)
    expect(asked).toEqual([])
    expect(poller.status()).toMatchObject({ polls: 0, failures: 0, failing: 0, silentSince: 0 })
    isAway = false
    await vi.waitUntil(() => poller.status().polls > 0, SOON)
    expect(poller.status()).toMatchObject({ failures: 0, faults: { request: 0 } })
    expect(new Set(said.map(({ event }) => event))).toEqual(
      new Set(['provider_polling_started', 'running_matches_unread']),
    )
  })
})
