/** What `trading.protection` adds to a position on the wire. Absent without it. */
import { z } from '@hono/zod-openapi'

const instantText = z.string().openapi({ format: 'date-time', example: '2026-05-02T14:00:00.000Z' })

export const protectedFields = {
  moved: z
    .array(
      z.object({
        fill: z.enum(['open', 'close']),
        at: instantText,
        by: z.number().openapi({ description: 'What was added to the price of the fill.', example: 4.126 }),
        reason: z.enum(['event', 'statistics']),
      }),
    )
    .optional()
    .openapi({ description: 'With `trading.protection` only: how news has moved its fills.' }),
  movableUntil: instantText.optional().openapi({
    description:
      'With `trading.protection` only, in lists and `GET /api/positions/{id}`: until then news may move this close, ' +
      'and what it has paid opens nothing.',
  }),
}
