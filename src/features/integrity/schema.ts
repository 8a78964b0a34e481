/** The house's risk; the control room has the same type. */
import { z } from '@hono/zod-openapi'
import { instrumentIdText, timestampText, userIdText, usernameText } from '../../http/schemas.ts'

const units = z.number().openapi({ example: -412.5 })
const who = { userId: userIdText, username: usernameText }

const DayResultBody = z
  .object({ ...who, pnl: units, closes: z.int().openapi({ example: 14 }) })
  .openapi('DayResult', { description: 'Realised PnL of the UTC day, without void positions.' })

const moveText = z.number().openapi({ example: 0.42 })

export const RiskBody = z
  .object({
    asOf: timestampText,
    exposures: z
      .array(
        z.object({
          matchId: z.int().openapi({ example: 19_134_569 }),
          instrumentId: instrumentIdText,
          name: z.string().openapi({ example: 'Ada Lovell' }),
          positions: z.int().openapi({ example: 120 }),
          long: units.openapi({ description: 'Lots.', example: 41.5 }),
          short: units.openapi({ description: 'Lots.', example: 12.25 }),
          margin: units.openapi({ example: 4_120 }),
          houseToday: units.openapi({ description: 'Earned by the house with closes in this player today.' }),
        }),
      )
      .openapi({
        description: 'All that is open in the main purse, by match and player: the most lots of both sides first.',
      }),
    houseToday: units.openapi({
      description: 'What the house has earned today, over the last 50,000 closes: what users lost less what they won.',
    }),
    winners: z.array(DayResultBody).openapi({ description: 'At most 20.' }),
    losers: z.array(DayResultBody).openapi({ description: 'At most 20.' }),
    markOuts: z
      .array(
        z.object({
          ...who,
          openings: z.int().openapi({ example: 31 }),
          after10s: moveText.openapi({
            description: 'Per cent that the base moved in their favour within 10 s, on average.',
          }),
          after60s: moveText.openapi({ description: 'The same within 60 s.' }),
        }),
      )
      .openapi({ description: 'People with 5 openings or more in the last three hours, the farthest ahead first.' }),
    groups: z
      .array(
        z.object({
          at: timestampText,
          finding: z.string().openapi({ example: 'lockstep' }),
          users: z.array(z.object(who)),
        }),
      )
      .openapi({ description: 'Named together by an alert of the last week, newest first.' }),
  })
  .openapi('Risk')
