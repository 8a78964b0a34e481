/** Who am I, the ticket to the WebSocket, staying signed in and signing out (specification 4.1). */
import { createRoute, OpenAPIHono, z } from '@hono/zod-openapi'
import { ACCESS_COOKIE, readCookie, REFRESH_COOKIE } from '../../auth/cookies.ts'
import { errors, fail, type HttpEnv, UNAUTHORIZED } from '../answers.ts'
import { CHANGE, SIGNED_IN } from '../error-codes.ts'
import { ACCESS_SECURITY, type Gates, OPTIONAL_SECURITY, REFRESH_SECURITY } from '../gates.ts'
import { userJson } from '../json.ts'
import type { HttpDeps } from '../ports.ts'
import { json, UserBody } from '../schemas.ts'
import { clearSession, setSession } from '../session-cookies.ts'

const me = createRoute({
  method: 'get',
  path: '/api/me',
  tags: ['Session'],
  summary: 'The profile of whoever is signed in',
  description: 'Never 401: a page asks this first, to learn whether to show itself or the sign-in.',
  security: OPTIONAL_SECURITY,
  responses: {
    200: json(
      z.discriminatedUnion('loggedIn', [
        z.object({ loggedIn: z.literal(false) }),
        z.object({ loggedIn: z.literal(true), ...UserBody.shape }),
      ]),
      '`loggedIn: false` without a valid access cookie.',
    ),
    ...errors(),
  },
})

const wsToken = createRoute({
  method: 'post',
  path: '/api/ws/token',
  tags: ['Session'],
  summary: 'A short-lived token for the WebSocket address',
  description: 'Connect with `?token=…`: cookies are not looked at there.',
  security: ACCESS_SECURITY,
  responses: {
    200: json(
      z.object({
        token: z.string(),
        expiresIn: z.int().openapi({ description: 'Seconds.', example: 60 }),
        wsUrl: z.string().openapi({ description: 'Where to connect.', example: 'wss://live.touchline.example' }),
      }),
      'Use it once, soon.',
    ),
    ...errors(...SIGNED_IN, ...CHANGE),
  },
})

const refresh = createRoute({
  method: 'post',
  path: '/api/auth/refresh',
  tags: ['Session'],
  summary: 'The next pair of tokens, for the refresh cookie',
  description:
    'Each refresh token is good for one rotation. Within ten seconds the one before still gets the same rotation, so that ' +
    'two tabs do not sign each other out; later than that it is taken for a stolen copy, and ends the session.',
  security: REFRESH_SECURITY,
  responses: {
    200: json(z.object({ user: UserBody }), 'Both session cookies are new; `role` is the one of now.'),
    ...errors(...CHANGE, 'UNAUTHORIZED'),
  },
})

const logout = createRoute({
  method: 'post',
  path: '/api/auth/logout',
  tags: ['Session'],
  summary: 'Sign out',
  security: [...OPTIONAL_SECURITY, ...REFRESH_SECURITY],
  description:
    'Ends the session of either cookie, expired or not, closes its sockets, and clears both cookies in any case.',
  responses: { 200: json(z.object({ loggedOut: z.literal(true) }), 'Nobody is signed in.'), ...errors(...CHANGE) },
})

export function authRoutes(deps: HttpDeps, gates: Gates) {
  const { accounts, wallets, sessions, cookies, wsUrlFor } = deps
  return new OpenAPIHono<HttpEnv>()
    .openapi({ ...me, middleware: gates.optional }, async (c) => {
      const { caller } = c.var
      if (caller === null) return c.json({ loggedIn: false as const }, 200)
      const [user, wallet] = await Promise.all([accounts.find(caller.userId), wallets.find(caller.userId)])
      if (user === null || wallet === null) return c.json({ loggedIn: false as const }, 200)
      return c.json({ loggedIn: true as const, ...userJson(user, wallet) }, 200)
    })
    .openapi({ ...wsToken, middleware: gates.signedIn }, async (c) => {
      const token = await sessions.issueWs(c.var.caller)
      const { hostname } = new URL(c.req.url)
      return c.json({ token, expiresIn: sessions.lifetimes.wsSecs, wsUrl: wsUrlFor(hostname) }, 200)
    })
    .openapi(refresh, async (c) => {
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
    .openapi(logout, async (c) => {
      clearSession(c, cookies) // first: whatever happens then, this browser is signed out
      const header = c.req.header('cookie')
      const presented = ([ACCESS_COOKIE, REFRESH_COOKIE] as const).map((name) => readCookie(header, name))
      await sessions.end(presented.filter((token) => token !== undefined))
      return c.json({ loggedOut: true as const }, 200)
    })
}
