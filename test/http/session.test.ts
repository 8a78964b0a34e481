import { SignJWT, UnsecuredJWT } from 'jose'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { userId } from '../../actors/kernel/ids.ts'
import { loadOrCreateKeys, newPrivateKeyPem } from '../../src/auth/keys.ts'
import { createTokens } from '../../src/auth/tokens.ts'
import { ALICE, alice, away, keys, LIFETIMES, openHttpRig, order, SESSION } from './http-rig.ts'

const profile = {
  userId: ALICE,
  username: 'alice',
  firstName: 'Alice',
  name: 'Alice Ford',
  lastName: null,
  email: 'alice@synthetic.touchline.example',
  picture: null,
  role: 'user',
  districtId: 1,
  xp: 0,
  level: 1,
  referralCode: 'ALICE1',
  status: 'active',
  hiddenFromBoards: false,
  createdAt: '2026-05-02T14:30:00.000Z',
  wallet: {
    purse: 'main',
    balance: 9950,
    marginUsed: 50,
    unrealizedPnl: 25,
    equity: 9975,
    freeMargin: 9950,
    currency: 'UNIT',
  },
}

const Sessions = z.object({ sessions: z.array(z.looseObject({ id: z.string() })) })
const WsToken = z.looseObject({ token: z.string() })

const signIn = (body: unknown) => ({
  method: 'POST',
  body: JSON.stringify(body),
  headers: { 'content-type': 'application/json' },
})

describe('the dev sign-in', () => {
  it('signs in by display name: the profile, and both session cookies', async () => {
    const { app, tokens } = await openHttpRig()
    const response = await app.request('/api/auth/dev', signIn({ displayName: ' Alice ', districtId: 1 }))
    expect([response.status, await response.json()]).toEqual([200, { user: profile, isNew: false }])
    const cookies = response.headers.getSetCookie()
    expect(cookies).toEqual([
      expect.stringMatching(/^game_access=[\w.-]+; Path=\/; Max-Age=900; HttpOnly; SameSite=Lax$/),
      expect.stringMatching(/^game_refresh=[\w.-]+; Path=\/; Max-Age=604800; HttpOnly; SameSite=Lax$/),
    ])
    const [access = '', refresh = ''] = cookies.map((cookie) => /=([^;]+)/.exec(cookie)?.[1])
    expect(await tokens.verifyAccess(access)).toMatchObject({ userId: ALICE, districtId: 1, role: 'user' })
    expect(await tokens.verifyRefresh(refresh)).toMatchObject({ userId: ALICE })
  })

  it('the cookie it sets opens the protected routes', async () => {
    const { app } = await openHttpRig()
    const response = await app.request('/api/auth/dev', signIn({ displayName: 'Bob' }))
    expect(await response.json()).toMatchObject({ isNew: true })
    const cookie = response.headers.getSetCookie().join('; ')
    expect((await app.request('/api/wallet', { headers: { cookie } })).status).toBe(200)
  })

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

  it('does not exist in production', async () => {
    const { app } = await openHttpRig({ production: true })
    expect((await app.request('/api/auth/dev', signIn({ displayName: 'Alice' }))).status).toBe(404)
    expect(await (await app.request('/api/openapi.json')).text()).not.toContain('/api/auth/dev')
  })
})

describe('who is signed in', () => {
  it('me is the profile with the wallet, or loggedIn: false', async () => {
    const { app, asAlice, tokens } = await openHttpRig()
    expect(await (await asAlice('/api/me')).json()).toEqual({ loggedIn: true, ...profile })
    expect(await (await app.request('/api/me')).json()).toEqual({ loggedIn: false })
    const forged = await app.request('/api/me', { headers: { cookie: 'game_access=forged' } })
    expect([forged.status, await forged.json()]).toEqual([200, { loggedIn: false }])
    const ghost = await tokens.issueAccess({ ...alice, id: userId('0197f2a0-0000-7000-8000-0000000000ff') }, SESSION)
    const headers = { cookie: `game_access=${ghost}` }
    expect(await (await app.request('/api/me', { headers })).json()).toEqual({ loggedIn: false })
    expect((await app.request('/api/wallet', { headers })).status).toBe(401)
  })

  it('a WebSocket token identifies the caller for a minute, and comes with the address', async () => {
    const { asAlice, tokens } = await openHttpRig()
    const response = await asAlice('http://game.example:3000/api/ws/token', { method: 'POST' })
    expect(response.status).toBe(200)
    const { token, ...rest } = WsToken.parse(await response.json())
    expect(rest).toEqual({ expiresIn: 60, wsUrl: 'ws://game.example:3001' })
    expect(await tokens.verifyWs(token)).toMatchObject({ userId: ALICE })
  })
})

describe('the access cookie', () => {
  it('a protected route answers 401 to anything but a valid access token', async () => {
    const { app, tokens, world } = await openHttpRig()
    const strangers = await loadOrCreateKeys({ dataDir: '', privateKeyPem: await newPrivateKeyPem(), keyId: 'test' })
    const theirs = createTokens({ keys: strangers, lifetimes: LIFETIMES, world })
    const claims = { typ: 'access', userId: ALICE, districtId: 1, role: 'admin', jti: 'x', sid: SESSION }
    const good = await tokens.issueAccess(alice, SESSION)
    const exp = Math.floor(world.now() / 1000) + 60
    const ours = (payload: object, issuer = 'game-api', kid = keys.keyId) =>
      new SignJWT({ ...claims, exp, ...payload }).setProtectedHeader({ alg: 'RS256', kid }).setIssuer(issuer)
    const bad = {
      missing: '',
      nonsense: 'nonsense',
      'a refresh token': await tokens.issueRefresh({ id: SESSION, userId: ALICE, generation: 1 }),
      'a WebSocket token': await tokens.issueWs({ userId: ALICE, sid: SESSION }),
      "another server's": await theirs.issueAccess(alice, SESSION),
      altered: good.replace(/\.[^.]+\./, `.${Buffer.from(JSON.stringify(claims)).toString('base64url')}.`),
      unsigned: new UnsecuredJWT({ ...claims, exp }).setIssuer('game-api').encode(),
      'signed with the public key': await new SignJWT({ ...claims, exp })
        .setProtectedHeader({ alg: 'HS256' })
        .setIssuer('game-api')
        .sign(new TextEncoder().encode(keys.publicKey.export({ type: 'spki', format: 'pem' }).toString())),
      "another issuer's": await ours({}, 'somebody').sign(keys.privateKey),
      'of another type': await ours({ typ: 'ws' }).sign(keys.privateKey),
      'without expiry': await ours({ exp: undefined }).sign(keys.privateKey),
      'of an unknown key': await ours({}, 'game-api', 'another').sign(keys.privateKey),
      'without a type': await ours({ typ: undefined }).sign(keys.privateKey),
    }
    for (const [what, token] of Object.entries(bad)) {
      const response = await app.request('/api/wallet', { headers: { cookie: `game_access=${token}` } })
      expect(response.status, what).toBe(401)
      const requestId = response.headers.get('x-request-id')
      expect(await response.json()).toEqual({ error: 'unauthorized', code: 'UNAUTHORIZED', requestId })
    }
    const control = await ours({}).sign(keys.privateKey)
    for (const token of [good, control]) {
      expect((await app.request('/api/wallet', { headers: { cookie: `game_access=${token}` } })).status).toBe(200)
    }
  })

  it('an access token ends with its lifetime, to the second', async () => {
    const { asAlice, world } = await openHttpRig()
    world.pass((LIFETIMES.accessSecs - 1) * 1_000)
    expect((await asAlice('/api/wallet')).status).toBe(200)
    world.pass(1_000)
    expect((await asAlice('/api/wallet')).status).toBe(401)
  })

  it('an order is not validated before sign-in', async () => {
    const { app, commands } = await openHttpRig()
    const response = await app.request('/api/positions/open', signIn({ lotSize: 'x' }))
    expect(response.status).toBe(401)
    expect(commands).toEqual([])
  })
})

describe('staying signed in', () => {
  const cookiesOf = (response: Response) => response.headers.getSetCookie()
  const CLEARED = [
    'game_access=; Path=/; Max-Age=0; HttpOnly; SameSite=Lax',
    'game_refresh=; Path=/; Max-Age=0; HttpOnly; SameSite=Lax',
  ]

  it('a refresh answers with the user and sets the next pair, with the current role', async () => {
    const { app, tokens } = await openHttpRig()
    const refresh = await tokens.issueRefresh({ id: SESSION, userId: ALICE, generation: 1 })
    const headers = { cookie: `game_refresh=${refresh}` }
    const response = await app.request('/api/auth/refresh', { method: 'POST', headers })
    expect([response.status, await response.json()]).toEqual([200, { user: profile }])
    const [access = '', next = ''] = cookiesOf(response).map((cookie) => /=([^;]+)/.exec(cookie)?.[1])
    expect(await tokens.verifyAccess(access)).toMatchObject({ userId: ALICE, sid: SESSION, role: 'user' })
    expect(await tokens.verifyRefresh(next)).toMatchObject({ sid: SESSION, gen: 2 })
  })

  it('a missing, wrong or ended refresh token is 401, and clears both cookies', async () => {
    const { app, tokens } = await openHttpRig()
    const over = await tokens.issueRefresh({ id: SESSION, userId: ALICE, generation: 1 })
    await app.request('/api/auth/logout', { method: 'POST', headers: { cookie: `game_refresh=${over}` } })
    for (const token of ['', 'x', await tokens.issueAccess(alice, SESSION), over]) {
      const headers = { cookie: `game_refresh=${token}` }
      const response = await app.request('/api/auth/refresh', { method: 'POST', headers })
      expect(response.status).toBe(401)
      expect(cookiesOf(response)).toEqual(CLEARED)
    }
  })

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

  it('logout ends the session of an expired access cookie too, closes the sockets, and clears both cookies', async () => {
    const { app, asAlice, tokens, world, disconnected } = await openHttpRig()
    const refresh = await tokens.issueRefresh({ id: SESSION, userId: ALICE, generation: 1 })
    world.pass(LIFETIMES.accessSecs * 1_000)
    for (let n = 0; n < 2; n++) {
      const response = await asAlice('/api/auth/logout', { method: 'POST' })
      expect([response.status, await response.json()]).toEqual([200, { loggedOut: true }])
      expect(cookiesOf(response)).toEqual(CLEARED)
    }
    expect(disconnected).toEqual([ALICE, ALICE])
    const again = { method: 'POST', headers: { cookie: `game_refresh=${refresh}` } }
    expect((await app.request('/api/auth/refresh', again)).status).toBe(401)
  })

  it('logout without a session is 200, and a forged cookie ends no session', async () => {
    const { app, asAlice, disconnected } = await openHttpRig()
    for (const cookie of ['', 'game_access=x; game_refresh=y']) {
      const response = await app.request('/api/auth/logout', { method: 'POST', headers: { cookie } })
      expect([response.status, cookiesOf(response)]).toEqual([200, CLEARED])
    }
    expect(disconnected).toEqual([])
    expect((await asAlice('/api/wallet')).status).toBe(200)
  })

  it('logout clears the cookies even if the database is unavailable', async () => {
    const { deps } = await openHttpRig()
    const { asAlice } = await openHttpRig({ deps: { sessions: { ...deps.sessions, end: away } } })
    const response = await asAlice('/api/auth/logout', { method: 'POST' })
    expect([response.status, cookiesOf(response)]).toEqual([503, CLEARED])
  })

  it('[S4] the access cookie of an ended session is refused at once', async () => {
    const { asAlice } = await openHttpRig()
    expect((await asAlice('/api/wallet')).status).toBe(200)
    await asAlice('/api/auth/logout', { method: 'POST' })
    expect((await asAlice('/api/wallet')).status).toBe(401)
    expect(await (await asAlice('/api/me')).json()).toEqual({ loggedIn: false })
  })
})

describe('the dev batch', () => {
  it('creates the requested number of users, each with valid tokens', async () => {
    const { app, tokens } = await openHttpRig()
    const response = await app.request('/api/auth/dev/batch', signIn({ count: 3, prefix: 'Load' }))
    const { users } = z
      .object({ users: z.array(z.object({ accessToken: z.string(), refreshToken: z.string() })) })
      .parse(await response.json())
    expect([response.status, users.length, response.headers.getSetCookie()]).toEqual([200, 3, []])
    const claims = await Promise.all(users.map(({ accessToken }) => tokens.verifyAccess(accessToken)))
    expect(new Set(claims.map((claim) => claim?.sid)).size).toBe(3)
    expect(await tokens.verifyRefresh(users[0]?.refreshToken ?? '')).toMatchObject({ sid: claims[0]?.sid, gen: 1 })
  })

  it('refuses invalid counts and more than 1,000, and does not exist in production', async () => {
    const { app } = await openHttpRig()
    for (const count of [0, 1_001, 1.5, '3', null, undefined]) {
      expect((await app.request('/api/auth/dev/batch', signIn({ count }))).status, String(count)).toBe(400)
    }
    const live = await openHttpRig({ production: true })
    expect((await live.app.request('/api/auth/dev/batch', signIn({ count: 1 }))).status).toBe(404)
  })
})

describe('the flag coming_soon', () => {
  it('makes protected routes 503 with Retry-After for all but admins', async () => {
    const [user, admin] = [
      await openHttpRig({ comingSoon: true }),
      await openHttpRig({ comingSoon: true, role: 'admin' }),
    ]
    const asked = [
      ['GET', '/api/wallet'],
      ['POST', '/api/positions/open'],
      ['POST', '/api/ws/token'],
      ['GET', '/api/admin/flags'],
    ] as const
    for (const [method, path] of asked) {
      const body =
        method === 'GET' ? {} : { body: JSON.stringify(order), headers: { 'content-type': 'application/json' } }
      const refused = await user.asAlice(path, { method, ...body })
      expect([refused.status, refused.headers.get('retry-after')], path).toEqual([503, '60'])
      expect(await refused.json()).toMatchObject({ error: 'coming soon', code: 'COMING_SOON' })
      expect((await admin.asAlice(path, { method, ...body })).ok, path).toBe(true)
      expect((await user.app.request(path, { method })).status).toBe(401)
    }
    expect(user.commands).toEqual([])
    expect((await user.asAlice('/api/me')).status).toBe(200)
    expect((await user.asAlice('/api/auth/logout', { method: 'POST' })).status).toBe(200)
  })

  it('flags are public and current', async () => {
    for (const comingSoon of [false, true]) {
      const { app } = await openHttpRig({ comingSoon })
      expect(await (await app.request('/api/flags')).json()).toEqual({ coming_soon: comingSoon })
    }
  })
})
