import { SignJWT, UnsecuredJWT } from 'jose'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { userId } from '../../actors/kernel/ids.ts'
import { loadOrCreateKeys, newPrivateKeyPem } from '../../src/auth/keys.ts'
import { createTokens } from '../../src/auth/tokens.ts'
import { ALICE, alice, keys, LIFETIMES, openDoor } from './door.ts'

const profile = {
  userId: ALICE,
  username: 'alice',
  firstName: 'Alice',
  lastName: null,
  email: 'alice@synthetic.touchline.example',
  picture: null,
  role: 'user',
  districtId: 1,
  xp: 0,
  referralCode: 'ALICE1',
  createdAt: '2026-05-02T14:30:00.000Z',
  wallet: { balance: 9950, marginUsed: 50, unrealizedPnl: 25, equity: 9975, freeMargin: 9950, currency: 'UNIT' },
}

const WsToken = z.looseObject({ token: z.string() })

const signIn = (body: unknown) => ({
  method: 'POST',
  body: JSON.stringify(body),
  headers: { 'content-type': 'application/json' },
})

describe('the dev sign-in', () => {
  it('[H40] signs in by display name: the profile, and both session cookies', async () => {
    const { app, deps } = await openDoor()
    const response = await app.request('/api/auth/dev', signIn({ displayName: ' Alice ', districtId: 1 }))
    expect([response.status, await response.json()]).toEqual([200, { user: profile, isNew: false }])
    const cookies = response.headers.getSetCookie()
    expect(cookies).toEqual([
      expect.stringMatching(/^game_access=[\w.-]+; Path=\/; Max-Age=900; HttpOnly; SameSite=Lax$/),
      expect.stringMatching(/^game_refresh=[\w.-]+; Path=\/; Max-Age=604800; HttpOnly; SameSite=Lax$/),
    ])
    const [access = '', refresh = ''] = cookies.map((cookie) => /=([^;]+)/.exec(cookie)?.[1])
    expect(await deps.tokens.verifyAccess(access)).toMatchObject({ userId: ALICE, districtId: 1, role: 'user' })
    expect(await deps.tokens.verifyRefresh(refresh)).toMatchObject({ userId: ALICE })
  })

  it('[H40] the cookie it sets opens the protected routes', async () => {
    const { app } = await openDoor()
    const response = await app.request('/api/auth/dev', signIn({ displayName: 'Bob' }))
    expect(await response.json()).toMatchObject({ isNew: true })
    const cookie = response.headers.getSetCookie().join('; ')
    expect((await app.request('/api/wallet', { headers: { cookie } })).status).toBe(200)
  })

  it('[H41] refuses names nobody can have and districts that do not exist', async () => {
    const { app } = await openDoor()
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

  it('[H42] does not exist in production', async () => {
    const { app } = await openDoor({ production: true })
    expect((await app.request('/api/auth/dev', signIn({ displayName: 'Alice' }))).status).toBe(404)
    expect(await (await app.request('/api/openapi.json')).text()).not.toContain('/api/auth/dev')
  })
})

describe('who is signed in', () => {
  it('[H43] me is the profile with the wallet, or just not logged in', async () => {
    const { app, asAlice, deps } = await openDoor()
    expect(await (await asAlice('/api/me')).json()).toEqual({ loggedIn: true, ...profile })
    expect(await (await app.request('/api/me')).json()).toEqual({ loggedIn: false })
    const forged = await app.request('/api/me', { headers: { cookie: 'game_access=forged' } })
    expect([forged.status, await forged.json()]).toEqual([200, { loggedIn: false }])
    const ghost = await deps.tokens.issueAccess({ ...alice, id: userId('0197f2a0-0000-7000-8000-0000000000ff') })
    const headers = { cookie: `game_access=${ghost}` }
    expect(await (await app.request('/api/me', { headers })).json()).toEqual({ loggedIn: false })
    expect((await app.request('/api/wallet', { headers })).status).toBe(401)
  })

  it('[H44] a WebSocket token speaks for the caller for a minute, and comes with the address to use it at', async () => {
    const { asAlice, deps } = await openDoor()
    const response = await asAlice('http://game.example:3000/api/ws/token', { method: 'POST' })
    expect(response.status).toBe(200)
    const { token, ...rest } = WsToken.parse(await response.json())
    expect(rest).toEqual({ expiresIn: 60, wsUrl: 'ws://game.example:3001' })
    expect(await deps.tokens.verifyWs(token)).toMatchObject({ userId: ALICE })
  })
})

describe('the access cookie', () => {
  it('[H45] a protected route answers 401 to anything but a valid access token', async () => {
    const { app, deps, world } = await openDoor()
    const strangers = await loadOrCreateKeys({ dataDir: '', privateKeyPem: await newPrivateKeyPem(), keyId: 'test' })
    const theirs = createTokens({ keys: strangers, lifetimes: LIFETIMES, world })
    const claims = { typ: 'access', userId: ALICE, districtId: 1, role: 'admin', jti: 'x' }
    const good = await deps.tokens.issueAccess(alice)
    const exp = Math.floor(world.now() / 1000) + 60
    const ours = (payload: object, issuer = 'game-api') =>
      new SignJWT({ ...claims, exp, ...payload }).setProtectedHeader({ alg: 'RS256' }).setIssuer(issuer)
    const bad = {
      missing: '',
      nonsense: 'nonsense',
      'a refresh token': await deps.tokens.issueRefresh(ALICE),
      'a WebSocket token': await deps.tokens.issueWs(ALICE),
      "another server's": await theirs.issueAccess(alice),
      altered: good.replace(/\.[^.]+\./, `.${Buffer.from(JSON.stringify(claims)).toString('base64url')}.`),
      unsigned: new UnsecuredJWT({ ...claims, exp }).setIssuer('game-api').encode(),
      'signed with the public key': await new SignJWT({ ...claims, exp })
        .setProtectedHeader({ alg: 'HS256' })
        .setIssuer('game-api')
        .sign(new TextEncoder().encode(keys.publicKey.export({ type: 'spki', format: 'pem' }).toString())),
      "another issuer's": await ours({}, 'somebody').sign(keys.privateKey),
      'of another type': await ours({ typ: 'ws' }).sign(keys.privateKey),
      'without expiry': await ours({ exp: undefined }).sign(keys.privateKey),
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

  it('[H45] an access token ends with its lifetime, to the second', async () => {
    const { asAlice, world } = await openDoor()
    world.pass((LIFETIMES.accessSecs - 1) * 1_000)
    expect((await asAlice('/api/wallet')).status).toBe(200)
    world.pass(1_000)
    expect((await asAlice('/api/wallet')).status).toBe(401)
  })

  it('[H45] nobody is told whether an order is valid before signing in', async () => {
    const { app, commands } = await openDoor()
    const response = await app.request('/api/positions/open', signIn({ lotSize: 'x' }))
    expect(response.status).toBe(401)
    expect(commands).toEqual([])
  })
})
