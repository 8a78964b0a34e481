/** A match as people see it who are not signed in. */
import { z } from '@hono/zod-openapi'
import { MatchBody, MatchEventsBody, playerName, priceNumber, role } from './schemas.ts'

const { tradeWindow: _, ...shape } = MatchBody.shape
export const WatchedBody = z.object(shape).openapi('WatchedMatchSummary')

export const WatchedMatchBody = z
  .object({
    ...shape,
    players: z.array(
      z.object({
        name: playerName,
        position: role,
        side: z.enum(['home', 'away']),
        price: priceNumber,
        changePct: z.number().openapi({ description: 'Since the start price.', example: 1.25 }),
      }),
    ),
    events: MatchEventsBody.shape.events,
  })
  .openapi('WatchedMatch')
