/** Section 5: authentication. */
import assert from 'node:assert/strict'
import { SignJWT } from 'jose'
import { type Check, into, refuses, says } from './check.ts'
import { FeedSocket } from './feed.ts'
import { CLIENT_ID } from './identity-provider.ts'
import { Me, SignedIn } from './shapes.ts'
import type { CheckContext } from './context.ts'
import { ACCESS, forge, readToken, REFRESH } from './tokens.ts'
import { OTHER_ADMIN } from './trust.ts'
import { read, Visitor } from './visitor.ts'

export const checks: Check[] = []
const check = into(checks)

// 5.1 Identity verification

const BAD_TOKENS: readonly (readonly [
  what: string,
  make: (t: CheckContext, sub: string, nonce: string) => Promise<string>,
])[] = [
  ['signed with a key that is not in the key set', (t, sub, nonce) => t.trust.identity.strangersToken(sub, nonce)],
  ['for another client (audience)', (t, sub, nonce) => t.trust.identity.token(sub, nonce, { aud: 'somebody-else' })],
  [
    'of another issuer',
    (t, sub, nonce) => t.trust.identity.token(sub, nonce, { iss: 'https://accounts.evil.example' }),
  ],
  [
    'that has expired',
    (t, sub, nonce) => t.trust.identity.token(sub, nonce, { iat: now() - 7_200, exp: now() - 3_600 }),
  ],
  ['without an expiry', (t, sub, nonce) => t.trust.identity.token(sub, nonce, { exp: undefined })],
  [
    'with an e-mail that is not verified',
    (t, sub, nonce) => t.trust.identity.token(sub, nonce, { email_verified: false }),
  ],
  [
    'with `email_verified` as a word',
    (t, sub, nonce) => t.trust.identity.token(sub, nonce, { email_verified: 'true' }),
  ],
  ['without an e-mail', (t, sub, nonce) => t.trust.identity.token(sub, nonce, { email: undefined })],
  ['for another nonce', (t, sub, nonce) => t.trust.identity.token(sub, `${nonce}x`)],
  ['without a nonce', (t, sub, nonce) => t.trust.identity.token(sub, nonce, { nonce: undefined })],
  ['that is not signed', async (t, sub, nonce) => unsigned(t.trust.identity.claims(sub, nonce))],
  ['signed with HMAC', (t, sub, nonce) => hmacSigned(t.trust.identity.claims(sub, nonce))],
  ['that is no token', async () => 'not.a.token'],
]

const now = (): number => Math.floor(Date.now() / 1_000)
const unsigned = (claims: object): string =>
  `${[{ alg: 'none', typ: 'JWT' }, claims].map((part) => Buffer.from(JSON.stringify(part)).toString('base64url')).join('.')}.`
const hmacSigned = (claims: Record<string, unknown>): Promise<string> =>
  new SignJWT(claims)
    .setProtectedHeader({ alg: 'HS256', kid: 'conformance' })
    .sign(new TextEncoder().encode(CLIENT_ID.repeat(2)))

const VERIFIED =
  "Identity verification: the client sends an identity-provider ID token. … signature, audience equals the configured client id (`IDP_CLIENT_ID`), issuer equals the provider's issuer, expiry, and `email_verified` is true. … When an expected nonce is supplied, the `nonce` claim must match."

check(
  '5.1.1',
  VERIFIED,
  'Nothing else is asked of it: a token is taken fifty minutes after it was issued, as long as it has not expired.',
  async (t) => {
    const [sub, nonce] = [t.newName(), t.newName()]
    const idToken = await t.trust.identity.token(sub, nonce, { iat: now() - 3_000, exp: now() + 600 })
    says(await t.visitor().post('/api/auth/google', { idToken, nonce }), 422, { needsProfile: true })
  },
)

for (const [n, [what, make]] of BAD_TOKENS.entries()) {
  check(`5.1.${n + 2}`, VERIFIED, `An identity token ${what} is refused, and its nonce stays unused.`, async (t) => {
    const [sub, nonce] = [t.newName(), t.newName()]
    const send = (idToken: string) => t.visitor().post('/api/auth/google', { idToken, nonce })
    refuses(await send(await make(t, sub, nonce)), 401, { error: 'invalid identity token' })
    says(await send(await t.trust.identity.token(sub, nonce)), 422, { needsProfile: true })
  })
}

// 5.2 Nonce

check(
  '5.2.1',
  'Nonce: claimed once with a 300 s lifetime; a second use is rejected. … Nonce | single use, 300 s',
  'A nonce is claimed once: of ten who send it at once one gets through.',
  async (t) => {
    const nonce = t.newName()
    const tokens = await Promise.all(Array.from({ length: 10 }, () => t.trust.identity.token(t.newName(), nonce)))
    const replies = await Promise.all(tokens.map((idToken) => t.visitor().post('/api/auth/google', { idToken, nonce })))
    assert.equal(replies.filter(({ status }) => status === 422).length, 1)
    for (const reply of replies) if (reply.status !== 422) refuses(reply, 401, { error: 'nonce already used' })
  },
)

// 5.3 and 5.4 Sessions and cookies

check(
  '5.3.1',
  'Sessions: HTTP-only cookies `game_access` and `game_refresh` hold the access and refresh tokens (section 2.1).',
  'The cookies `game_access` and `game_refresh` hold the access and the refresh token.',
  async (t) => {
    const user = await t.user()
    const types = [ACCESS, REFRESH].map((name) => readToken(user.cookies.get(name) ?? '').claims['typ'])
    assert.deepEqual(types, ['access', 'refresh'])
  },
)

/** The attributes of both cookies, as set by a sign-in. */
async function attributes(t: CheckContext): Promise<readonly string[][]> {
  const user = await t.user()
  const reply = await user.post('/api/auth/refresh')
  const set = reply.headers.getSetCookie()
  assert.equal(set.length, 2)
  return set.map((one) => one.split('; ').slice(1))
}

check('5.4.1', 'Cookie attributes: `HttpOnly`', 'Both cookies are `HttpOnly`.', async (t) => {
  for (const found of await attributes(t)) assert(found.includes('HttpOnly'), found.join('; '))
})

check(
  '5.4.2',
  '`Secure` only when production; `SameSite=None; Partitioned` in production, `SameSite=Lax` in local development',
  '`Secure; SameSite=None; Partitioned` in production, `SameSite=Lax` without `Secure` otherwise.',
  async (t) => {
    for (const found of await attributes(t)) {
      const [secure, site, partitioned] = ['Secure', 'SameSite=None', 'Partitioned'].map((name) => found.includes(name))
      if (t.target.production) assert.deepEqual([secure, site, partitioned], [true, true, true], found.join('; '))
      else
        assert.deepEqual([secure, partitioned, found.includes('SameSite=Lax')], [false, false, true], found.join('; '))
    }
  },
)

check(
  '5.4.3',
  '`Domain` from config `COOKIE_DOMAIN` (empty in development).',
  '`Domain` comes from the configuration, and is absent where it is empty.',
  async (t) => {
    for (const found of await attributes(t)) {
      const domain = found.find((one) => one.startsWith('Domain='))
      assert.equal(domain, t.target.production && t.target.trust !== null ? 'Domain=conformance.example' : undefined)
    }
  },
)

// 5.5 and 5.6 Protected and admin routes

check(
  '5.5.1',
  'Protected routes: take the `game_access` cookie, validate it with expected type `access`',
  'A protected route takes the access cookie and no other way of signing in.',
  async (t) => {
    const user = await t.user()
    const token = user.cookies.get(ACCESS) ?? ''
    refuses(await t.visitor().ask('GET', '/api/wallet', { headers: { authorization: `Bearer ${token}` } }), 401)
    refuses(await t.visitor().ask('GET', `/api/wallet?token=${token}`), 401)
    says(await user.ask('GET', '/api/wallet'), 200)
  },
)

check(
  '5.5.2',
  "check its jti is not revoked, and set the caller's user id and role. Failure gives 401.",
  'A revoked access token is 401 at once.',
  async (t) => {
    const user = await t.user()
    const copy = new Visitor(user.url)
    copy.cookies.set(ACCESS, user.cookies.get(ACCESS) ?? '')
    says(await copy.ask('GET', '/api/wallet'), 200)
    await user.post('/api/auth/logout')
    refuses(await copy.ask('GET', '/api/wallet'), 401)
  },
)

check(
  '5.5.3',
  'The optional variant (used by `GET /api/me`) returns an empty identity instead of 401.',
  '`GET /api/me` returns an empty identity where a protected route would be 401.',
  async (t) => {
    const user = await t.user()
    const expired = await forge(user.cookies.get(ACCESS) ?? '', { iat: now() - 1_000, exp: now() - 1 }, t.trust)
    user.cookies.set(ACCESS, expired)
    refuses(await user.ask('GET', '/api/wallet'), 401)
    const reply = await user.ask('GET', '/api/me')
    assert.deepEqual([reply.status, reply.body], [200, { loggedIn: false }])
  },
)

check(
  '5.6.1',
  'Admin routes return 403 unless role is `admin`; they run after the access check.',
  'Admin routes run after the access check: 401 without a session, 403 unless the role is `admin`.',
  async (t) => {
    refuses(await t.visitor().ask('GET', '/api/admin/flags'), 401)
    refuses(await (await t.user()).ask('GET', '/api/admin/flags'), 403)
    says(await (await t.admin()).ask('GET', '/api/admin/flags'), 200)
  },
)

// 5.7 Refresh and logout

check(
  '5.7.1',
  'Refresh: validates refresh token against the revocation list, loads the user, revokes the old refresh jti, issues a new pair.',
  'A refresh reloads the user: the new tokens carry the current role and district.',
  async (t) => {
    const user = await t.user()
    const { user: profile } = (await user.post('/api/auth/refresh')).body as { user: { userId: string; role: string } }
    const { claims } = readToken(user.cookies.get(ACCESS) ?? '')
    assert.deepEqual([claims['userId'], claims['role']], [profile.userId, profile.role])
  },
)

// 5.8 WebSocket

check(
  '5.8.1',
  'WebSocket: `POST /api/ws/token`, then connect with query `?token=<WS_TOKEN>` … A second address `{ws_url}` serves the WebSocket feed.',
  'A socket is opened with `?token=`; without one, or with a bad one, it is closed with 4001 before anything is sent.',
  async (t) => {
    const user = await t.user()
    const address = await t.wsUrl(user)
    for (const token of [null, '', 'x.y.z']) assert.equal(await FeedSocket.refusal(address, token), 4001)
    const socket = await FeedSocket.open(address, await t.wsToken(user))
    t.later(() => socket.close())
  },
)

check('5.8.2', 'the cookie is not used for upgrades.', 'The cookie is not used for upgrades.', async (t) => {
  const user = await t.user()
  const cookie = `${ACCESS}=${user.cookies.get(ACCESS)}`
  assert.equal(await FeedSocket.refusal(await t.wsUrl(user), null, { cookie }), 4001)
})

check(
  '5.8.3',
  '`ws` | query parameter `token` | 60 s (`JWT_WS_EXPIRY`) … connect with query `?token=<WS_TOKEN>`',
  'A token opens sockets as long as it lives: two with the same one, side by side and one after the other.',
  async (t) => {
    const user = await t.user()
    const [address, token] = [await t.wsUrl(user), await t.wsToken(user)]
    for (let n = 0; n < 2; n++) {
      const socket = await FeedSocket.open(address, token)
      t.later(() => socket.close())
      await socket.ask({ type: 'ping', id: n })
    }
  },
)

// 5.9 Admin promotion

check(
  '5.9.1',
  'Admin promotion: users whose e-mail is in config `ADMIN_EMAILS` are promoted at startup and at every login; `role=admin` appears in claims on the next token issue.',
  'A user whose e-mail is in `ADMIN_EMAILS` is an admin from sign-in on, and the token says so.',
  async (t) => {
    const admin = await t.admin()
    assert.equal((await admin.get('/api/me', Me)).role, 'admin')
    assert.equal(readToken(admin.cookies.get(ACCESS) ?? '').claims['role'], 'admin')
  },
)

check(
  '5.9.2',
  'promoted at startup and at every login',
  'A user who signs in with an e-mail of that list is promoted at that login.',
  async (t) => {
    const visitor = t.visitor()
    const { profile } = await t.knownAs(OTHER_ADMIN)
    const admin = await t.admin()
    says(await admin.put(`/api/admin/users/${profile.userId}/role`, { role: 'user' }), 200)
    const { user } = read(await t.google(visitor, OTHER_ADMIN), SignedIn)
    assert.equal(user.role, 'admin')
    says(await visitor.ask('GET', '/api/admin/flags'), 200)
  },
)
