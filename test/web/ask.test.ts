/** Requests of a client while its session changes, and while nothing comes through. */
import { expect, it, onTestFinished, vi } from 'vitest'
import { createApi } from '../../src/web/client/api.ts'
import { ApiError, noneIfMissing, WANTED_MS } from '../../src/web/client/ask.ts'
import { Feed, type FeedState } from '../../src/web/client/feed.ts'

const ORDER = { instrumentId: 'one', direction: 'long', lotSize: 1, clientPrice: 1 } as const
const REFUSED = new Response('{"error":"no session","code":"UNAUTHORIZED"}', { status: 401 })

it('signs in after a renewal that is under way, whose refusal would clear the new cookies', async () => {
  const refused = Promise.withResolvers<Response>()
  const renewal = Promise.withResolvers<void>()
  const order: string[] = []
  const api = createApi({
    fetch: async (path) => {
      order.push(path)
      if (path === '/api/auth/dev') return Response.json({ user: {} })
      if (path !== '/api/auth/refresh') return REFUSED.clone()
      renewal.resolve()
      return refused.promise
    },
    onSignedOut: () => order.push('signed out'),
  })
  const asked = api.wallet().catch(() => undefined)
  await renewal.promise
  const entered = api.signInByName('Ada')
  await new Promise(setImmediate)
  order.push('refused')
  refused.resolve(REFUSED.clone())
  await Promise.all([asked, entered])
  expect(order).toEqual(['/api/wallet?purse=main', '/api/auth/refresh', 'refused', '/api/auth/dev', 'signed out'])
})

it('repeats an order under its key when no answer comes, or half of one', async () => {
  const late = new AbortController()
  const deadline = vi.spyOn(AbortSignal, 'timeout').mockReturnValueOnce(late.signal)
  const keys: (string | null)[] = []
  const api = createApi({
    fetch: async (_, { signal, headers }) => {
      keys.push(new Headers(headers).get('idempotency-key'))
      if (keys.length === 2) return new Response('{"position":', { status: 201 })
      if (keys.length === 3) return Response.json({ position: { id: 'one' } })
      setImmediate(() => late.abort())
      return new Promise((_resolve, reject) => signal?.addEventListener('abort', reject))
    },
  })
  await expect(api.open(ORDER, 'first')).resolves.toEqual({ position: { id: 'one' } })
  expect(keys).toEqual(['first', 'first', 'first'])
  deadline.mockRestore()
})

const answered = (status: number, code: string): Response => Response.json({ error: code, code }, { status })

/** The answers in turn, the last of them again and again; `null` is a lost one. */
function answering(...answers: readonly (Response | null)[]) {
  vi.useFakeTimers({ toFake: ['setTimeout'] })
  onTestFinished(() => void vi.useRealTimers())
  const asked: string[] = []
  const signedOut = vi.fn<() => void>()
  const api = createApi({
    fetch: async (path) => {
      const answer = answers[Math.min(asked.length, answers.length - 1)] ?? null
      asked.push(path)
      if (answer === null) throw new TypeError('no answer')
      return answer.clone()
    },
    onSignedOut: signedOut,
  })
  return { api, asked, signedOut }
}

/** What comes of it once all its pauses are over. */
async function inTheEnd<Result>(asking: Promise<Result>): Promise<Result> {
  const [settled] = await Promise.allSettled([asking, vi.advanceTimersByTimeAsync(60_000)])
  if (settled.status === 'rejected') throw settled.reason
  return settled.value
}

it.each([
  [true, [null]],
  [true, [answered(503, 'UNKNOWN_OUTCOME')]],
  [true, [answered(409, 'KEY_IN_FLIGHT')]],
  [true, [null, answered(429, 'RATE_LIMITED')]],
  [true, [answered(503, 'UNKNOWN_OUTCOME'), answered(503, 'BUSY')]],
  [true, [null, answered(409, 'KEY_IN_FLIGHT')]],
  [true, [null, answered(503, 'COMING_SOON')]],
  [false, [answered(429, 'RATE_LIMITED')]],
  [false, [answered(503, 'BUSY')]],
  [false, [answered(503, 'COMING_SOON')]],
  [false, [null, answered(409, 'PRICE_MOVED')]],
])('leaves open (%s) whether an order was carried out', async (isUnsure, answers) => {
  await expect(inTheEnd(answering(...answers).api.open(ORDER, 'first'))).rejects.toMatchObject({ isUnsure })
})

/** From now on the device has slept for as long as an order is wanted. */
function sleep(): void {
  const clock = vi.spyOn(Date, 'now').mockReturnValue(Date.now() + WANTED_MS)
  onTestFinished(() => clock.mockRestore())
}

it.each([
  ['no answer', true, null],
  ['an answer that lets it be repeated', false, answered(503, 'BUSY')],
  ['an expired session', false, REFUSED],
])('sends no order again after a long sleep that ends with %s', async (_, isUnsure, answer) => {
  const { api, asked } = answering(answer, Response.json({}))
  const opened = inTheEnd(api.open(ORDER, 'first'))
  sleep()
  await expect(opened).rejects.toMatchObject({ isUnsure })
  expect(asked.filter((path) => path === '/api/positions/open')).toHaveLength(1)
})

it('asks again for what is only read, however long the device has slept', async () => {
  const { api } = answering(null, Response.json({ cash: 1 }))
  const wallet = inTheEnd(api.wallet())
  sleep()
  await expect(wallet).resolves.toEqual({ cash: 1 })
})

it.each([429, 500, 502, 503, 504])(
  'does not take a renewal that is answered %i for the end of the session',
  async (status) => {
    const passing = answered(status, 'PASSING')
    const { api, asked, signedOut } = answering(REFUSED, passing, passing, passing, passing, Response.json({ cash: 1 }))
    await expect(inTheEnd(api.wallet())).resolves.toEqual({ cash: 1 })
    expect(signedOut).not.toHaveBeenCalled()
    expect(asked.filter((path) => path === '/api/auth/refresh')).toHaveLength(4)
  },
)

it('waits as long as the server asks, and gives up when that is too long', async () => {
  const busy = (secs: string) =>
    Response.json({ error: 'busy', code: 'BUSY' }, { status: 503, headers: { 'retry-after': secs } })
  const soon = answering(busy('5'), Response.json({ cash: 1 }))
  const wallet = soon.api.wallet()
  await vi.advanceTimersByTimeAsync(4_900)
  expect(soon.asked).toHaveLength(1)
  await expect(inTheEnd(wallet)).resolves.toEqual({ cash: 1 })
  const late = answering(busy('10'))
  await expect(inTheEnd(late.api.wallet())).rejects.toMatchObject({ code: 'BUSY' })
  expect(late.asked).toHaveLength(1)
})

it.each(['connecting', 'waiting'] as const)(
  'a feed that its caller stops while it is %s stays stopped',
  async (when) => {
    vi.useFakeTimers()
    const states: FeedState[] = []
    const feed = new Feed({
      token: () => Promise.reject(new Error('offline')),
      onState: (state) => {
        states.push(state)
        if (state === when) feed.stop()
      },
    })
    feed.start()
    await vi.advanceTimersByTimeAsync(120_000)
    vi.useRealTimers()
    expect(states).toEqual([...(when === 'waiting' ? ['connecting'] : []), when, 'stopped'])
  },
)

it('does not wait for ever for a ticket to the feed', () => {
  vi.useFakeTimers()
  const states: FeedState[] = []
  const feed = new Feed({ token: () => new Promise(() => undefined), onState: (state) => states.push(state) })
  feed.start()
  vi.advanceTimersByTime(60_000)
  feed.stop()
  vi.useRealTimers()
  expect(states.slice(0, 3)).toEqual(['connecting', 'waiting', 'connecting'])
})

it('a user who comes back while the feed connects does not cut short what is only slow', () => {
  vi.useFakeTimers()
  const states: FeedState[] = []
  const feed = new Feed({ token: () => new Promise(() => undefined), onState: (state) => states.push(state) })
  feed.start()
  for (let ms = 0; ms < 20_000; ms += 500) {
    vi.advanceTimersByTime(500)
    if (ms < 1_500) feed.reconnectNow()
  }
  feed.stop()
  vi.useRealTimers()
  expect(states).toEqual(['connecting', 'stopped'])
})

it('notices a connection that has died in a sleep soon after the user is back, whether it was open or not', async () => {
  vi.useFakeTimers()
  const sockets: Silent[] = []
  class Silent extends EventTarget {
    static readonly OPEN = 1
    readonly readyState = 1
    readonly sent: string[] = []
    constructor() {
      super()
      sockets.push(this)
    }
    send(message: string) {
      this.sent.push(message)
    }
    close() {}
  }
  vi.stubGlobal('WebSocket', Silent)
  onTestFinished(() => {
    feed.stop()
    vi.useRealTimers()
    vi.unstubAllGlobals()
  })
  const states: FeedState[] = []
  const feed = new Feed({
    token: async () => ({ token: 't', wsUrl: 'ws://touchline.example' }),
    onState: (state) => states.push(state),
  })
  feed.start()
  await vi.advanceTimersByTimeAsync(0)
  sockets[0]?.dispatchEvent(new MessageEvent('message', { data: '{"type":"heartbeat"}' }))
  expect(states).toEqual(['connecting', 'live'])
  feed.reconnectNow()
  await vi.advanceTimersByTimeAsync(3_000)
  expect(states).toEqual(['connecting', 'live', 'waiting'])
  await vi.advanceTimersByTimeAsync(2_000)
  expect(states.at(-1)).toBe('connecting')
  vi.setSystemTime(Date.now() + 60_000) // timers stand still in a sleep
  feed.reconnectNow()
  await vi.advanceTimersByTimeAsync(3_000)
  expect(states.at(-1)).toBe('waiting')
})

it('what the server does not know is none; a failure is not', () => {
  const failed = (status: number) => new ApiError(status, { error: 'failed', code: 'ANY' })
  expect(noneIfMissing(failed(404))).toBeNull()
  for (const error of [failed(0), failed(429), failed(503), new TypeError('bug')])
    expect(() => noneIfMissing(error)).toThrow(error)
})
