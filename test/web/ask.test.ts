/** Requests of a client while its session changes, and while nothing comes through. */
import { expect, it, vi } from 'vitest'
import { createApi } from '../../src/web/client/api.ts'
import { Feed, type FeedState } from '../../src/web/client/feed.ts'

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
  const order = { instrumentId: 'one', direction: 'long', lotSize: 1, clientPrice: 1 } as const
  await expect(api.open(order, 'first')).resolves.toEqual({ position: { id: 'one' } })
  expect(keys).toEqual(['first', 'first', 'first'])
  deadline.mockRestore()
})

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
