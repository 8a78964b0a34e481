/** What recordings are listed with. */
import { z } from '@hono/zod-openapi'
import { playerName, priceNumber } from './schemas.ts'

export const RecordedTeam = z.object({
  name: z.string().openapi({ example: 'Harbour' }),
  score: z.int().nullable().openapi({ example: 2 }),
})

export const PricePathBody = z
  .object({
    name: playerName,
    prices: z.array(priceNumber).openapi({ description: 'At equal intervals.', example: [200, 204.5, 219.25] }),
  })
  .openapi('PricePath')
