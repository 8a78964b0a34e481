/** What `trading.protection` adds to a position and to a match on the wire. Absent without it. */
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

export const protectedMatchFields = {
  fillsMovableMs: z.int().optional().openapi({
    description: 'With `trading.protection` only: how long after a fill news that has not come yet may move it, in ms.',
    example: 180_000,
  }),
}
