/** `GET /api/referrals`. */
import { createRoute, OpenAPIHono, z } from '@hono/zod-openapi'
import { decimal } from '../../../actors/kernel/micros.ts'
import { errors, type HttpEnv } from '../../http/answers.ts'
import { SIGNED_IN } from '../../http/error-codes.ts'
import { READ_SECURITY, type Gates } from '../../http/gates.ts'
import type { HttpDeps } from '../../http/ports.ts'
import { json } from '../../http/schemas.ts'
import { joinUrl, ReferralBody, referralJson, type ReferralPorts, shareLink } from './schema.ts'

const ReferralsBody = z.object({
  code: z.string().openapi({ description: "The caller's own code.", example: '5d0f9a3c71' }),
  url: shareLink,
  referrals: z.array(ReferralBody),
  summary: z.object({
    invited: z.int().openapi({ description: 'Invites and users who came with the own code.', example: 4 }),
    registered: z.int().openapi({ description: 'Pending and credited.', example: 3 }),
    earned: z.int().openapi({ description: 'Credited.', example: 2 }),
    pending: z.int().openapi({ description: 'Registered, but not credited yet.', example: 1 }),
    total_credited: z.number().openapi({ description: 'Units.', example: 200 }),
  }),
})

const route = createRoute({
  method: 'get',
  path: '/api/referrals',
  operationId: 'listReferrals',
  tags: ['Referrals'],
  summary: "The caller's invites and referred users",
  description:
    "Lists the named invites and the users who came with the caller's own code. A reward is credited when a referred user " +
    'places a first trade, practice excluded, for at most 10 users a week (setting `referrals.weekly_max`); the others ' +
    'are credited in a later week. Operators may ask for more: `referrals.closes_min`, `referrals.days_min`. The list ' +
    'holds the newest 1,000; `summary` counts all.',
  security: READ_SECURITY,
  responses: { 200: json(ReferralsBody, 'Newest first.'), ...errors(...SIGNED_IN) },
})

export function listReferrals({ invites, corsOrigins }: ReferralPorts & Pick<HttpDeps, 'corsOrigins'>, gates: Gates) {
  return new OpenAPIHono<HttpEnv>().openapi({ ...route, middleware: gates.signedIn }, async (c) => {
    const { ownCode, referrals: newest, sums } = await invites.list(c.var.caller.userId)
    const { invited, registered, credited, rewards } = sums
    const summary = {
      invited,
      registered,
      earned: credited,
      pending: registered - credited,
      total_credited: decimal(rewards),
    }
    const list = newest.map((one) => referralJson(one, corsOrigins))
    return c.json({ code: ownCode, url: joinUrl(corsOrigins, ownCode), referrals: list, summary }, 200)
  })
}
