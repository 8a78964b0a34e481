/** A player's page on the wire. */
import { DIRECTIONS } from '../../../actors/position/position.ts'
import { SIDES } from '../../../actors/market/fixture.ts'
import { z } from '@hono/zod-openapi'
import { MoveSumsBody } from '../../http/move-sums.ts'
import {
  fixtureNumber,
  instrumentIdText,
  playerName,
  priceNumber,
  role,
  timestampText,
  usernameText,
} from '../../http/schemas.ts'
import { HOLDERS_MAX, MATCHES_MAX } from './store.ts'

const team = z.object({
  name: z.string().openapi({ example: 'Harbour' }),
  score: z.int().nullable().openapi({ example: 2 }),
})
const side = z.enum(SIDES)
const between = { matchId: fixtureNumber, startsAt: timestampText, home: team, away: team, side }

export const PlayerProfileBody = z
  .object({
    instrumentId: instrumentIdText,
    name: playerName,
    position: role,
    team: z.string().openapi({ example: 'Harbour' }),
    currentPrice: priceNumber,
    start: z
      .object({
        price: priceNumber,
        last: priceNumber.nullable().openapi({ description: 'The price before; null without one.', example: 206 }),
        anchor: priceNumber.openapi({ description: 'What the player is worth over a season.' }),
        expectedGoals: z.number().nullable().openapi({
          description: 'Goals the odds expected of the team at kick-off; null without odds.',
          example: 1.4,
        }),
      })
      .nullable()
      .openapi({
        description: 'The start price in the present match: 0.6 × `last` + 0.4 × `anchor`. Null if it cannot be read.',
      }),
    matches: z
      .array(
        z.object({
          ...between,
          from: priceNumber.openapi({ description: 'Before the match.', example: 200 }),
          to: priceNumber.openapi({ description: 'At its settlement.', example: 206.31 }),
          because: MoveSumsBody,
          did: z
            .object({
              started: z.boolean().openapi({ example: true }),
              goals: z.int().openapi({ description: 'Without own goals and annulled ones.', example: 1 }),
              yellowCards: z.int().openapi({ example: 0 }),
              redCards: z.int().openapi({ description: 'Second yellow cards, too.', example: 0 }),
            })
            .openapi({ description: 'What the player did in it.' }),
        }),
      )
      .openapi({ description: `The last ${MATCHES_MAX} settled ones, latest first, as far back as ticks are kept.` }),
    next: z.object(between).nullable().openapi({ description: 'As announced; null where nothing is.' }),
    holders: z
      .array(
        z.object({
          username: usernameText,
          direction: z.enum(DIRECTIONS),
          league: z
            .string()
            .nullable()
            .openapi({ description: 'One that you both are in; null for a friend without one.', example: 'Friends' }),
        }),
      )
      .openapi({
        description:
          `Friends of the caller and members of their private leagues that have not ended, with an open position, at most ${HOLDERS_MAX}; none of those who ` +
          'are on no board.',
      }),
  })
  .openapi('PlayerProfile')
