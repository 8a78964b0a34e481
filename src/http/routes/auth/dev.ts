/** `POST /api/auth/dev` and `/dev/batch`: synthetic users, for development. Production does not mount these routes. */
import { createRoute, OpenAPIHono, z } from '@hono/zod-openapi'
import { present } from '../../../../actors/kernel/assert.ts'
import { errors, fail, type HttpEnv, invalid } from '../../answers.ts'
import { BODY } from '../../error-codes.ts'
import { DistrictIdInput, fieldsBody, LineInput } from '../../inputs.ts'
import type { HttpDeps } from '../../ports.ts'
import { Queue, QUEUE_FULL, SIGN_INS } from '../../queue.ts'
import { json, userIdText } from '../../schemas.ts'
import { UserBody } from '../../user-schema.ts'
import { cancelled, DeletionCancelled, deviceOf, openSession, type SessionDeps } from './registration.ts'
import { PUBLIC_SECURITY } from '../../gates.ts'

const TOKEN_EXAMPLE = 'eyJhbGciOiJSUzI1NiJ9.eyJzdWIiOiJhZGEifQ.c2lnbmF0dXJl'

const SyntheticUser = fieldsBody({
  displayName: LineInput.openapi({ example: 'Ada' }),
  districtId: DistrictIdInput.optional().openapi({ description: 'Any district if left out.' }),
  referralCode: z.string().max(64).optional().openapi({
    description: 'Referral code of the user who invites. An unknown code is ignored.',
    example: '5d0f9a3c71',
  }),
})

const one = createRoute({
  method: 'post',
  path: '/api/auth/dev',
  tags: ['Development'],
  summary: 'Sign in as a synthetic user',
  description: 'Creates the user with a wallet of 10,000 units the first time; the same name is the same user.',
  request: { body: SyntheticUser },
  security: PUBLIC_SECURITY,
  responses: {
    200: json(
      z.object({
        user: UserBody,
        isNew: z.boolean().openapi({ example: false }),
        deletionCancelled: DeletionCancelled,
      }),
      'Signed in: both session cookies are set.',
    ),
    ...errors(...BODY),
  },
})

const BATCH_MAX = 1_000

const batch = createRoute({
  method: 'post',
  path: '/api/auth/dev/batch',
  tags: ['Development'],
  summary: 'Create up to 1,000 synthetic users, each with a session',
  description: 'Their names are the prefix and a number from 1; the same names are the same users.',
  request: {
    body: fieldsBody({
      count: z.int().min(1).max(BATCH_MAX).openapi({ example: 1 }),
      prefix: LineInput.max(40).default('Player'),
    }),
  },
  security: PUBLIC_SECURITY,
  responses: {
    200: json(
      z.object({
        users: z.array(
          z.object({
            userId: userIdText,
            accessToken: z.string().openapi({ example: TOKEN_EXAMPLE }),
            refreshToken: z.string().openapi({ example: TOKEN_EXAMPLE }),
          }),
        ),
      }),
      'In the order of their numbers. No cookie is set.',
    ),
    ...errors(...BODY),
  },
})

export function syntheticUsers(deps: SessionDeps & Pick<HttpDeps, 'accounts'>) {
  const { accounts, sessions } = deps
  const queue = new Queue(SIGN_INS)
  return new OpenAPIHono<HttpEnv>()
    .openapi(batch, async (c) => {
      const { count, prefix } = c.req.valid('json')
      const made = await accounts.createSyntheticMany(Array.from({ length: count }, (_, n) => `${prefix} ${n + 1}`))
      const pairs = await sessions.start(
        made.map(({ user }) => user),
        deviceOf(c, deps),
      )
      const users = made.map(({ user }, n) => {
        const { access, refresh } = present(pairs[n], 'the session of a user')
        return { userId: user.id, accessToken: access, refreshToken: refresh }
      })
      return c.json({ users }, 200)
    })
    .openapi(one, async (c) => {
      const { displayName, districtId = null, referralCode = null } = c.req.valid('json')
      const signIn = async () => {
        const signedIn = await accounts.signInSynthetic({ displayName, districtId, referralCode })
        if (signedIn === null) return fail(c, invalid('districtId', 'unknown district'))
        const { user, isNew } = signedIn
        return c.json(
          { user: await openSession(c, user, deps, { isFirst: isNew }), isNew, ...cancelled(signedIn) },
          200,
        )
      }
      return (await queue.run(c.req.raw.signal, signIn)) ?? fail(c, QUEUE_FULL)
    })
}
