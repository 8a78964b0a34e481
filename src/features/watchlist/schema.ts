/** Followed players and price alerts as the API shows them. */
import { z } from '@hono/zod-openapi'
import { fixtureNumber, instrumentIdText, playerName, priceNumber, timestampText } from '../../http/schemas.ts'
import { KINDS } from './news.ts'

export const followKinds = z.array(z.enum(KINDS)).openapi({
  description:
    '`lineup`: whether they are named to start, and a change of it. `kickoff`: whether they start. `card`: yellow and ' +
    'red. `pitch`: comes on, goes off. By default all.',
  example: ['kickoff', 'goal'],
})

export const PriceAlertBody = z
  .object({
    id: z.uuid().openapi({ example: '0197f2a0-9b8c-7d1e-8f2a-3b4c5d6e7f80' }),
    instrumentId: instrumentIdText,
    player: playerName,
    level: priceNumber.openapi({ example: 210 }),
    direction: z.enum(['above', 'below']).openapi({ description: 'Where the level lay when the alert was made.' }),
    createdAt: timestampText,
  })
  .openapi('PriceAlert')

const reminders = z
  .array(fixtureNumber)
  .openapi({ description: 'At most 20 matches at whose kick-off the caller is told.', example: [19_155_071] })

export const WatchlistBody = z
  .object({
    kinds: followKinds,
    players: z
      .array(
        z.object({
          instrumentId: instrumentIdText,
          player: playerName,
          currentPrice: priceNumber,
          since: timestampText,
        }),
      )
      .openapi({ description: 'At most 50, newest first.' }),
    reminders,
    alerts: z.array(PriceAlertBody).openapi({ description: 'At most 20 that have not fired, newest first.' }),
  })
  .openapi('Follows')
