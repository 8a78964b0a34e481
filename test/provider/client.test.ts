import { createServer } from 'node:http'
import { afterEach, describe, expect, it } from 'vitest'
import { fixtureId } from '../../actors/kernel/ids.ts'
import { instant, MINUTE_MS } from '../../actors/kernel/world.ts'
import { listen } from '../../ops/rehearse/conformance/listen.ts'
import { type MockOptions, startMock, type Trouble } from '../../ops/tools/provider-mock/mock.ts'
import { createProvider, ProviderTrouble } from '../../src/provider/client.ts'
import { cupTie } from '../support/cup-tie.ts'
import { TestWorld } from '../support/test-world.ts'

const TOKEN = 'a-secret-token'
const world = new TestWorld()
const KICK_OFF = world.now()
const recording = cupTie()
const open: { close(): Promise<void> }[] = []
afterEach(async () => {
  for (const each of open.splice(0)) await each.close()
})

/** A bound for a busy machine. */
const PATIENCE_MS = 30_000
/** A test waits this long for a provider that does not answer. */
const SILENCE_MS = 2_000

async function setUp(
  over: Partial<MockOptions> = {},
  { token = TOKEN, timeoutMs = PATIENCE_MS }: { readonly token?: string; readonly timeoutMs?: number } = {},
) {
  const mock = await startMock({
    matches: [1, 2].map((n) => ({ recording, fixtureId: n, startsAt: KICK_OFF })),
    clock: () => KICK_OFF + 10 * MINUTE_MS,
    trouble: () => null,
    token: TOKEN,
    callsLeft: () => 1_234,
    ...over,
  })
  open.push(mock)
  const provider = createProvider({ url: mock.url, token, timeoutMs, world })
  return { mock, provider }
}

/** A server that answers every request with this. */
async function serve(answer: (path: string) => { status?: number; headers?: Record<string, string>; body: string }) {
  const asked: string[] = []
  const server = createServer((request, response) => {
    asked.push(request.url ?? '')
    const { status = 200, headers = {}, body } = answer(request.url ?? '')
    response.writeHead(status, headers).end(body)
  })
  const url = `http://127.0.0.1:${await listen(server, 0)}`
  open.push({ close: () => new Promise((resolve) => server.close(() => resolve())) })
  return { url, asked, provider: createProvider({ url, token: TOKEN, timeoutMs: PATIENCE_MS, world }) }
}

/** The error of a call. */
async function troubleOf(call: Promise<unknown>): Promise<ProviderTrouble> {
  const error: unknown = await call.then(
    () => null,
    (thrown: unknown) => thrown,
  )
  expect(error).toBeInstanceOf(ProviderTrouble)
  return error as ProviderTrouble
}

describe('the provider', () => {
  it('[V1] is asked for all matches in play at once, and for matches by number', async () => {
    const { mock, provider } = await setUp()
    const { fixtures, unreadable, allowance } = await provider.inPlay()
    expect(fixtures.map((one) => [one.fixtureId, one.state, one.sourceAt])).toEqual([
      [1, 'INPLAY_1ST_HALF', KICK_OFF],
      [2, 'INPLAY_1ST_HALF', KICK_OFF],
    ])
    expect(fixtures[0]?.players.length).toBeGreaterThan(22)
    expect(unreadable).toEqual([])
    expect(allowance).toEqual({ remaining: 1_234, resetsInSecs: 1_800 })
    expect((await provider.fixtures([fixtureId(2), fixtureId(9)])).fixtures.map((one) => one.fixtureId)).toEqual([2])
    expect(mock.asked.map((path) => path.split('?')[0])).toEqual([
      '/v3/football/livescores/inplay',
      '/v3/football/fixtures/multi/2,9',
    ])
  })

  it('[V1] receives the token in a header, which is never sent to another host', async () => {
    const { mock, provider } = await setUp({}, { token: 'wrong-but-secret' })
    const trouble = await troubleOf(provider.inPlay())
    expect(trouble.message).toBe('the provider answered 401: Unauthenticated.')
    expect(JSON.stringify([trouble.message, trouble.stack, String(trouble.cause), mock.asked])).not.toContain('secret')
    const moved = await serve(() => ({ status: 302, headers: { location: 'http://127.0.0.1:1/' }, body: '' }))
    expect((await troubleOf(moved.provider.inPlay())).message).toBe('the provider is unavailable')
  })

  it.each(['error', 'silence', 'cut', 'truncated', 'limited'] satisfies Trouble[])(
    'in trouble (%s) is one kind of error, and answers afterwards',
    async (wrong) => {
      const trouble: { now: Trouble | null } = { now: wrong }
      const { provider } = await setUp(
        { trouble: () => trouble.now },
        wrong === 'silence' ? { timeoutMs: SILENCE_MS } : {},
      )
      const { message, retryAfterMs } = await troubleOf(provider.inPlay())
      expect({ message, retryAfterMs }).toEqual(
        {
          error: { message: 'the provider answered 500: Server Error', retryAfterMs: null },
          silence: { message: `the provider took longer than ${SILENCE_MS} ms`, retryAfterMs: null },
          cut: { message: 'the provider is unavailable', retryAfterMs: null },
          truncated: {
            message: expect.stringMatching(/^the provider sent \d+ characters that are not a valid answer$/),
            retryAfterMs: null,
          },
          limited: {
            message: 'the provider answered 429: You have reached the rate limit for this entity.',
            retryAfterMs: 1_000,
          },
        }[wrong],
      )
      trouble.now = null
      expect((await provider.inPlay()).fixtures).toHaveLength(2)
    },
  )

  it('that is unreachable is a fault; without a header, the body shows when a rate limit ends', async () => {
    const gone = await serve(() => ({ body: '' }))
    for (const each of open.splice(0)) await each.close()
    expect((await troubleOf(gone.provider.inPlay())).message).toBe('the provider is unavailable')
    const body = JSON.stringify({ message: 'slow down', rate_limit: { resets_in_seconds: '90', remaining: 0 } })
    const limited = await serve(() => ({ status: 429, body }))
    expect((await troubleOf(limited.provider.inPlay())).retryAfterMs).toBe(90_000)
    for (const nonsense of ['', '[]', '"text"', 'null', '<html>']) {
      const { provider } = await serve(() => ({ body: nonsense }))
      await troubleOf(provider.inPlay())
    }
  })

  it('that finds no match has answered', async () => {
    const none = { fixtures: [], sources: new Map(), unreadable: [], refused: new Map(), allowance: null }
    const message = 'No result(s) found matching your request.'
    for (const [status, answer] of [
      [200, { message }],
      [404, { message }],
      [200, { data: [], message }],
      [404, { data: [], message: ` ${message}` }],
      [200, { data: [], message: '', error: false, errors: [] }],
    ] as const) {
      const { provider } = await serve(() => ({ status, body: JSON.stringify(answer) }))
      expect(await provider.inPlay()).toEqual(none)
    }
  })

  const SPENT = { message: 'Too many requests for this entity.', code: 5005 }
  const LIMIT = { rate_limit: { resets_in_seconds: 90, remaining: 0 } }
  it.each([
    [200, SPENT, 'the provider answered 200: Too many requests for this entity. (code 5005)', null],
    [200, { ...SPENT, ...LIMIT }, 'the provider answered 200: Too many requests for this entity. (code 5005)', 90_000],
    [200, { ...SPENT, data: [] }, 'the provider answered 200: Too many requests for this entity. (code 5005)', null],
    [200, { error: { message: 'internal' } }, 'the provider answered 200: no message', null],
    [200, { data: { error: 'internal' } }, 'the provider answered 200: no message', null],
    [200, { data: 'maintenance' }, 'the provider answered 200: no message', null],
    [200, { message: 'Under maintenance' }, 'the provider answered 200: Under maintenance', null],
    [200, { data: null, message: 'Server Error' }, 'the provider answered 200: Server Error', null],
    [200, { data: [], errors: { token: 'invalid' } }, 'the provider answered 200: no message', null],
    [200, { data: [], error: 'token is invalid' }, 'the provider answered 200: no message', null],
    [200, { data: [], message: 'Your plan has expired' }, 'the provider answered 200: Your plan has expired', null],
    [
      404,
      { message: 'The route v3/x could not be found.' },
      'the provider answered 404: The route v3/x could not be found.',
      null,
    ],
    [404, {}, 'the provider answered 404: no message', null],
  ])('[V9] an error never looks like a day without matches: %i %j', async (status, body, message, retryAfterMs) => {
    const { provider } = await serve(() => ({ status, body: JSON.stringify(body) }))
    expect(await troubleOf(provider.inPlay())).toMatchObject({ message, retryAfterMs })
  })

  it.each([
    ['7', 7_000],
    ['0', 0],
    [new Date(world.now() + 90_000).toUTCString(), 90_000],
    [new Date(world.now() - 90_000).toUTCString(), 0],
    ['soon', null],
    ['', null],
  ])('[V2] asks for a pause in seconds or with a date: Retry-After %j', async (header, retryAfterMs) => {
    for (const date of [new Date(world.now()).toUTCString(), 'no date']) {
      const headers = { 'retry-after': header, date }
      const { provider } = await serve(() => ({ status: 503, headers, body: '{}' }))
      expect((await troubleOf(provider.inPlay())).retryAfterMs).toBe(retryAfterMs)
    }
  })

  it('[V2] asks for a pause by its own clock, however far that is from ours', async () => {
    const [date, until] = [0, 2_000].map((ms) => new Date(world.now() + 3_000_000 + ms).toUTCString())
    const headers = { 'retry-after': until ?? '', date: date ?? '' }
    const { provider } = await serve(() => ({ status: 429, headers, body: '{}' }))
    expect((await troubleOf(provider.inPlay())).retryAfterMs).toBe(2_000)
  })

  it.each([null, '', ' ', false, -1, undefined])('[V2] may not say how many calls are left: %j', async (remaining) => {
    const body = JSON.stringify({ data: [], rate_limit: { resets_in_seconds: 3_600, remaining } })
    expect((await (await serve(() => ({ body }))).provider.inPlay()).allowance).toBeNull()
  })

  it('[V2] renews its quota within an hour, whatever it says', async () => {
    const body = JSON.stringify({ data: [], rate_limit: { resets_in_seconds: 3_600_000, remaining: '5' } })
    const { allowance } = await (await serve(() => ({ body }))).provider.inPlay()
    expect(allowance).toEqual({ remaining: 5, resetsInSecs: 3_600 })
  })

  it('[V9] may write a list as an object under numbers', async () => {
    const { lineups = [], ...frame } = recording.frames[100] as Readonly<Record<string, readonly unknown[]>>
    const [first, second] = [0, 1].map((id) => ({
      ...frame,
      id: id + 1,
      lineups: Object.fromEntries(lineups.entries()),
    }))
    const said = { data: { 3: first, 7: second }, pagination: { has_more: 1 } }
    const { provider, asked } = await serve((path) => ({
      body: JSON.stringify(path.includes('page=2') ? { data: [] } : said),
    }))
    const { fixtures, unreadable } = await provider.inPlay()
    expect(fixtures.map(({ fixtureId: id, players }) => [id, players.length])).toEqual([
      [1, lineups.length],
      [2, lineups.length],
    ])
    expect([unreadable, asked.length]).toEqual([[], 2])
  })

  it('[V9] has no fixtures in its calendar only when it says so twice', async () => {
    const days = [KICK_OFF, instant(KICK_OFF + 48 * 60 * MINUTE_MS)] as const
    const none = { message: 'No result(s) found matching your request.' }
    const bodies = [{ data: [recording.frames[0]] }, none, none, none]
    const { provider } = await serve(() => ({ body: JSON.stringify(bodies.shift()) }))
    expect((await provider.calendar(...days)).fixtures).toHaveLength(1)
    expect((await troubleOf(provider.calendar(...days))).message).toBe('a page of the calendar names no fixture')
    expect((await provider.calendar(...days)).fixtures).toEqual([])
    expect((await provider.calendar(...days)).fixtures).toEqual([])
  })

  it('[V9] believes an empty page of its calendar only when it comes twice', async () => {
    const page = (ids: readonly number[], more: boolean) =>
      JSON.stringify({
        data: ids.map((id) => ({ ...(recording.frames[0] as object), id })),
        pagination: { has_more: more },
      })
    const second = [page([], false), page([2], false), page([], false), page([], false)]
    const { provider } = await serve((path) => ({
      body: path.includes('page=2') ? (second.shift() ?? '') : page([1], true),
    }))
    const listed = async () => (await provider.calendar(KICK_OFF, KICK_OFF)).fixtures.map((one) => one.fixtureId)
    await troubleOf(provider.calendar(KICK_OFF, KICK_OFF))
    expect(await listed()).toEqual([1, 2])
    await troubleOf(provider.calendar(KICK_OFF, KICK_OFF))
    expect(await listed()).toEqual([1])
  })

  it('[V9] has its list of matches in play read to the last page', async () => {
    const page = (id: number, more: boolean) =>
      JSON.stringify({
        data: [{ ...(recording.frames[0] as object), id }],
        pagination: { has_more: more, next_cursor: more ? 'two' : null },
      })
    const { provider } = await serve((path) => ({ body: path.includes('cursor=two') ? page(2, false) : page(1, true) }))
    expect((await provider.inPlay()).fixtures.map((one) => one.fixtureId)).toEqual([1, 2])
    let pages = 0
    const endless = await serve(() => ({ body: page((pages += 1), true) }))
    expect((await troubleOf(endless.provider.inPlay())).message).toBe("the provider's list has more than 200 pages")
  })

  it('[V9] may say for ever that there is more, and may fail after the first page', async () => {
    const paged = (has_more: boolean) =>
      JSON.stringify({ data: [recording.frames[0]], pagination: { has_more, next_cursor: null } })
    let asked = 0
    const stuck = await serve(() => ({ body: (asked += 1) > 0 ? paged(true) : '' }))
    expect(await stuck.provider.inPlay()).toMatchObject({ fixtures: [{}, {}] })
    expect(asked).toBe(2)
    const broken = await serve((path) =>
      path.includes('page=2') ? { status: 500, body: '{}' } : { body: paged(true) },
    )
    const { fixtures, incomplete } = await broken.provider.inPlay()
    expect(fixtures).toHaveLength(1)
    expect(incomplete?.message).toBe('the provider answered 500: no message')
    await troubleOf(broken.provider.fixtures([fixtureId(1)]))
  })

  it('[P21] may leave out the teams of a fixture that it has named before', async () => {
    const [frame, later] = [0, 100].map((n) => recording.frames[n] as object)
    const nameless = { ...later, participants: [] }
    const bodies = [nameless, frame, nameless, { ...later, participants: [{ id: 5, name: null, meta: null }] }]
    const { provider } = await serve(() => ({ body: JSON.stringify({ data: bodies.shift() }) }))
    expect((await provider.inPlay()).unreadable).toHaveLength(1)
    const first = (await provider.inPlay()).fixtures[0]
    for (const _ of [1, 2]) {
      const { fixtures, unreadable, sources } = await provider.inPlay()
      expect([fixtures[0]?.home.id, fixtures[0]?.away.id]).toEqual([first?.home.id, first?.away.id])
      expect(unreadable).toEqual([])
      expect([...sources.values()]).toMatchObject([{ payload: { participants: [{}, {}] } }])
    }
  })

  it('[P21] may write NaN for a number, which is then none', async () => {
    const fixture = (n: number) => ({ ...(recording.frames[0] as object), id: n, name: 'NaN \\" NaN', round_id: 0.125 })
    const body = JSON.stringify({ data: [fixture(1), fixture(2)] })
    const { provider } = await serve(() => ({ body: body.replace('0.125', 'NaN').replace('0.125', '-Infinity') }))
    const { fixtures } = await provider.inPlay()
    expect(fixtures.map(({ fixtureId: id, name }) => `${id} ${name}`)).toEqual(['1 NaN \\" NaN', '2 NaN \\" NaN'])
  })

  it.each([500_000, 4_000_000])('may be cut within a text of %i quotes', async (quotes) => {
    const { provider } = await serve(() => ({ body: `{"data":"${'\\"'.repeat(quotes)}` }))
    const { message } = await troubleOf(provider.inPlay())
    expect(message).toBe(`the provider sent ${quotes * 2 + 9} characters that are not a valid answer`)
  })

  it('is read a second time only up to 8 MiB', async () => {
    const none = `{"data":[],"more":[NaN],"text":"${'x'.repeat(8 * 1024 * 1024)}"}`
    const { provider } = await serve(() => ({ body: none }))
    expect((await troubleOf(provider.inPlay())).message).toMatch(/not a valid answer$/)
  })

  it('may send an invalid fixture, which is reported and left out', async () => {
    const { fixtures } = await (await setUp()).provider.inPlay()
    expect(fixtures).toHaveLength(2)
    const frame = recording.frames[100]
    const { provider } = await serve(() => ({ body: JSON.stringify({ data: [null, 7, {}, { id: 5 }, frame] }) }))
    const answer = await provider.inPlay()
    expect(answer.fixtures).toHaveLength(1)
    expect(answer.unreadable).toEqual([
      { matchId: null, detail: 'the payload is not an object' },
      { matchId: null, detail: 'the payload is not an object' },
      { matchId: null, detail: 'the payload has no fixture id' },
      { matchId: 5, detail: 'fixture 5 does not name a home and an away team' },
    ])
  })

  it('returns its calendar in pages, by cursor or by number', async () => {
    const page = (n: number, next: string | null, more: boolean) =>
      JSON.stringify({
        data: [{ ...(recording.frames[0] as object), id: n }],
        pagination: { has_more: more, next_cursor: next },
      })
    const { provider, asked } = await serve((path) => {
      if (path.includes('page=3')) return { body: page(3, null, false) }
      return { body: path.includes('cursor=abc') ? page(2, null, true) : page(1, 'abc', true) }
    })
    const { fixtures } = await provider.calendar(KICK_OFF, instant(KICK_OFF + 48 * 60 * MINUTE_MS))
    expect(fixtures.map((one) => one.fixtureId)).toEqual([1, 2, 3])
    expect(asked[0]).toMatch(/^\/v3\/football\/fixtures\/between\/2026-08-22\/2026-08-24\?/)
  })

  it('asks for odds with its calendar alone, and without them where the plan has none', async () => {
    const data = [{ ...(recording.frames[0] as object), id: 1 }]
    const { provider, asked } = await serve((path) =>
      decodeURIComponent(path).includes(';odds')
        ? { status: 403, body: JSON.stringify({ message: "You do not have access to the 'odds' include", code: 5002 }) }
        : { body: JSON.stringify({ data }) },
    )
    for (const _ of [1, 2]) expect((await provider.calendar(KICK_OFF, KICK_OFF)).fixtures).toHaveLength(1)
    await provider.inPlay()
    const withOdds = asked.map((path) => new URLSearchParams(path.split('?')[1]).get('filters') === 'markets:1')
    expect(withOdds).toEqual([true, false, false, false])
    expect(asked.at(-1)).not.toContain('odds')
  })

  it('goes on asking for odds after a refusal that had nothing to do with them', async () => {
    let requests = 0
    const { provider, asked } = await serve(() =>
      ++requests <= 2 ? { status: 403, body: '<html>' } : { body: JSON.stringify({ data: [recording.frames[0]] }) },
    )
    await troubleOf(provider.calendar(KICK_OFF, KICK_OFF))
    await provider.calendar(KICK_OFF, KICK_OFF)
    expect(new URLSearchParams(asked.at(-1)?.split('?')[1]).get('filters')).toBe('markets:1')
  })

  it('repeats no other refusal', async () => {
    const { provider, asked } = await serve(() => ({
      status: 401,
      body: JSON.stringify({ message: 'Unauthenticated.' }),
    }))
    await troubleOf(provider.calendar(KICK_OFF, KICK_OFF))
    expect(asked).toHaveLength(1)
  })
})
