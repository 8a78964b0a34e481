/** What everybody may ask before signing in (specification 4.1). */
import { createRoute, OpenAPIHono, z } from '@hono/zod-openapi'
import { usernameFlaw } from '../../../actors/community/registration.ts'
import { errors, type HttpEnv } from '../answers.ts'
import { BODY } from '../error-codes.ts'
import type { HttpDeps } from '../ports.ts'
import type { RateLimits } from '../rate-limits.ts'
import { json } from '../schemas.ts'

const flagMap = createRoute({
  method: 'get',
  path: '/api/flags',
  tags: ['Public'],
  summary: 'Feature flags',
  description:
    'Every flag there is, those that are off too. A client hides what is off; the server refuses it besides.',
  responses: {
    200: json(
      z.record(z.string(), z.boolean()).openapi({ example: { coming_soon: false } }),
      'Key to value, as of now.',
    ),
    ...errors(),
  },
})

const checkUsername = createRoute({
  method: 'post',
  path: '/api/users/check-username',
  tags: ['Public'],
  summary: 'Whether a username can be had',
  description: 'To be asked while somebody types. `reason` says why a name cannot be had.',
  request: {
    body: { required: true, content: { 'application/json': { schema: z.object({ username: z.string().max(255) }) } } },
  },
  responses: {
    200: json(
      z.object({
        available: z.boolean().openapi({ description: 'Valid, and nobody has it yet.' }),
        valid: z.boolean(),
        reason: z.enum(['too_short', 'too_long', 'characters', 'reserved', 'taken']).optional(),
      }),
      'As of now: it is nobody’s until somebody registers with it.',
    ),
    ...errors(...BODY),
  },
})

/** Longer codes exist nowhere. */
const CODE_LENGTH_MAX = 64

const validateReferral = createRoute({
  method: 'get',
  path: '/api/public/referral/validate',
  tags: ['Public'],
  summary: 'Whether somebody invites with a code',
  description:
    'For the page that a share link leads to, before anybody has signed in. Never an error for a wrong code.',
  request: { query: z.object({ code: z.string().optional().catch(undefined).openapi({ type: 'string' }) }) },
  responses: {
    200: json(
      z.object({
        valid: z.boolean(),
        invitedBy: z.string().nullable().openapi({ description: 'The username of whose code it is.' }),
      }),
      'In any case; `valid: false` for a code that nobody has.',
    ),
    ...errors(),
  },
})

export function publicRoutes({ flags, registrations }: Pick<HttpDeps, 'flags' | 'registrations'>, limits: RateLimits) {
  return new OpenAPIHono<HttpEnv>()
    .openapi(flagMap, (c) => c.json({ ...flags() }, 200))
    .openapi({ ...checkUsername, middleware: limits.perRoute('check-username') }, async (c) => {
      const { username } = c.req.valid('json')
      const flaw = usernameFlaw(username)
      if (flaw !== null) return c.json({ available: false, valid: false, reason: flaw }, 200)
      if (!(await registrations.isUsernameTaken(username))) return c.json({ available: true, valid: true }, 200)
      return c.json({ available: false, valid: true, reason: 'taken' as const }, 200)
    })
    .openapi({ ...validateReferral, middleware: limits.perRoute('referral-validate') }, async (c) => {
      const code = c.req.valid('query').code?.trim() ?? ''
      const isCode = code !== '' && code.length <= CODE_LENGTH_MAX && !code.includes('\u0000')
      const invitedBy = isCode ? await registrations.inviterOf(code) : null
      return c.json({ valid: invitedBy !== null, invitedBy }, 200)
    })
}
