import { describe, expect, it } from 'vitest'
import type { SignIn } from '../../src/auth/sign-in.ts'
import { type HttpRig, openHttpRig } from './http-rig.ts'

/** A rig with these steps of signing in. */
async function openWith(steps: Partial<SignIn>): Promise<HttpRig> {
  const { deps } = await openHttpRig()
  return openHttpRig({ deps: { signIn: { ...deps.signIn, ...steps } } })
}

const post = async ({ app }: HttpRig, path: string, body: unknown) =>
  app.request(path, { method: 'POST', body: JSON.stringify(body), headers: { 'content-type': 'application/json' } })
const begin = (rig: HttpRig) => post(rig, '/api/auth/google', { idToken: 'token', nonce: 'nonce' })

describe('signing in', () => {
  it('[S8] no nonce, ticket or username is too long for a body that is accepted', async () => {
    const rig = await openHttpRig()
    const long = 'x'.repeat(10_000)
    const bodies = {
      '/api/auth/google': { idToken: 'token', nonce: long },
      '/api/auth/verify-otp': { registrationTicket: long, otp: '042137' },
      '/api/users/check-username': { username: long },
    }
    for (const [path, body] of Object.entries(bodies)) expect((await post(rig, path, body)).status, path).toBe(200)
    expect(await (await post(rig, '/api/users/check-username', { username: long })).json()).toEqual({
      available: false,
      valid: false,
      reason: 'too_long',
    })
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

const verify = (rig: HttpRig) => post(rig, '/api/auth/verify-otp', { registrationTicket: 'ticket', otp: '042137' })
