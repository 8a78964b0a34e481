/** What the steps of signing in share: the registration ticket, and the session that they end in. */
import { z } from '@hono/zod-openapi'
import type { Context } from 'hono'
import { present } from '../../../../actors/kernel/assert.ts'
import { SECOND_MS } from '../../../../actors/kernel/world.ts'
import type { User } from '../../../../db/users.ts'
import { answerWith } from '../../answers.ts'
import { userJson } from '../../json.ts'
import type { HttpDeps } from '../../ports.ts'
import { setSession } from '../../session-cookies.ts'

export const TICKET_EXAMPLE = 'eyJhbGciOiJIUzI1NiJ9.dGlja2V0.c2lnbmVk'

export const TicketInput = z.string().min(1).max(4_096).openapi({
  description: 'The ticket from `POST /api/auth/google`.',
  example: TICKET_EXAMPLE,
})

export const INVALID_TICKET = answerWith('INVALID_REGISTRATION_TICKET')

export const secondsUntil = (ms: number): number => Math.max(1, Math.ceil(ms / SECOND_MS))

/** Starts a session, sets its cookies, and returns the user for the body. */
export async function openSession(
  c: Pick<Context, 'header'>,
  user: User,
  { sessions, wallets, cookies }: Pick<HttpDeps, 'sessions' | 'wallets' | 'cookies'>,
) {
  const [[tokens], wallet] = await Promise.all([sessions.start([user]), wallets.find(user.id)])
  setSession(c, { tokens: present(tokens, 'the session of a user'), lifetimes: sessions.lifetimes, cookies })
  return userJson(user, present(wallet, 'the wallet of a user who just signed in'))
}
