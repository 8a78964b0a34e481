/** Routes for development only; production does not mount them (specification 4.1). */
import { createRoute, OpenAPIHono, z } from '@hono/zod-openapi'
import { present } from '../../../actors/kernel/assert.ts'
import { ACCESS_COOKIE, REFRESH_COOKIE, setCookie } from '../../auth/cookies.ts'
import { errors, fail, type HttpEnv, invalid } from '../answers.ts'
import { userJson } from '../json.ts'
import type { HttpDeps } from '../ports.ts'
import { DistrictIdInput, json, UserBody } from '../schemas.ts'

const SyntheticUser = z.object({
  displayName: z
    .string()
    .trim()
    .min(1)
    .max(64)
    .regex(/^\P{C}*$/u, 'must not contain control characters')
    .openapi({ example: 'Alice' }),
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
    ...errors(400, 413, 415, 503),
  },
})

export function devRoutes({ accounts, wallets, tokens, cookies }: HttpDeps) {
  return new OpenAPIHono<HttpEnv>().openapi(signIn, async (c) => {
    const { displayName, districtId = null } = c.req.valid('json')
    const session = await accounts.signInSynthetic({ displayName, districtId })
    if (session === null) {
      return fail(c, invalid('districtId', 'no such district'))
    }
    const { user, isNew } = session
    const [access, refresh, wallet] = await Promise.all([
      tokens.issueAccess(user),
      tokens.issueRefresh(user.id),
      wallets.find(user.id),
    ])
    const { accessSecs, refreshSecs } = tokens.lifetimes
    const set = [
      setCookie({ name: ACCESS_COOKIE, value: access, maxAgeSecs: accessSecs }, cookies),
      setCookie({ name: REFRESH_COOKIE, value: refresh, maxAgeSecs: refreshSecs }, cookies),
    ]
    for (const cookie of set) c.header('Set-Cookie', cookie, { append: true })
    return c.json({ user: userJson(user, present(wallet, 'the wallet of a user who just signed in')), isNew }, 200)
  })
}
