/** `GET /api/achievements`. */
import { createRoute, OpenAPIHono, z } from '@hono/zod-openapi'
import { type Badge, BADGES } from '../../../../actors/community/badges.ts'
import { levelOf } from '../../../../actors/community/career.ts'
import { errors, type HttpEnv } from '../../answers.ts'
import { SIGNED_IN } from '../../error-codes.ts'
import { READ_SECURITY, type Gates } from '../../gates.ts'
import { timestamp } from '../../json.ts'
import type { HttpDeps } from '../../ports.ts'
import { json, timestampText } from '../../schemas.ts'

const LockedBody = z
  .object({
    id: z.string().openapi({ example: 'regular' }),
    name: z.string().openapi({ example: 'Regular' }),
    description: z.string().openapi({ example: 'Open 25 positions' }),
    progress: z.object({ current: z.number().openapi({ example: 21 }), target: z.number().openapi({ example: 25 }) }),
  })
  .openapi('LockedBadge')

const EarnedBody = z.object({
  id: z.string().openapi({ example: 'first_whistle' }),
  name: z.string().openapi({ example: 'First whistle' }),
  description: z.string().openapi({ example: 'Open your first position' }),
  earnedAt: timestampText,
})

const AchievementsBody = z.object({
  xp: z.int().openapi({ example: 340 }),
  level: z.int().openapi({ example: 3 }),
  earned: z.array(EarnedBody),
  locked: z.array(LockedBody),
})

const route = createRoute({
  method: 'get',
  path: '/api/achievements',
  tags: ['Achievements'],
  summary: "The caller's XP, level and badges, with the progress towards the others",
  description: 'Opening a position gives XP, closing at a profit gives more, and the first trade of a day a bonus.',
  security: READ_SECURITY,
  responses: { 200: json(AchievementsBody, 'All badges, earned or locked.'), ...errors(...SIGNED_IN) },
})

export function listAchievements({ community: { careers } }: Pick<HttpDeps, 'community'>, gates: Gates) {
  return new OpenAPIHono<HttpEnv>().openapi({ ...route, middleware: gates.signedIn }, async (c) => {
    const { userId } = c.var.caller
    const { career, badges } = await careers.achievements(userId)
    const earned = BADGES.flatMap((badge) => {
      const at = badges.get(badge.id)
      return at === undefined ? [] : [{ ...badgeJson(badge), earnedAt: timestamp(at) }]
    })
    const locked = BADGES.filter(({ id }) => !badges.has(id)).map((badge) => ({
      ...badgeJson(badge),
      progress: { current: Math.min(badge.count(career), badge.target), target: badge.target },
    }))
    return c.json({ xp: career.xp, level: levelOf(career.xp), earned, locked }, 200)
  })
}

const badgeJson = ({ id, name, description }: Badge) => ({ id, name, description })
