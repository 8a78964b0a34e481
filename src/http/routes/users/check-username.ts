/** `POST /api/users/check-username`. */
import { createRoute, OpenAPIHono, z } from '@hono/zod-openapi'
import { usernameFlaw } from '../../../../actors/community/registration.ts'
import { errors, type HttpEnv } from '../../answers.ts'
import { BODY } from '../../error-codes.ts'
import { type Gates, PUBLIC_SECURITY } from '../../gates.ts'
import { fieldsBody } from '../../inputs.ts'
import type { HttpDeps } from '../../ports.ts'
import { json } from '../../schemas.ts'

const route = createRoute({
  method: 'post',
  path: '/api/users/check-username',
  tags: ['Public'],
  summary: 'Check whether a username is available',
  description:
    'For a form that checks while the user types. `reason` is present if the name is not available. At most 60 a ' +
    'minute per address.',
  request: { body: fieldsBody({ username: z.string().openapi({ example: 'ada_l' }) }) },
  security: PUBLIC_SECURITY,
  responses: {
    200: json(
      z
        .object({
          available: z.boolean().openapi({ description: 'True if it is valid and not taken.' }),
          valid: z.boolean(),
          reason: z.enum(['too_short', 'too_long', 'characters', 'reserved', 'taken']).optional(),
        })
        .openapi({ example: { available: true, valid: true } }),
      'As of now. The name is not reserved; another user may register it first.',
    ),
    ...errors(...BODY),
  },
})

const PER_MINUTE = 60

export function checkUsername({ registrations }: Pick<HttpDeps, 'registrations'>, gates: Gates) {
  const middleware = gates.limited('check-username', PER_MINUTE)
  return new OpenAPIHono<HttpEnv>().openapi({ ...route, middleware }, async (c) => {
    const { username } = c.req.valid('json')
    const flaw = usernameFlaw(username)
    if (flaw !== null) return c.json({ available: false, valid: false, reason: flaw }, 200)
    if (!(await registrations.isUsernameTaken(username))) return c.json({ available: true, valid: true }, 200)
    return c.json({ available: false, valid: true, reason: 'taken' as const }, 200)
  })
}
