/** A match as visitors see it who are not signed in. */
import { SIDES } from '../../actors/market/fixture.ts'
import { z } from '@hono/zod-openapi'
import { MatchBody, MatchEventsBody, playerName, priceNumber, role, SquadBody } from './schemas.ts'

const { tradeWindow: _, ...shape } = MatchBody.shape
export const WatchedBody = z.object(shape).openapi('WatchedMatchSummary')

const { playerId, jerseyNumber, starter } = SquadBody.shape.players.element.shape

export const WatchedMatchBody = z
  .object({
    ...shape,
    players: z.array(
      z.object({
        playerId,
        name: playerName,
        position: role,
        side: z.enum(SIDES),
        jerseyNumber,
        starter,
        price: priceNumber,
        changePct: z.number().openapi({ description: 'Since the match began.', example: 1.25 }),
      }),
    ),
    events: MatchEventsBody.shape.events,
  })
  .openapi('WatchedMatch')
