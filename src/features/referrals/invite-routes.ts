/** `POST /api/referrals/invites`. */
import { createRoute, OpenAPIHono } from '@hono/zod-openapi'
import { fail, type HttpEnv } from '../../http/answers.ts'
import { BODY, SIGNED_IN } from '../../http/error-codes.ts'
import { BROWSER_SECURITY, type Gates } from '../../http/gates.ts'
import { fieldsBody, LineInput } from '../../http/inputs.ts'
import type { HttpDeps } from '../../http/ports.ts'
import { json } from '../../http/schemas.ts'
import { referralErrors } from './errors.ts'
import { ReferralBody, referralJson, type ReferralPorts } from './schema.ts'

const route = createRoute({
  method: 'post',
  path: '/api/referrals/invites',
  operationId: 'createInvite',
  tags: ['Referrals'],
  summary: 'Create a share link for a named person',
  description:
    'Each invite has its own code, so `GET /api/referrals` shows who registered. A user may have at most 200 unused ' +
    'invites. At most 30 a minute per address.',
  security: BROWSER_SECURITY,
  request: { body: fieldsBody({ name: LineInput.openapi({ example: 'Grace' }) }) },
  responses: {
    201: json(ReferralBody, 'Created.'),
    ...referralErrors.responses(...SIGNED_IN, ...BODY, 'TOO_MANY_INVITES'),
  },
})

const PER_MINUTE = 30

export function createInvite({ invites, corsOrigins }: ReferralPorts & Pick<HttpDeps, 'corsOrigins'>, gates: Gates) {
  const limited = gates.limited('referral-invites', PER_MINUTE)
  return new OpenAPIHono<HttpEnv>().openapi({ ...route, middleware: [limited, gates.signedIn] as const }, async (c) => {
    const made = await invites.invite(c.var.caller.userId, c.req.valid('json').name)
    return made === null
      ? fail(c, referralErrors.answer('TOO_MANY_INVITES'))
      : c.json(referralJson(made, corsOrigins), 201)
  })
}
