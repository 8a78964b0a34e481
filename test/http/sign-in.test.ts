import { describe, expect, it } from 'vitest'
import type { SignIn } from '../../src/auth/sign-in.ts'
import { away, type HttpRig, openHttpRig } from './http-rig.ts'

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

describe('signing in', () => {
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
})

const ticketless = async () => ({ kind: 'invalid_ticket' as const })
const verify = (rig: HttpRig) => post(rig, '/api/auth/verify-otp', { registrationTicket: 'ticket', otp: '042137' })
const resend = (rig: HttpRig) => post(rig, '/api/auth/resend-otp', { registrationTicket: 'ticket' })
