/** Section 4.1: sign-in and public routes. */
import assert from 'node:assert/strict'
import { z } from 'zod'
import { type Check, into, refuses, says } from './check.ts'
import { FeedSocket } from './feed.ts'
import { Flags, Me, SignedIn, Username } from './shapes.ts'
import { read } from './visitor.ts'

export const checks: Check[] = []
const check = into(checks)

check(
  '4.1.1',
  'POST | `/api/auth/google` | None | 20/min | in: `idToken` string, `nonce` string. out: 200 `{user, isNew:false}` + cookies; or 422 `{needsProfile:true, registrationTicket, email, ...}`',
  '`POST /api/auth/google` takes `idToken` and `nonce`, no cookie; 200 with `user`, or 422 with a ticket.',
  async (t) => {
    const sub = t.newName()
    const reply = await t.google(t.visitor(), sub)
    says(reply, 422, { needsProfile: true, email: `${sub}@conformance.example` })
    const { registrationTicket } = reply.body as { registrationTicket: unknown }
    assert.equal(typeof registrationTicket, 'string')
    const user = await t.user()
    read(await t.google(t.visitor(), user.sub), SignedIn.extend({ isNew: z.literal(false) }))
  },
)

check(
  '4.1.2',
  'in: `idToken` string, `nonce` string. … General: JSON bodies.',
  '`POST /api/auth/google` refuses a body without token or nonce: 400, with the issues.',
  async (t) => {
    for (const body of [{}, { idToken: 'x' }, { nonce: 'x' }, { idToken: 1, nonce: 'x' }, [], 'null']) {
      const reply = await t.visitor().post('/api/auth/google', body)
      refuses(reply, 400, { error: 'validation failed' })
      const { issues } = reply.body as { issues?: readonly { path?: unknown; message?: unknown }[] }
      assert(
        issues !== undefined && issues.length > 0 && issues.every(({ message }) => typeof message === 'string'),
        reply.text,
      )
    }
  },
)

check(
  '4.1.3',
  'POST | `/api/auth/google/complete` | None | 10/min | in: `registrationTicket`, `firstName`, further profile fields. out: 200 `{user, isNew:true, ...}` + cookies',
  '`POST /api/auth/google/complete` takes ticket and profile, answers `user` and `isNew:true`, sets cookies.',
  async (t) => {
    const visitor = t.visitor()
    const { registrationTicket } = await t.verified(visitor)
    const body = { registrationTicket, username: t.newName(), firstName: 'Con', districtId: await t.district() }
    const signedIn = read(await visitor.post('/api/auth/google/complete', body), SignedIn)
    assert.equal(signedIn.isNew, true)
    assert.equal(visitor.cookies.size, 2)
  },
)

check(
  '4.1.4',
  'POST | `/api/auth/verify-otp` | None | 10/min | in: `registrationTicket`, `otp` (6 digits). out: 200 `{verified:true}`',
  '`POST /api/auth/verify-otp` takes a ticket and 6 digits; anything else is 400.',
  async (t) => {
    const visitor = t.visitor()
    const { registrationTicket, otp } = await t.ticket(visitor)
    for (const wrong of ['12345', '1234567', 'abcdef', 123_456, '']) {
      refuses(await visitor.post('/api/auth/verify-otp', { registrationTicket, otp: wrong }), 400, {
        error: 'validation failed',
      })
    }
    says(await visitor.post('/api/auth/verify-otp', { registrationTicket, otp }), 200, { verified: true })
  },
)

check(
  '4.1.5',
  'POST | `/api/auth/resend-otp` | None | 5/min | re-sends OTP; 429 with `Retry-After` during cooldown',
  '`POST /api/auth/resend-otp` answers 429 with `Retry-After` during the cooldown.',
  async (t) => {
    const visitor = t.visitor()
    const { registrationTicket } = await t.ticket(visitor)
    const reply = await visitor.post('/api/auth/resend-otp', { registrationTicket })
    refuses(reply, 429)
    assert(Number(reply.headers.get('retry-after')) >= 1, 'no Retry-After')
  },
)

check(
  '4.1.6',
  'POST | `/api/auth/refresh` | refresh cookie | global | rotates pair',
  '`POST /api/auth/refresh` wants the refresh cookie: 401 without.',
  async (t) => {
    refuses(await t.visitor().post('/api/auth/refresh'), 401)
    says(await (await t.user()).post('/api/auth/refresh'), 200)
  },
)

check(
  '4.1.7',
  'POST | `/api/auth/logout` | Optional | global | idempotent; clears cookies',
  '`POST /api/auth/logout` is idempotent and needs no session.',
  async (t) => {
    const user = await t.user()
    for (let n = 0; n < 3; n++) says(await user.post('/api/auth/logout'), 200)
  },
)

check(
  '4.1.8',
  'POST | `/api/users/check-username` | None | 60/min | tells whether a username is available and valid',
  '`POST /api/users/check-username` tells whether a username is available and valid.',
  async (t) => {
    const visitor = t.visitor()
    const ask = async (username: string) => {
      const { available, valid } = read(await visitor.post('/api/users/check-username', { username }), Username)
      return { available, valid }
    }
    assert.deepEqual(await ask(t.newName()), { available: true, valid: true })
    assert.deepEqual(await ask((await t.observer()).profile.username), { available: false, valid: true })
    for (const bad of ['ab', 'A_b', '9ab', 'root', ''])
      assert.deepEqual(await ask(bad), { available: false, valid: false }, bad)
  },
)

check(
  '4.1.9',
  'GET | `/api/flags` | None | global | map flag key to boolean … Every path is under `{base_url}/api` unless stated.',
  '`GET /api/flags` is a map from flag key to boolean, for everybody.',
  async (t) => {
    const flags = await t.visitor().get('/api/flags', Flags)
    assert.equal('coming_soon' in flags, true)
  },
)

check(
  '4.1.10',
  'GET | `/api/public/referral/validate` | None | 10/min | always 200; `valid:false` for unknown codes',
  '`GET /api/public/referral/validate` is always 200; `valid:false` for unknown codes.',
  async (t) => {
    const { referralCode } = (await t.observer()).profile
    const visitor = t.visitor()
    says(await visitor.ask('GET', `/api/public/referral/validate?code=${referralCode}`), 200, { valid: true })
    for (const query of ['?code=NOBODY99', '', '?code=', '?code=%00', `?code=${'x'.repeat(2_000)}`, '?code=a&code=b']) {
      says(await visitor.ask('GET', `/api/public/referral/validate${query}`), 200, { valid: false })
    }
  },
)

check(
  '4.1.11',
  'GET | `/api/me` | Optional | global | `{loggedIn:false}` when unauthenticated, else full profile',
  '`GET /api/me` is `{loggedIn:false}` when unauthenticated, else the full profile.',
  async (t) => {
    const visitor = t.visitor()
    assert.deepEqual((await visitor.ask('GET', '/api/me')).body, { loggedIn: false })
    visitor.cookies.set('game_access', 'nonsense')
    const reply = await visitor.ask('GET', '/api/me')
    assert.deepEqual([reply.status, reply.body], [200, { loggedIn: false }])
    const user = await t.user()
    assert.equal((await user.get('/api/me', Me)).userId, user.id)
  },
)

check(
  '4.1.12',
  'POST | `/api/ws/token` | JWT | global | issues a 60-second `ws` token',
  '`POST /api/ws/token` wants the access cookie, and issues a token that opens a socket.',
  async (t) => {
    refuses(await t.visitor().post('/api/ws/token'), 401)
    const user = await t.user()
    const feed = await FeedSocket.open(await t.wsUrl(user), await t.wsToken(user))
    t.later(() => feed.close())
    await feed.ask({ type: 'ping', id: 1 })
  },
)

check(
  '4.1.13',
  'GET | `/health` | None | | on both the API and the WebSocket server',
  '`GET /health` answers on the API and on the WebSocket server.',
  async (t) => {
    const user = await t.observer()
    says(await t.visitor().ask('GET', '/health'), 200)
    assert.equal((await fetch(`${(await t.wsUrl(user)).replace(/^ws/, 'http')}/health`)).status, 200)
  },
)

const Made = z.looseObject({
  users: z.array(z.looseObject({ userId: z.uuid(), accessToken: z.string(), refreshToken: z.string() })),
})

check(
  '4.1.14',
  '`POST /api/auth/dev` (create or log in a synthetic user by display name, idempotent)',
  '`POST /api/auth/dev` makes or signs in a synthetic user by display name, idempotently; absent in production.',
  async (t) => {
    const displayName = `Con ${t.newName()}`
    const visitor = t.visitor()
    const first = await visitor.post('/api/auth/dev', { displayName })
    if (t.target.production) return refuses(first, 404)
    const made = read(first, SignedIn)
    const again = read(await t.visitor().post('/api/auth/dev', { displayName }), SignedIn)
    assert.deepEqual([made.isNew, again.isNew, again.user.userId], [true, false, made.user.userId])
    says(await visitor.ask('GET', '/api/wallet'), 200, { balance: 10_000 })
  },
)

check(
  '4.1.15',
  '`POST /api/auth/dev/batch` (create up to 1000 synthetic users) … Dev batch creation | up to 1000 users',
  '`POST /api/auth/dev/batch` makes up to 1000 synthetic users; absent in production.',
  async (t) => {
    const prefix = t.newName()
    const visitor = t.visitor()
    const reply = await visitor.post('/api/auth/dev/batch', { count: 1_000, prefix })
    if (t.target.production) return refuses(reply, 404)
    const { users } = read(reply, Made)
    assert.equal(new Set(users.map(({ userId }) => userId)).size, 1_000)
    visitor.cookies.set('game_access', users[999]?.accessToken ?? '')
    says(await visitor.ask('GET', '/api/wallet'), 200, { balance: 10_000 })
    refuses(await t.visitor().post('/api/auth/dev/batch', { count: 1_001, prefix }), 400)
  },
)

check(
  '4.1.16',
  'create or log in a synthetic user by display name, idempotent',
  'Another display name is another user, however alike it looks; absent in production.',
  async (t) => {
    const name = `Zoe ${t.newName()}`
    if (t.target.production) return refuses(await t.visitor().post('/api/auth/dev', { displayName: name }), 404)
    const made = []
    for (const displayName of [name, name.replace(' ', '_'), name.replace('Zoe', 'Zo\u00eb')]) {
      made.push(read(await t.visitor().post('/api/auth/dev', { displayName }), SignedIn).user.userId)
    }
    assert.equal(new Set(made).size, made.length, 'two names are one user')
  },
)
