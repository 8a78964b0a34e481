/** What settings would have done to recordings; the page has the same. */
import { z } from '@hono/zod-openapi'
import { playerName, priceNumber } from '../../http/schemas.ts'

export const OutcomeBody = z
  .object({
    positions: z.int().openapi({ description: 'Positions opened.', example: 412 }),
    washouts: z.int().openapi({ example: 17 }),
    levels: z.int().openapi({ description: 'Stop-losses and take-profits that were reached.', example: 64 }),
    voided: z.int().openapi({ description: 'Void: the recorded match was not played to its end.', example: 0 }),
    house: z.number().openapi({ description: 'Units that the house won from all traders.', example: 318.25 }),
  })
  .openapi('WhatIfOutcome')

export const WhatIfBody = z
  .object({
    matches: z.array(
      z.object({
        recording: z.string().openapi({ example: 'goal-feast' }),
        was: OutcomeBody,
        would: OutcomeBody,
        movedCount: z.int().openapi({ description: 'Players whose price would have differed.', example: 31 }),
        moved: z
          .array(
            z.object({
              name: playerName,
              was: priceNumber.openapi({ description: 'The base price at the end, under the settings in force.' }),
              would: priceNumber.openapi({ description: 'The same under the draft.', example: 211.4 }),
              farthestPct: z.number().openapi({
                description: 'How far apart the two were at most during the match, in per cent.',
                example: 4.2,
              }),
            }),
          )
          .openapi({ description: 'The farthest apart first; at most 20.' }),
      }),
    ),
  })
  .openapi('WhatIf')
