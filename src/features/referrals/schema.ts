/** A referral as the API shows it. */
import { z } from '@hono/zod-openapi'
import { decimal } from '../../../actors/kernel/micros.ts'
import type { Invites, Referral } from './store.ts'
import { timestamp } from '../../http/json.ts'
import { timestampText } from '../../http/schemas.ts'

export interface ReferralPorts {
  readonly invites: Pick<Invites, 'invite' | 'list' | 'isReferred'>
}

/** The link under which a code is shared: on the host of the page, or a path on its own host. */
export const joinUrl = ([origin = '']: readonly string[], code: string): string => `${origin}/join?ref=${code}`

export const shareLink = z.string().openapi({
  description: "The link to share. A path on the page's own host if `CORS_ORIGINS` is empty.",
  example: 'https://play.touchline.example/join?ref=5d0f9a3c71',
})

export const ReferralBody = z
  .object({
    id: z.uuid().openapi({ example: '0197f2a0-9a3c-7b12-8c44-2f1e0d9c8b7a' }),
    name: z.string().nullable().openapi({
      description: "The invite's name; null if the user came with the caller's own code.",
      example: 'Grace',
    }),
    code: z.string().openapi({ example: '5d0f9a3c71' }),
    url: shareLink,
    status: z.enum(['unclaimed', 'pending', 'credited']).openapi({
      description:
        '`unclaimed`: no user has registered with the invite yet. `pending`: a user has, and the reward is not credited ' +
        'yet; `summary.pending` counts these. `credited`: it is; `summary.earned` counts these.',
      example: 'credited',
    }),
    registered: z.boolean().openapi({ description: 'Pending or credited.', example: true }),
    reward: z.number().openapi({ description: 'Units credited so far.', example: 100 }),
    createdAt: timestampText,
    creditedAt: timestampText.nullable(),
  })
  .openapi('Referral')

export const referralJson = (one: Referral, origins: readonly string[]): z.output<typeof ReferralBody> => ({
  id: one.id,
  name: one.name,
  code: one.code,
  url: joinUrl(origins, one.code),
  status: one.creditedAt !== null ? 'credited' : one.registeredAt !== null ? 'pending' : 'unclaimed',
  registered: one.registeredAt !== null,
  reward: decimal(one.reward),
  createdAt: timestamp(one.createdAt),
  creditedAt: one.creditedAt === null ? null : timestamp(one.creditedAt),
})
