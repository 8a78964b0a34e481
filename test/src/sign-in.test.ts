import { expect, it } from 'vitest'
import { instant } from '../../actors/kernel/world.ts'
import type { Identity } from '../../src/auth/identity.ts'
import { createSignIn, type SignInOptions } from '../../src/auth/sign-in.ts'

it('[S8] a registration is named after its e-mail address where the token has no name; a sign-in is not', async () => {
  const claimed = { sub: 'ada', email: 'ada@example.com', name: undefined, picture: undefined }
  const given: unknown[] = []
  const { begin } = createSignIn({
    identities: { identify: async () => ({ identity: claimed, until: instant(0), authenticatedAt: null }) },
    once: { claimNonce: async () => true, claimIdToken: async () => true },
    tickets: { issue: async (identity: Identity) => (given.push(identity), 'ticket') },
    codes: { send: async () => ({ sent: true, nextInMs: 0 }) },
    people: { signIn: async (account: unknown) => (given.push(account), { kind: 'unknown' }) },
  } as unknown as SignInOptions)
  await begin('token', 'nonce')
  expect(given).toEqual([claimed, { ...claimed, name: claimed.email, picture: null }])
})
