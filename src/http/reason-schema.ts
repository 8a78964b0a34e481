/** Why a price moved, on the wire. */
import { z } from '@hono/zod-openapi'
import { decimal } from '../../actors/kernel/micros.ts'
import { REASONS, type TickReason } from '../../actors/market/reason-words.ts'
import { DISCRETE } from '../../actors/market/scoring.ts'

const reasonFields = {
  kind: z.enum(REASONS).openapi({
    description:
      'What moved it most. `event`: what the player did or conceded. `minutes`: less than expected for the time on the ' +
      'pitch. `statistics`: passes, duels and the rating. `crowd`: orders. `whistle`: full time was shown or taken ' +
      'back. `rules`: an operator.',
    example: 'event',
  }),
  event: z
    .object({
      kind: z.enum(DISCRETE).openapi({ example: 'yellow' }),
      minute: z.int().openapi({ example: 34 }),
      extraMinute: z.int().nullable().openapi({ example: null }),
      undone: z.boolean().openapi({ description: 'True if it had counted and no longer does.', example: false }),
    })
    .nullable()
    .openapi({ description: 'Null unless `kind` is `event`.' }),
  words: z.string().openapi({ description: 'The same in English.', example: 'Booked in the 34th minute' }),
}

export const ReasonBody = z.object(reasonFields).openapi('Reason')

/** The parts of a move, in units of price. */
export const partsBody = z
  .object({
    event: z.number().openapi({ example: -1.72 }),
    minutes: z.number().openapi({ example: -0.05 }),
    statistics: z.number().openapi({ example: 0.01 }),
    crowd: z.number().openapi({ example: -0.04 }),
    other: z.number().openapi({ description: 'Rules, and what is no longer stored in detail.', example: 0 }),
  })
  .openapi({ description: 'How far each moved the price, in units. They add up to the move.' })

interface MoveParts {
  readonly from: number
  readonly to: number
  readonly crowd: number
  readonly parts: { readonly byEvent: number; readonly byMinutes: number; readonly byStatistics: number } | null
  readonly reason: TickReason
}

export function partsJson({ from, to, crowd, parts, reason }: MoveParts): z.output<typeof partsBody> {
  const { byEvent, byMinutes, byStatistics } = parts ?? { byEvent: 0, byMinutes: 0, byStatistics: 0 }
  const byOrders = reason.kind === 'rules' ? 0 : crowd
  return {
    event: decimal(byEvent),
    minutes: decimal(byMinutes),
    statistics: decimal(byStatistics),
    crowd: decimal(byOrders),
    other: decimal(to - from - byEvent - byMinutes - byStatistics - byOrders),
  }
}
