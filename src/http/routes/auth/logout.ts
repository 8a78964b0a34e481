/** `POST /api/auth/logout`. */
import { createRoute, OpenAPIHono, z } from '@hono/zod-openapi'
import { ACCESS_COOKIE, readCookie, REFRESH_COOKIE } from '../../../auth/cookies.ts'
import { errors, type HttpEnv } from '../../answers.ts'
import { CHANGE } from '../../error-codes.ts'
import { ANY_COOKIE_SECURITY } from '../../gates.ts'
import type { HttpDeps } from '../../ports.ts'
import { json } from '../../schemas.ts'
import { clearSession } from '../../session-cookies.ts'

const route = createRoute({
  method: 'post',
  path: '/api/auth/logout',
  tags: ['Session'],
  summary: 'Sign out',
  security: ANY_COOKIE_SECURITY,
  description:
    'Ends the session of either cookie, even an expired one, closes its WebSocket connections, and always clears ' +
    'both cookies. Repeating it is no error.',
  // Loose: the specification wants both cookies cleared, whatever the query is.
  request: { query: z.looseObject({}) },
  responses: { 200: json(z.object({ loggedOut: z.literal(true) }), 'Signed out.'), ...errors(...CHANGE) },
})

export function logOut({ sessions, cookies }: Pick<HttpDeps, 'sessions' | 'cookies'>) {
  return new OpenAPIHono<HttpEnv>().openapi(route, async (c) => {
    clearSession(c, cookies) // first, so that this browser is signed out even if ending the session fails
    const header = c.req.header('cookie')
    const presented = ([ACCESS_COOKIE, REFRESH_COOKIE] as const).map((name) => readCookie(header, name, cookies))
    await sessions.end(presented.filter((token) => token !== undefined))
    return c.json({ loggedOut: true as const }, 200)
  })
}
