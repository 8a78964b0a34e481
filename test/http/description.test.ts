import { z } from '@hono/zod-openapi'
import { describe, expect, it } from 'vitest'
import { ALICE, openDoor, order, PLAYER, POSITION } from './door.ts'

const Document = z.object({
  openapi: z.string(),
  paths: z.record(
    z.string(),
    z.record(
      z.string(),
      z.object({
        summary: z.string().min(1),
        security: z.array(z.record(z.string(), z.array(z.string()))).optional(),
        responses: z.record(z.string(), z.object({ description: z.string().min(1), content: z.unknown() })),
      }),
    ),
  ),
  components: z.object({
    schemas: z.record(z.string(), z.unknown()),
    securitySchemes: z.record(z.string(), z.unknown()),
  }),
})

const Described = z.object({ content: z.object({ 'application/json': z.object({ schema: z.instanceof(z.ZodType) }) }) })

async function openDescribed() {
  const door = await openDoor({ role: 'admin' })
  const document = Document.parse(await (await door.app.request('/api/openapi.json')).json())
  const routes = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, route]) => ({ method: method.toUpperCase(), path, ...route })),
  )
  return { ...door, document, routes }
}

const concrete = (path: string) =>
  path
    .replace('{districtId}', '1')
    .replace('notifications/{id}', 'notifications/41')
    .replace('{matchId}/{seq}', '7/3')
    .replace('flags/{key}', 'flags/coming_soon')
    .replace('settings/{key}', 'settings/trading.hold_secs')
    .replace('users/{id}', `users/${ALICE}`)
    .replace('instruments/{id}', `instruments/${PLAYER}`)
    .replace('positions/{id}', `positions/${POSITION}`)
    .replace('{id}', '19155071')

/** What one or another step of signing in asks for. */
const SIGN_IN_STEPS = {
  displayName: 'Alice',
  count: 2,
  idToken: 'token',
  nonce: 'nonce',
  registrationTicket: 'ticket',
  otp: '123456',
  username: 'ada',
  firstName: 'Ada',
  code: 'bob5code00',
  name: 'Grace',
  districtId: 1,
}

function bodyFor(path: string): unknown {
  if (path.includes('positions')) return order
  if (path.includes('/admin/'))
    return { enabled: true, value: 60, role: 'admin', fixtureId: 'goal-feast', outcome: 'void' }
  return SIGN_IN_STEPS
}

describe('the API description', () => {
  it('[H50] describes every mounted route, and no other', async () => {
    const { app, document, routes } = await openDescribed()
    // The page at `/` and its files are no part of it, nor is what Prometheus reads.
    const isOther = (path: string): boolean => /^\/($|web\/|join|favicon|metrics$)/.test(path)
    const mounted = app.routes.filter(({ method, path }) => method !== 'ALL' && !isOther(path))
    const names = new Set(mounted.map(({ method, path }) => `${method} ${path.replaceAll(/:(\w+)/g, '{$1}')}`))
    expect(document.openapi).toBe('3.1.0')
    expect(routes.map(({ method, path }) => `${method} ${path}`).toSorted()).toEqual([...names].toSorted())
  })

  it('[H50] covers what the specification lists so far', async () => {
    const { routes } = await openDescribed()
    expect(routes.map(({ method, path }) => `${method} ${path}`).toSorted()).toEqual([
      'GET /api/account/changes',
      'GET /api/achievements',
      'GET /api/activity',
      'GET /api/admin/audit',
      'GET /api/admin/flags',
      'GET /api/admin/gameplay-bot/fixtures',
      'GET /api/admin/gameplay-bot/status',
      'GET /api/admin/ledger/audit',
      'GET /api/admin/reactions',
      'GET /api/admin/settings',
      'GET /api/admin/settings/scoring/multiplier-keys',
      'GET /api/admin/users',
      'GET /api/admin/users/export.csv',
      'GET /api/districts',
      'GET /api/districts/standings',
      'GET /api/flags',
      'GET /api/instruments',
      'GET /api/instruments/movers',
      'GET /api/instruments/{id}',
      'GET /api/instruments/{id}/price-history',
      'GET /api/instruments/{id}/recent-trades',
      'GET /api/leaderboard/district/{districtId}',
      'GET /api/leaderboard/friends',
      'GET /api/leaderboard/global',
      'GET /api/leaderboard/me',
      'GET /api/leaderboard/me/context',
      'GET /api/leaderboard/roi/district/{districtId}',
      'GET /api/leaderboard/roi/friends',
      'GET /api/leaderboard/roi/global',
      'GET /api/matches',
      'GET /api/matches/{id}/events',
      'GET /api/matches/{id}/squad',
      'GET /api/matches/{id}/trade-window',
      'GET /api/me',
      'GET /api/notifications',
      'GET /api/notifications/unread-count',
      'GET /api/openapi.json',
      'GET /api/portfolio',
      'GET /api/positions',
      'GET /api/public/referral/validate',
      'GET /api/referrals',
      'GET /api/spinner/current',
      'GET /api/spinner/history',
      'GET /api/trades',
      'GET /api/wallet',
      'GET /health',
      'GET /ready',
      'PATCH /api/positions/{id}',
      'POST /api/admin/gameplay-bot/start',
      'POST /api/admin/gameplay-bot/stop',
      'POST /api/admin/leaderboard/rebuild-roi',
      'POST /api/admin/matches/{id}/end',
      'POST /api/admin/reactions/{matchId}/{seq}/retry',
      'POST /api/auth/dev',
      'POST /api/auth/dev/batch',
      'POST /api/auth/google',
      'POST /api/auth/google/complete',
      'POST /api/auth/logout',
      'POST /api/auth/refresh',
      'POST /api/auth/resend-otp',
      'POST /api/auth/verify-otp',
      'POST /api/notifications/read-all',
      'POST /api/notifications/{id}/read',
      'POST /api/positions/open',
      'POST /api/positions/quote',
      'POST /api/positions/{id}/close',
      'POST /api/referral/validate',
      'POST /api/referrals/invites',
      'POST /api/spinner/run',
      'POST /api/users/check-username',
      'POST /api/ws/token',
      'PUT /api/admin/flags/{key}',
      'PUT /api/admin/settings/{key}',
      'PUT /api/admin/users/{id}/role',
    ])
  })

  it('[H51] says truly which routes need the access cookie', async () => {
    const { app, routes, document } = await openDescribed()
    expect(Object.keys(document.components.securitySchemes)).toEqual(['accessCookie', 'refreshCookie'])
    for (const { method, path, security = [] } of routes) {
      const isProtected =
        security.length > 0 && security.every((way) => 'accessCookie' in way || 'refreshCookie' in way)
      const { status } = await app.request(concrete(path), { method })
      expect(status === 401, `${method} ${path} answers ${status}`).toBe(isProtected)
    }
  })

  it('[H52] every answer has a status and a body that its route describes', async () => {
    const { app, send, asAlice, routes } = await openDescribed()
    const registered = app.openAPIRegistry.definitions.filter((definition) => definition.type === 'route')
    const isLast = (path: string) => path.endsWith('/logout') // nothing works after it
    for (const { method, path, responses } of routes.toSorted(
      (a, b) => Number(isLast(a.path)) - Number(isLast(b.path)),
    )) {
      const body = bodyFor(path)
      const url = concrete(path)
      const response = await (method === 'GET' ? asAlice(url) : send(method, url, body))
      const name = `${method} ${path} answers ${response.status}`
      expect(response.ok, name).toBe(true)
      expect(Object.keys(responses), name).toContain(String(response.status))
      const route = registered.find(
        (definition) => definition.route.path === path && definition.route.method === method.toLowerCase(),
      )
      const spoken: unknown = route?.route.responses[response.status]
      if (response.headers.get('content-type')?.startsWith('text/csv') === true) {
        expect(spoken, name).toHaveProperty('content.text/csv')
        continue
      }
      const described = Described.parse(spoken)
      const { schema } = described.content['application/json']
      const json: unknown = await response.json()
      // What a schema does not know it drops, so an equal value means that every field is described.
      expect(schema.parse(json), name).toEqual(json)
    }
  })
})
