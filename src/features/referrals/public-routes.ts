/** `GET /api/public/referral/validate`. */
import { createRoute, OpenAPIHono, z } from '@hono/zod-openapi'
import { errors, type HttpEnv } from '../../http/answers.ts'
import { type Gates, PUBLIC_SECURITY } from '../../http/gates.ts'
import type { HttpDeps } from '../../http/ports.ts'
import { json } from '../../http/schemas.ts'
import { unfitIn } from '../../http/unfit-values.ts'

/** No code is longer. */
const CODE_LENGTH_MAX = 64
const PER_MINUTE = 10

const route = createRoute({
  method: 'get',
  path: '/api/public/referral/validate',
  operationId: 'checkReferralCode',
  tags: ['Public'],
  summary: 'Check a referral code without signing in',
  description:
    'For the page that a share link opens. Always 200; an unknown code is answered with `valid: false`. An ' +
    'invite stays valid: passed on, it counts for every user who comes. Upper and lower case are alike. At most 10 a ' +
    'minute per address.',
  request: {
    // Loose: the specification wants 200 whatever the query is.
    query: z.looseObject({
      code: z.string().optional().catch(undefined).openapi({ type: 'string', example: '5d0f9a3c71' }),
    }),
  },
  security: PUBLIC_SECURITY,
  responses: {
    200: json(
      z.object({
        valid: z.boolean().openapi({ example: true }),
        invitedBy: z.string().nullable().openapi({
          description: 'The username of the user who invites with it, or null.',
          example: 'grace_h',
        }),
      }),
      'Whether a user invites with this code.',
    ),
    ...errors(),
  },
})

export function validatePublicReferral({ registrations }: Pick<HttpDeps, 'registrations'>, gates: Gates) {
  const middleware = gates.limited('referral-validate', PER_MINUTE)
  return new OpenAPIHono<HttpEnv>().openapi(
    { ...route, middleware },
    async (c) => {
      const code = c.req.valid('query').code?.trim() ?? ''
      const isCode = code !== '' && code.length <= CODE_LENGTH_MAX && unfitIn(code) === null
      const invitedBy = isCode ? await registrations.inviterOf(code) : null
      return c.json({ valid: invitedBy !== null, invitedBy }, 200)
    },
    () => undefined, // a code that cannot be is an unknown one
  )
}
