/** `GET /api/me`. */
import { createRoute, OpenAPIHono, z } from '@hono/zod-openapi'
import { errors, type HttpEnv } from '../../answers.ts'
import { type Gates, OPTIONAL_SECURITY } from '../../gates.ts'
import { userJson } from '../../json.ts'
import type { HttpDeps } from '../../ports.ts'
import { json } from '../../schemas.ts'
import { UserBody } from '../../user-schema.ts'

const route = createRoute({
  method: 'get',
  path: '/api/me',
  tags: ['Session'],
  summary: "The caller's profile and wallet",
  description: 'Never 401. A page calls it first to decide whether to show itself or the sign-in.',
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

export function myProfile({ accounts, wallets }: Pick<HttpDeps, 'accounts' | 'wallets'>, gates: Gates) {
  return new OpenAPIHono<HttpEnv>().openapi({ ...route, middleware: gates.optional }, async (c) => {
    const { caller } = c.var
    if (caller === null) return c.json({ loggedIn: false as const }, 200)
    const [user, wallet] = await Promise.all([accounts.find(caller.userId), wallets.find(caller.userId)])
    if (user === null || wallet === null) return c.json({ loggedIn: false as const }, 200)
    return c.json({ loggedIn: true as const, ...userJson(user, wallet) }, 200)
  })
}
