/** The answer to a close. */
import { z } from '@hono/zod-openapi'
import { PositionBody, TradeBody } from './schemas.ts'

export const CloseBody = z
  .object({
    ...TradeBody.shape,
    rest: z.union([PositionBody, z.null()]).openapi({
      description: 'What is left of the position of which a part was closed. Null if nothing is open any more.',
      example: null,
    }),
  })
  .openapi('Close')
