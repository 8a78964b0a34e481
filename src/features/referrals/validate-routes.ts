/** `POST /api/referral/validate`. */
import { createRoute, OpenAPIHono, z } from '@hono/zod-openapi'
import { errors, type HttpEnv } from '../../http/answers.ts'
import { BODY, SIGNED_IN } from '../../http/error-codes.ts'
import { READ_SECURITY, type Gates } from '../../http/gates.ts'
import { fieldsBody } from '../../http/inputs.ts'
import type { HttpDeps } from '../../http/ports.ts'
import { json } from '../../http/schemas.ts'
import type { ReferralPorts } from './schema.ts'

const route = createRoute({
  method: 'post',
  path: '/api/referral/validate',
  operationId: 'validateReferralCode',
  tags: ['Referrals'],
  summary: 'Check whether a referral code is valid for the caller',
  description:
    "In addition to the check of `GET /api/public/referral/validate`, a code is refused if it is the caller's own, or if " +
    'the caller has already been referred. At most 30 a minute per address.',
  security: READ_SECURITY,
  request: {
    body: fieldsBody({ code: z.string().trim().min(1).max(64).openapi({ example: '5d0f9a3c71' }) }),
  },
  responses: {
    200: json(
      z
        .object({
          valid: z.boolean(),
          invitedBy: z.string().nullable().openapi({ description: 'The username of the user who invites with it.' }),
          reason: z.enum(['unknown', 'own_code', 'already_referred']).optional(),
        })
        .openapi({ example: { valid: true, invitedBy: 'grace_h' } }),
      '`reason` is present if the code is not valid.',
    ),
    ...errors(...SIGNED_IN, ...BODY),
  },
})

const PER_MINUTE = 30

type Deps = ReferralPorts & Pick<HttpDeps, 'community'>

export function validateReferral({ invites, community: { referrals } }: Deps, gates: Gates) {
  const limited = gates.limited('own-referral-validate', PER_MINUTE)
  return new OpenAPIHono<HttpEnv>().openapi({ ...route, middleware: [limited, gates.signedIn] as const }, async (c) => {
    const { userId } = c.var.caller
    const { code } = c.req.valid('json')
    const found = code.includes('\u0000') ? null : await referrals.find(code)
    if (found === null) return c.json({ valid: false, invitedBy: null, reason: 'unknown' as const }, 200)
    const invitedBy = found.referrerName
    if (found.referrerId === userId) return c.json({ valid: false, invitedBy, reason: 'own_code' as const }, 200)
    if (!(await invites.isReferred(userId))) return c.json({ valid: true, invitedBy }, 200)
    return c.json({ valid: false, invitedBy, reason: 'already_referred' as const }, 200)
  })
}
