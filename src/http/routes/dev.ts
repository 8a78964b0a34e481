/** Routes for development only; production does not mount them (specification 4.1). */
import { createRoute, OpenAPIHono, z } from '@hono/zod-openapi'
import { present } from '../../../actors/kernel/assert.ts'
import { errors, fail, type HttpEnv, invalid } from '../answers.ts'
import { BODY } from '../error-codes.ts'
import { userJson } from '../json.ts'
import type { HttpDeps } from '../ports.ts'
import { DistrictIdInput, json, LineInput, UserBody } from '../schemas.ts'
import { setSession } from '../session-cookies.ts'

const SyntheticUser = z.object({
  displayName: LineInput,
  districtId: DistrictIdInput.optional().openapi({ description: 'Any district when left out.', example: 1 }),
})

const signIn = createRoute({
  method: 'post',
  path: '/api/auth/dev',
  tags: ['Development'],
  summary: 'Sign in as a synthetic user',
  description: 'The same name is the same user. Creates the user, with a wallet of 10,000 units, the first time.',
  request: { body: { required: true, content: { 'application/json': { schema: SyntheticUser } } } },
  responses: {
    200: json(z.object({ user: UserBody, isNew: z.boolean() }), 'Signed in: both session cookies are set.'),
    ...errors(...BODY),
  },
})

const BATCH_MAX = 1_000

const batch = createRoute({
  method: 'post',
  path: '/api/auth/dev/batch',
  tags: ['Development'],
  summary: 'Many synthetic users at once, each with a session of its own',
  description: 'They are called by the prefix and a number from 1; the same names are the same users.',
  request: {
    body: {
      required: true,
      content: {
        'application/json': {
          schema: z.object({ count: z.int().min(1).max(BATCH_MAX), prefix: LineInput.max(40).default('Player') }),
        },
      },
    },
  },
  responses: {
    200: json(
      z.object({
        users: z.array(z.object({ userId: z.uuid(), accessToken: z.string(), refreshToken: z.string() })),
      }),
      'In the order of their numbers. No cookie is set.',
    ),
    ...errors(...BODY),
  },
})

export function devRoutes({ accounts, wallets, sessions, cookies }: HttpDeps) {
  const routes = new OpenAPIHono<HttpEnv>().openapi(batch, async (c) => {
    const { count, prefix } = c.req.valid('json')
    const made = await accounts.createSyntheticMany(Array.from({ length: count }, (_, n) => `${prefix} ${n + 1}`))
    const pairs = await sessions.start(made.map(({ user }) => user))
    const users = made.map(({ user }, n) => {
      const { access, refresh } = present(pairs[n], 'the session of a user')
      return { userId: user.id, accessToken: access, refreshToken: refresh }
    })
    return c.json({ users }, 200)
  })
  return routes.openapi(signIn, async (c) => {
    const { displayName, districtId = null } = c.req.valid('json')
    const session = await accounts.signInSynthetic({ displayName, districtId })
    if (session === null) {
      return fail(c, invalid('districtId', 'no such district'))
    }
    const { user, isNew } = session
    const [[tokens], wallet] = await Promise.all([sessions.start([user]), wallets.find(user.id)])
    setSession(c, { tokens: present(tokens, 'the session of a user'), lifetimes: sessions.lifetimes, cookies })
    return c.json({ user: userJson(user, present(wallet, 'the wallet of a user who just signed in')), isNew }, 200)
  })
}
