import { describe, expect, it, vi } from 'vitest'
import { createLog } from '../../src/observe/log.ts'
import { readiness } from '../../src/http/routes/health.ts'
import { TestWorld } from '../support/test-world.ts'
import { createWsApp } from '../../src/http/app.ts'
import { ALLOWED_ORIGIN, away, openHttpRig, order } from './http-rig.ts'

const broken = async (): Promise<never> => {
  throw new Error('secret detail')
}

const unasked = () => {
  throw new Error('not asked for')
}

describe('the error form', () => {
  it('[H1] answers are not cached and not sniffed', async () => {
    const { headers } = await (await openHttpRig()).asAlice('/api/wallet')
    expect(headers.get('cache-control')).toBe('no-store')
    expect(headers.get('x-content-type-options')).toBe('nosniff')
  })

  it('an unavailable dependency is 503 with Retry-After', async () => {
    const { asAlice } = await openHttpRig({
      deps: { wallets: { find: away, means: away, ledger: away, ledgerPages: unasked, auditLedger: away } },
    })
    const response = await asAlice('/api/wallet')
    expect(response.status).toBe(503)
    expect(response.headers.get('retry-after')).toBe('2')
    expect(await response.json()).toMatchObject({ error: 'service unavailable', code: 'UNAVAILABLE' })
  })

  it('[H1] an unexpected error is 500 and shows the caller only the request id', async () => {
    const { asAlice, log } = await openHttpRig({
      deps: { wallets: { find: broken, means: broken, ledger: broken, ledgerPages: unasked, auditLedger: broken } },
    })
    const response = await asAlice('/api/wallet')
    const requestId = response.headers.get('x-request-id')
    expect(response.status).toBe(500)
    expect(await response.json()).toEqual({ error: 'internal error', code: 'INTERNAL', requestId })
    const lines = log.map((line) => JSON.parse(line))
    expect(lines).toContainEqual(
      expect.objectContaining({
        event: 'request_failed',
        requestId,
        error: expect.objectContaining({ message: 'secret detail' }),
      }),
    )
    expect(lines).toContainEqual(
      expect.objectContaining({ event: 'request_completed', requestId, status: 500, path: '/api/wallet' }),
    )
  })

  it('each request is one log line, without tokens, and with the network of its address only', async () => {
    const { app, log } = await openHttpRig({ deps: { trustedProxies: 1 } })
    await app.request('/api/me?token=hush', { headers: { 'x-forwarded-for': '203.0.113.77' } })
    expect(log).toHaveLength(1)
    expect(JSON.parse(log[0] ?? '')).toMatchObject({
      level: 'info',
      event: 'request_completed',
      method: 'GET',
      path: '/api/me',
      from: '203.0.113.0/24',
    })
    for (const kept of ['hush', '203.0.113.77']) expect(log[0]).not.toContain(kept)
  })
})

describe('browsers', () => {
  it('get security headers with every answer, and HSTS in production', async () => {
    const [{ app }, live] = [await openHttpRig(), await openHttpRig({ production: true })]
    for (const path of ['/health', '/api/me', '/nowhere', '/api/wallet']) {
      const { headers } = await app.request(path)
      expect(headers.get('cache-control'), path).toBe('no-store')
      expect(headers.get('content-security-policy')).toBe("default-src 'none'; frame-ancestors 'none'")
      expect(headers.get('x-frame-options')).toBe('DENY')
      expect(headers.get('referrer-policy')).toBe('no-referrer')
      expect(headers.get('cross-origin-resource-policy')).toBe('same-origin')
      expect(headers.get('strict-transport-security')).toBeNull()
      expect((await live.app.request(path)).headers.get('strict-transport-security')).toContain('max-age=31536000')
    }
  })
})

describe('origins', () => {
  it('[H4] a request that a browser calls cross-site changes nothing, even without an origin', async () => {
    const { send, app, commands } = await openHttpRig()
    const site = (value: string) => ({ 'sec-fetch-site': value })
    expect((await send('POST', '/api/positions/open', order, site('cross-site'))).status).toBe(403)
    expect(commands).toEqual([])
    expect((await app.request('/health', { headers: site('cross-site') })).status).toBe(200)
    for (const value of ['same-origin', 'same-site', 'none']) {
      expect((await send('POST', '/api/positions/open', order, site(value))).status, value).toBe(201)
    }
  })

  it("[H4] an allowed origin, the server's own, and a client without an origin may change things", async () => {
    const { send } = await openHttpRig()
    const own = { origin: 'https://api.touchline.example', host: 'api.touchline.example' }
    for (const headers of [{ origin: ALLOWED_ORIGIN }, own, {}]) {
      expect((await send('POST', '/api/positions/open', order, headers)).status).toBe(201)
    }
    const elsewhere = { origin: 'https://api.touchline.example:8443', host: 'api.touchline.example' }
    expect((await send('POST', '/api/positions/open', order, elsewhere)).status).toBe(403)
  })
})

const SILENT = createLog({
  level: 'error',
  world: new TestWorld({ now: 0 }),
  write: () => {},
  readable: false,
})

describe('health', () => {
  it('ready is 503 and names the failed check', async () => {
    const { app } = await openHttpRig({
      deps: { readiness: readiness({ database: away, rooms: async () => {} }, SILENT) },
    })
    const response = await app.request('/ready')
    expect(response.status).toBe(503)
    expect(response.headers.get('retry-after')).toBe('2')
    expect(await response.json()).toMatchObject({ code: 'NOT_READY', checks: { database: 'failed', rooms: 'ok' } })
  })

  it('the WebSocket address serves health, ready and matchmaking, and nothing else', async () => {
    const { deps } = await openHttpRig()
    const app = createWsApp({
      ...deps,
      delay: async () => undefined,
      matchmake: async () => Response.json({ seat: 1 }),
    })
    expect((await app.request('/health')).status).toBe(200)
    expect(await (await app.request('/ready')).json()).toEqual({
      status: 'ready',
      checks: { database: 'ok', fastStore: 'ok' },
    })
    const ask = { method: 'POST', headers: { origin: ALLOWED_ORIGIN } }
    const seat = await app.request('/matchmake/join/match', ask)
    expect(await seat.json()).toEqual({ seat: 1 })
    expect(Object.fromEntries(seat.headers)).toMatchObject({
      'access-control-allow-credentials': 'true',
      'access-control-allow-origin': ALLOWED_ORIGIN,
      'cache-control': 'no-store',
      'content-type': 'application/json',
      'x-request-id': expect.any(String),
    })
    expect((await app.request('/api/me')).status).toBe(404)
    const got = await createWsApp({
      ...deps,
      delay: async () => undefined,
      matchmake: async ({ method }) => Response.json({}, { status: method === 'POST' ? 200 : 405 }),
    }).request('/matchmake/join/match')
    expect(got.status, 'which only the room can tell').toBe(405)
    const posted = await app.request('/health', { method: 'POST' })
    expect([posted.status, posted.headers.get('allow')]).toEqual([405, 'GET, HEAD'])
  })

  it('[W19] the WebSocket address lets a client wait that asks too often, and no other', async () => {
    const { deps } = await openHttpRig()
    const delay = vi.fn<() => Promise<void>>(async () => undefined)
    let status = 404
    const matchmake = async () => Response.json({ code: 'NO' }, { status, headers: { 'retry-after': '7' } })
    const app = createWsApp({ ...deps, delay, matchmake })
    const ask = async () => {
      const answer = await app.request('/matchmake/join/match', { method: 'POST' })
      const requestId = answer.headers.get('x-request-id')
      expect(await answer.json(), '[H1]').toEqual({ code: 'NO', requestId })
      return [answer.status, answer.headers.get('retry-after')]
    }
    expect(await ask()).toEqual([404, '7'])
    expect(delay).not.toHaveBeenCalled()
    status = 429
    expect(await ask()).toEqual([429, '7'])
    expect(delay).toHaveBeenCalledTimes(1)
  })
})
