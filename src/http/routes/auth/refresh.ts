/** `POST /api/auth/refresh`. */
import { createRoute, OpenAPIHono, z } from '@hono/zod-openapi'
import { readCookie, REFRESH_COOKIE } from '../../../auth/cookies.ts'
import { errors, fail, type HttpEnv, UNAUTHORIZED } from '../../answers.ts'
import { CHANGE, INPUT } from '../../error-codes.ts'
import { REFRESH_SECURITY } from '../../gates.ts'
import { KeyHeader } from '../../inputs.ts'
import { userJson } from '../../json.ts'
import type { HttpDeps } from '../../ports.ts'
import { Queue, QUEUE_FULL, SIGN_INS } from '../../queue.ts'
import { json } from '../../schemas.ts'
import { UserBody } from '../../user-schema.ts'
import { clearSession, setSession } from '../../session-cookies.ts'

const route = createRoute({
  method: 'post',
  path: '/api/auth/refresh',
  tags: ['Session'],
  summary: 'Rotate both tokens of the session',
  description:
    'Each refresh token can be rotated once. A repetition with the same `Idempotency-Key` within 60 seconds gets the ' +
    'same pair again, so that a lost answer does not end the session. Without it the previous token is 401 for ten seconds, ' +
    'and after that it counts as stolen and ends the session. A session ends after `auth.session_max_days`, refreshed ' +
    'or not.',
  security: REFRESH_SECURITY,
  request: { headers: KeyHeader },
  responses: {
    200: json(z.object({ user: UserBody }), 'Both session cookies are new and carry the current `role`.'),
    ...errors(...INPUT, ...CHANGE, 'UNAUTHORIZED'),
  },
})

type Deps = Pick<HttpDeps, 'accounts' | 'wallets' | 'sessions' | 'cookies'>

export function refreshSession({ accounts, wallets, sessions, cookies }: Deps) {
  const queue = new Queue(SIGN_INS)
  return new OpenAPIHono<HttpEnv>().openapi(route, async (c) => {
    const token = readCookie(c.req.header('cookie'), REFRESH_COOKIE, cookies)
    const key = c.req.valid('header')['Idempotency-Key'] ?? null
    const refreshed =
      token === undefined
        ? ({ kind: 'over' } as const)
        : await queue.run(c.req.raw.signal, () => sessions.refresh({ token, key }, (id) => accounts.find(id)))
    if (refreshed === null) return fail(c, QUEUE_FULL)
    // Another tab may have rotated it, and the cookies are then its new ones.
    if (refreshed.kind === 'superseded') return fail(c, UNAUTHORIZED)
    const wallet = refreshed.kind === 'over' ? null : await wallets.find(refreshed.user.id)
    if (refreshed.kind === 'over' || wallet === null) {
      clearSession(c, cookies)
      return fail(c, UNAUTHORIZED)
    }
    setSession(c, { tokens: refreshed.tokens, cookies })
    return c.json({ user: userJson(refreshed.user, wallet) }, 200)
  })
}
