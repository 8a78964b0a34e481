/** `POST /api/auth/refresh`. */
import { createRoute, OpenAPIHono, z } from '@hono/zod-openapi'
import { readCookie, REFRESH_COOKIE } from '../../../auth/cookies.ts'
import { errors, fail, type HttpEnv, UNAUTHORIZED } from '../../answers.ts'
import { CHANGE } from '../../error-codes.ts'
import { REFRESH_SECURITY } from '../../gates.ts'
import { userJson } from '../../json.ts'
import type { HttpDeps } from '../../ports.ts'
import { json, UserBody } from '../../schemas.ts'
import { clearSession, setSession } from '../../session-cookies.ts'

const route = createRoute({
  method: 'post',
  path: '/api/auth/refresh',
  tags: ['Session'],
  summary: 'Rotate both tokens of the session',
  description:
    'Each refresh token can be rotated once. For ten seconds the previous token gets the same new pair, so that ' +
    'two tabs do not sign each other out. After that it counts as stolen and ends the session.',
  security: REFRESH_SECURITY,
  responses: {
    200: json(z.object({ user: UserBody }), 'Both session cookies are new and carry the current `role`.'),
    ...errors(...CHANGE, 'UNAUTHORIZED'),
  },
})

type Deps = Pick<HttpDeps, 'accounts' | 'wallets' | 'sessions' | 'cookies'>

export function refreshSession({ accounts, wallets, sessions, cookies }: Deps) {
  return new OpenAPIHono<HttpEnv>().openapi(route, async (c) => {
    const presented = readCookie(c.req.header('cookie'), REFRESH_COOKIE)
    const found = presented === undefined ? null : await sessions.refresh(presented, (id) => accounts.find(id))
    const wallet = found === null ? null : await wallets.find(found.user.id)
    if (found === null || wallet === null) {
      clearSession(c, cookies)
      return fail(c, UNAUTHORIZED)
    }
    setSession(c, { tokens: found.tokens, lifetimes: sessions.lifetimes, cookies })
    return c.json({ user: userJson(found.user, wallet) }, 200)
  })
}
