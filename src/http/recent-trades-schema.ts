/** The JSON shape of the recent trades of an instrument. */
import { DIRECTIONS } from '../../actors/position/position.ts'
import { z } from '@hono/zod-openapi'
import { lotNumber, priceNumber, timestampText } from './schemas.ts'

export const RecentTradesBody = z.object({
  trades: z.array(
    z.object({
      at: timestampText.openapi({ description: 'Rounded to the second.' }),
      direction: z.enum(DIRECTIONS).openapi({ description: 'Direction of the position.' }),
      lotSize: lotNumber,
      price: priceNumber,
      action: z.enum(['open', 'close']),
    }),
  ),
})
