/** Requests of a client while its session changes. */
import { expect, it } from 'vitest'
import { createApi } from '../../src/web/client/api.ts'

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
