import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { ALICE, away, openHttpRig, SESSION } from './http-rig.ts'

const Sessions = z.object({ sessions: z.array(z.looseObject({ id: z.string() })) })

const signIn = (body: unknown) => ({
  method: 'POST',
  body: JSON.stringify(body),
  headers: { 'content-type': 'application/json' },
})

describe('the dev sign-in', () => {
  it('refuses invalid names and unknown districts', async () => {
    const { app } = await openHttpRig()
    for (const displayName of ['', '   ', 'x'.repeat(65), 'a\u0000b', 'a\nb', '\ud800', 7, null, undefined, {}]) {
      const response = await app.request('/api/auth/dev', signIn({ displayName }))
      expect(response.status, JSON.stringify(displayName)).toBe(400)
      expect(await response.json()).toMatchObject({ issues: [{ path: 'displayName' }] })
    }
    for (const districtId of [99, 0, -1, 1.5, 1e308, '1', null]) {
      const response = await app.request('/api/auth/dev', signIn({ displayName: 'Alice', districtId }))
      expect(response.status, String(districtId)).toBe(400)
      expect(await response.json()).toMatchObject({
        code: 'VALIDATION_FAILED',
        issues: expect.arrayContaining([expect.objectContaining({ path: 'districtId' })]),
      })
      expect(response.headers.getSetCookie()).toEqual([])
    }
  })
})

describe('staying signed in', () => {
  const cookiesOf = (response: Response) => response.headers.getSetCookie()
  const CLEARED = [
    'game_access=; Path=/; Max-Age=0; HttpOnly; SameSite=Lax',
    'game_refresh=; Path=/; Max-Age=0; HttpOnly; SameSite=Lax',
  ]

  it('[S3] a refresh repeated under its key sets the same pair; another of the old token is 401 and clears nothing', async () => {
    const { app, tokens, world } = await openHttpRig()
    const refresh = await tokens.issueRefresh({ id: SESSION, userId: ALICE, generation: 1 })
    const renew = (key: Record<string, string>) =>
      app.request('/api/auth/refresh', { method: 'POST', headers: { cookie: `game_refresh=${refresh}`, ...key } })
    const first = await renew({ 'idempotency-key': 'lost' })
    world.pass(2_000)
    const again = await renew({ 'idempotency-key': 'lost' })
    expect([again.status, cookiesOf(again)]).toEqual([200, cookiesOf(first)])
    for (const key of [{}, { 'idempotency-key': 'another' }]) {
      const late = await renew(key)
      expect([late.status, cookiesOf(late)]).toEqual([401, []])
    }
    expect((await renew({ 'idempotency-key': 'x'.repeat(256) })).status).toBe(400)
  })

  it('[S11] a user sees their sessions, and ends any of them', async () => {
    const { app, asAlice, disconnected } = await openHttpRig()
    const other = await app.request('/api/auth/dev', signIn({ displayName: 'Alice' }))
    const cookie = cookiesOf(other).join('; ')
    const { sessions } = Sessions.parse(await (await asAlice('/api/auth/sessions')).json())
    expect(sessions).toMatchObject([
      { id: SESSION, current: true, userAgent: 'Browser', addressPrefix: '203.0.113.0/24' },
      { current: false, userAgent: null, addressPrefix: 'unknown' },
    ])
    const theirs = sessions[1]?.id ?? ''
    const end = (id: string) => asAlice(`/api/auth/sessions/${id}`, { method: 'DELETE' })
    const ended = await end(theirs)
    expect([ended.status, await ended.json(), cookiesOf(ended)]).toEqual([200, { ended: true }, []])
    expect(disconnected).toEqual([ALICE])
    expect((await app.request('/api/wallet', { headers: { cookie } })).status).toBe(401)
    expect((await end(theirs)).status).toBe(404)
    expect((await end('0197f2a0-0000-7000-8000-000000000000')).status).toBe(404)
    expect((await end('x')).status).toBe(400)
    const own = await end(SESSION)
    expect([own.status, cookiesOf(own)]).toEqual([200, CLEARED])
    expect((await asAlice('/api/auth/sessions')).status).toBe(401)
  })

  it('[S11] logout-all ends every session of the user and clears both cookies', async () => {
    const { app, asAlice, disconnected } = await openHttpRig()
    const other = await app.request('/api/auth/dev', signIn({ displayName: 'Alice' }))
    const response = await asAlice('/api/auth/logout-all', { method: 'POST' })
    expect([response.status, await response.json(), cookiesOf(response)]).toEqual([200, { ended: 2 }, CLEARED])
    expect(disconnected).toEqual([ALICE])
    const headers = { cookie: cookiesOf(other).join('; ') }
    expect((await app.request('/api/wallet', { headers })).status).toBe(401)
    expect((await app.request('/api/auth/logout-all', { method: 'POST' })).status).toBe(401)
  })

  it('logout clears the cookies whatever the query is, and even if the database is unavailable', async () => {
    const { deps } = await openHttpRig()
    const { asAlice } = await openHttpRig({ deps: { sessions: { ...deps.sessions, end: away } } })
    const response = await asAlice('/api/auth/logout?reason=any', { method: 'POST' })
    expect([response.status, cookiesOf(response)]).toEqual([503, CLEARED])
  })
})
