import { describe, expect, it } from 'vitest'
import { districtId } from '../../actors/kernel/ids.ts'
import type { Profile, SignIn } from '../../src/auth/sign-in.ts'
import { alice, away, type HttpRig, openHttpRig } from './http-rig.ts'

const identity = { sub: 'ada', email: 'ada@example.com', name: 'Ada L.', picture: null }
const profile = { registrationTicket: 'ticket', username: 'ada_l', firstName: ' Ada ', districtId: 1 }

/** A rig with these steps of signing in. */
async function openWith(steps: Partial<SignIn>): Promise<HttpRig> {
  const { deps } = await openHttpRig()
  return openHttpRig({ deps: { signIn: { ...deps.signIn, ...steps } } })
}

const post = async ({ app }: HttpRig, path: string, body: unknown) =>
  app.request(path, { method: 'POST', body: JSON.stringify(body), headers: { 'content-type': 'application/json' } })
const begin = (rig: HttpRig) => post(rig, '/api/auth/google', { idToken: 'token', nonce: 'nonce' })
const complete = (rig: HttpRig, over: object = {}) => post(rig, '/api/auth/google/complete', { ...profile, ...over })
const cookies = (response: Response) => response.headers.getSetCookie().map((cookie) => cookie.split('=')[0])
const SESSION_COOKIES = ['game_access', 'game_refresh']

describe('signing in', () => {
  it('a registered user gets a profile and a session', async () => {
    const rig = await openHttpRig()
    const response = await begin(rig)
    expect([response.status, cookies(response)]).toEqual([200, SESSION_COOKIES])
    expect(await response.json()).toMatchObject({
      isNew: false,
      user: { userId: alice.id, wallet: { balance: 9_950 } },
    })
  })

  it('anyone else gets 422 with a ticket, and no session', async () => {
    const rig = await openWith({
      begin: async () => ({ kind: 'new', ticket: 'the ticket', identity, nextCodeInMs: 59_001 }),
    })
    const response = await begin(rig)
    expect([response.status, cookies(response)]).toEqual([422, []])
    expect(await response.json()).toEqual({
      error: 'profile needed',
      code: 'NEEDS_PROFILE',
      requestId: response.headers.get('x-request-id'),
      needsProfile: true,
      registrationTicket: 'the ticket',
      email: 'ada@example.com',
      name: 'Ada L.',
      picture: null,
      resendInSecs: 60,
    })
  })

  it('each failure has its own answer, and opens no session', async () => {
    const cases: readonly (readonly [Partial<SignIn>, (rig: HttpRig) => Promise<Response>, number, object])[] = [
      [{ begin: async () => ({ kind: 'invalid_token' }) }, begin, 401, { error: 'invalid identity token' }],
      [{ begin: async () => ({ kind: 'nonce_used' }) }, begin, 401, { error: 'nonce already used' }],
      [{ complete: ticketless }, complete, 401, { error: 'invalid registration ticket' }],
      [{ complete: async () => ({ kind: 'not_verified' }) }, complete, 403, { error: 'email not verified' }],
      [{ complete: async () => ({ kind: 'username_taken' }) }, complete, 409, { error: 'username taken' }],
      [
        { complete: async () => ({ kind: 'unknown_district' }) },
        complete,
        400,
        { error: 'validation failed', issues: [{ path: 'districtId', message: 'unknown district' }] },
      ],
      [
        { complete: async () => ({ kind: 'unknown_referral' }) },
        complete,
        400,
        { issues: [{ path: 'referralCode', message: 'unknown referral code' }] },
      ],
      [{ checkCode: ticketless }, verify, 401, { error: 'invalid registration ticket' }],
      [{ checkCode: async () => ({ kind: 'expired' }) }, verify, 400, { error: 'code expired' }],
      [
        { checkCode: async () => ({ kind: 'wrong', attemptsRemaining: 2 }) },
        verify,
        400,
        { error: 'invalid code', attemptsRemaining: 2 },
      ],
      [{ checkCode: async () => ({ kind: 'exhausted' }) }, verify, 429, { error: 'too many attempts' }],
      [{ resendCode: ticketless }, resend, 401, { error: 'invalid registration ticket' }],
      [{ resendCode: async () => ({ kind: 'too_soon', nextInMs: 12_345 }) }, resend, 429, { code: 'RESEND_TOO_SOON' }],
      [{ begin: away }, begin, 503, { code: 'UNAVAILABLE' }],
    ]
    for (const [steps, ask, status, answer] of cases) {
      const response = await ask(await openWith(steps))
      expect([response.status, cookies(response)], JSON.stringify(answer)).toEqual([status, []])
      expect(await response.json()).toMatchObject(answer)
    }
    const tooSoon = await resend(await openWith({ resendCode: async () => ({ kind: 'too_soon', nextInMs: 12_345 }) }))
    expect(tooSoon.headers.get('retry-after')).toBe('13')
  })

  it('[S15] metrics and the audit log hear how each sign-in ended', async () => {
    const invalid = await openWith({ begin: async () => ({ kind: 'invalid_token' }) })
    await begin(invalid)
    const wrong = await openWith({ checkCode: async () => ({ kind: 'wrong', attemptsRemaining: 2 }) })
    await verify(wrong)
    const fine = await openHttpRig()
    await begin(fine)
    await verify(fine)
    const reported = [invalid, wrong, fine].map(({ signIns }) => signIns.map(([outcome]) => outcome))
    expect(reported).toEqual([['INVALID_IDENTITY_TOKEN'], ['INVALID_CODE'], ['ok']])
  })

  it('codes are checked and resent', async () => {
    const rig = await openHttpRig()
    expect(await (await verify(rig)).json()).toEqual({ verified: true })
    expect(await (await resend(rig)).json()).toEqual({ sent: true, resendInSecs: 60 })
  })

  it('the profile step accepts a valid profile, and takes the account from the ticket alone', async () => {
    const received: (readonly [string, Profile])[] = []
    const rig = await openWith({
      complete: async (...args) => {
        received.push(args)
        return { kind: 'registered', user: alice, isNew: true }
      },
    })
    const response = await complete(rig, { referralCode: 'ALICE1' })
    expect([response.status, cookies(response)]).toEqual([200, SESSION_COOKIES])
    expect(await response.json()).toMatchObject({ isNew: true, user: { username: 'alice' } })
    expect(received).toEqual([
      [
        'ticket',
        {
          username: 'ada_l',
          firstName: 'Ada',
          lastName: null,
          districtId: districtId(1),
          referralCode: 'ALICE1',
          network: 'unknown',
        },
      ],
    ])
    const bad = [
      { username: 'Ada' },
      { username: 'admin' },
      { username: 7 },
      { role: 'admin' },
      { email: 'eve@example.com' },
      { firstName: '' },
      { firstName: 'a\u0000b' },
      { lastName: 'x'.repeat(65) },
      { districtId: 0 },
      { districtId: undefined },
      { referralCode: 'a\nb' },
      { registrationTicket: '' },
      { registrationTicket: 'x'.repeat(4_097) },
    ]
    for (const over of bad) expect((await complete(rig, over)).status, JSON.stringify(over)).toBe(400)
    for (const otp of ['12345', '1234567', 'abcdef', 123_456, '12345\n']) {
      expect((await post(rig, '/api/auth/verify-otp', { registrationTicket: 't', otp })).status).toBe(400)
    }
    for (const over of [{ nonce: '' }, { nonce: 'x'.repeat(256) }, { idToken: 'x'.repeat(8_193) }, { idToken: null }]) {
      expect((await post(rig, '/api/auth/google', { idToken: 't', nonce: 'n', ...over })).status).toBe(400)
    }
    expect(received).toHaveLength(1)
  })
})

const ticketless = async () => ({ kind: 'invalid_ticket' as const })
const verify = (rig: HttpRig) => post(rig, '/api/auth/verify-otp', { registrationTicket: 'ticket', otp: '042137' })
const resend = (rig: HttpRig) => post(rig, '/api/auth/resend-otp', { registrationTicket: 'ticket' })

describe('before signing in', () => {
  it('a username is checked, with the reason if it is not available', async () => {
    const rig = await openHttpRig()
    const cases = {
      ada_l: { available: true, valid: true },
      alice: { available: false, valid: true, reason: 'taken' },
      Alice: { available: false, valid: false, reason: 'characters' },
      admin: { available: false, valid: false, reason: 'reserved' },
      '': { available: false, valid: false, reason: 'too_short' },
    }
    for (const [username, answer] of Object.entries(cases)) {
      const response = await post(rig, '/api/users/check-username', { username })
      expect([response.status, await response.json()], username).toEqual([200, answer])
    }
    for (const username of [7, null, undefined, 'x'.repeat(256)]) {
      expect((await post(rig, '/api/users/check-username', { username })).status).toBe(400)
    }
  })

  it('a referral code is always 200, valid or not', async () => {
    const { app } = await openHttpRig()
    const invalid = ['?code=', '', '?code=nobody', '?code=%00', `?code=${'x'.repeat(500)}`, '?code=a&code=b', '?x=1']
    for (const query of invalid) {
      const response = await app.request(`/api/public/referral/validate${query}`)
      expect([response.status, await response.json()], query).toEqual([200, { valid: false, invitedBy: null }])
    }
    const response = await app.request('/api/public/referral/validate?code=ALICE1')
    expect(await response.json()).toEqual({ valid: true, invitedBy: 'alice' })
  })

  it('each step has the limit of the specification, in addition to the global one', async () => {
    const { deps } = await openHttpRig()
    const { app } = await openHttpRig({ deps: { limits: { ...deps.limits, perMinute: 1_000, trustedProxies: 1 } } })
    const limits = {
      'POST /api/auth/google': 20,
      'POST /api/auth/google/complete': 10,
      'POST /api/auth/verify-otp': 10,
      'POST /api/auth/resend-otp': 5,
      'POST /api/users/check-username': 60,
      'GET /api/public/referral/validate': 10,
    }
    for (const [route, limit] of Object.entries(limits)) {
      const [method = '', path = ''] = route.split(' ')
      const headers = { 'x-forwarded-for': '203.0.113.7' }
      const asked = Array.from({ length: limit + 5 }, async () => app.request(path, { method, headers }))
      const refused = (await Promise.all(asked)).filter(({ status }) => status === 429)
      expect(refused.length, route).toBe(5)
      expect(refused[0]?.headers.get('ratelimit-policy')).toMatch(
        new RegExp(`^"global";q=1000;w=60, "[a-z-]+";q=${limit};`),
      )
    }
  })
})
