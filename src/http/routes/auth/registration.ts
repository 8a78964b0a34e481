/** What the steps of signing in share: the registration ticket, and the session that they end in. */
import { z } from '@hono/zod-openapi'
import type { Context } from 'hono'
import { present } from '../../../../actors/kernel/assert.ts'
import { SECOND_MS } from '../../../../actors/kernel/world.ts'
import type { Device } from '../../../../db/sessions.ts'
import type { Proof } from '../../../auth/sessions.ts'
import type { User } from '../../../../db/users.ts'
import type { SignInFailure } from '../../../auth/security-events.ts'
import { type Answer, type Answering, fail } from '../../answers.ts'
import type { ErrorStatus } from '../../error-codes.ts'
import { addressOf, addressPrefix, type Requested } from '../../client-address.ts'
import { userJson } from '../../json.ts'
import type { HttpDeps } from '../../ports.ts'
import { setSession } from '../../session-cookies.ts'

const TICKET_EXAMPLE = 'eyJhbGciOiJIUzI1NiJ9.dGlja2V0.c2lnbmVk'

export const TicketInput = z.string().min(1).openapi({
  description: 'The ticket from `POST /api/auth/google`.',
  example: TICKET_EXAMPLE,
})

export const secondsUntil = (ms: number): number => Math.max(1, Math.ceil(ms / SECOND_MS))

export type SessionDeps = Pick<HttpDeps, 'sessions' | 'wallets' | 'cookies' | 'limits' | 'security'>

/** Set if this sign-in has cancelled the deletion of the account. */
export const DeletionCancelled = z.literal(true).optional().openapi({
  description: 'Present if the user had asked to delete the account: it stays.',
  example: true,
})
export const cancelled = ({ kept }: { readonly kept?: boolean }) =>
  kept === true ? { deletionCancelled: true as const } : {}

const USER_AGENT_MAX = 200

/** The device of a request, as it is kept with a session. */
export function deviceOf(c: Requested, { limits }: Pick<HttpDeps, 'limits'>): Device {
  const userAgent = c.req.header('user-agent')?.replaceAll(/\p{C}/gu, '').slice(0, USER_AGENT_MAX)
  return {
    userAgent: userAgent === undefined || userAgent === '' ? null : userAgent,
    addressPrefix: addressPrefix(addressOf(c, limits.trustedProxies)),
  }
}

/** The answer to a sign-in that failed, which metrics count and the audit log keeps. */
export function failSignIn<Status extends ErrorStatus>(
  c: Answering & Requested,
  answer: Answer<Status> & { readonly code: SignInFailure },
  { security, limits }: Pick<HttpDeps, 'security' | 'limits'>,
) {
  security.signInFailed(answer.code, addressPrefix(addressOf(c, limits.trustedProxies)))
  return fail(c, answer)
}

/** Starts a session, sets its cookies, and returns the user for the body. */
export async function openSession(
  c: Pick<Context, 'header'> & Requested,
  user: User,
  deps: SessionDeps,
  proof: Proof = {},
) {
  const { sessions, wallets, cookies, security } = deps
  const device = deviceOf(c, deps)
  const [tokens, wallet] = await Promise.all([sessions.signIn(user, device, proof), wallets.find(user.id)])
  security.signedIn(user.id, device.addressPrefix)
  setSession(c, { tokens, cookies })
  return userJson(user, present(wallet, 'the wallet of a user who just signed in'))
}
