/** `POST /api/referrals/invites`. */
import { createRoute, OpenAPIHono } from '@hono/zod-openapi'
import { answerWith, errors, fail, type HttpEnv } from '../../answers.ts'
import { BODY, SIGNED_IN } from '../../error-codes.ts'
import { BROWSER_SECURITY, type Gates } from '../../gates.ts'
import { jsonBody, LineInput } from '../../inputs.ts'
import type { HttpDeps } from '../../ports.ts'
import { json } from '../../schemas.ts'
import { ReferralBody, referralJson } from './referral.ts'
import { strictBody } from '../../unknown-names.ts'

const route = createRoute({
  method: 'post',
  path: '/api/referrals/invites',
  tags: ['Referrals'],
  summary: 'Create a share link for a named person',
  description:
    'Each invite has its own code, so `GET /api/referrals` shows who registered. A user may have at most 200 unused ' +
    'invites. At most 30 a minute per address.',
  security: BROWSER_SECURITY,
  request: { body: jsonBody(strictBody({ name: LineInput.openapi({ example: 'Grace' }) })) },
  responses: { 201: json(ReferralBody, 'Created.'), ...errors(...SIGNED_IN, ...BODY, 'TOO_MANY_INVITES') },
})

const PER_MINUTE = 30

export function createInvite({ community }: Pick<HttpDeps, 'community'>, gates: Gates) {
  const { referrals, shareUrl } = community
  const limited = gates.limited('referral-invites', PER_MINUTE)
  return new OpenAPIHono<HttpEnv>().openapi({ ...route, middleware: [limited, gates.signedIn] as const }, async (c) => {
    const made = await referrals.invite(c.var.caller.userId, c.req.valid('json').name)
    return made === null ? fail(c, answerWith('TOO_MANY_INVITES')) : c.json(referralJson(made, shareUrl), 201)
  })
}
