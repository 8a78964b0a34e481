/** Who am I, and the ticket to the WebSocket (specification 4.1). */
import { createRoute, OpenAPIHono, z } from '@hono/zod-openapi'
import { errors, type HttpEnv } from '../answers.ts'
import { ACCESS_SECURITY, type Gates, OPTIONAL_SECURITY } from '../gates.ts'
import { userJson } from '../json.ts'
import type { HttpDeps } from '../ports.ts'
import { json, UserBody } from '../schemas.ts'

const me = createRoute({
  method: 'get',
  path: '/api/me',
  tags: ['Session'],
  summary: 'The profile of whoever is signed in',
  security: OPTIONAL_SECURITY,
  responses: {
    200: json(
      z.discriminatedUnion('loggedIn', [
        z.object({ loggedIn: z.literal(false) }),
        z.object({ loggedIn: z.literal(true), ...UserBody.shape }),
      ]),
      '`loggedIn: false` without a valid access cookie.',
    ),
    ...errors(503),
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
    ...errors(401),
  },
})

export function authRoutes(deps: HttpDeps, gates: Gates) {
  const { accounts, wallets, tokens, wsUrlFor } = deps
  return new OpenAPIHono<HttpEnv>()
    .openapi({ ...me, middleware: gates.optional }, async (c) => {
      const { caller } = c.var
      if (caller === null) return c.json({ loggedIn: false as const }, 200)
      const [user, wallet] = await Promise.all([accounts.find(caller.userId), wallets.find(caller.userId)])
      if (user === null || wallet === null) return c.json({ loggedIn: false as const }, 200)
      return c.json({ loggedIn: true as const, ...userJson(user, wallet) }, 200)
    })
    .openapi({ ...wsToken, middleware: gates.signedIn }, async (c) => {
      const token = await tokens.issueWs(c.var.caller.userId)
      const { hostname } = new URL(c.req.url)
      return c.json({ token, expiresIn: tokens.lifetimes.wsSecs, wsUrl: wsUrlFor(hostname) }, 200)
    })
}
