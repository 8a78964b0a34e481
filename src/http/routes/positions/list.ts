/** `GET /api/positions`. */
import { createRoute, OpenAPIHono, z } from '@hono/zod-openapi'
import { errors, type HttpEnv } from '../../answers.ts'
import { INPUT, SIGNED_IN } from '../../error-codes.ts'
import { READ_SECURITY, type Gates } from '../../gates.ts'
import { limitInput, offsetInput, purseInput } from '../../inputs.ts'
import { positionJson } from '../../json.ts'
import type { HttpDeps } from '../../ports.ts'
import { json, PositionBody } from '../../schemas.ts'

const route = createRoute({
  method: 'get',
  path: '/api/positions',
  tags: ['Trading'],
  summary: "The caller's positions of one purse, newest first",
  description:
    'Open positions are valued at the current price of their instrument, closed ones at their close price. One page ' +
    'holds all that a purse may have open, unless operators have raised that limit above 100.',
  security: READ_SECURITY,
  request: {
    query: z.object({
      purse: purseInput,
      status: z.enum(['open', 'closed', 'all']).default('open'),
      limit: limitInput(100),
      offset: offsetInput(),
    }),
  },
  responses: {
    200: json(z.object({ positions: z.array(PositionBody) }), 'One page.'),
    ...errors(...SIGNED_IN, ...INPUT),
  },
})

export function listPositions({ positions }: Pick<HttpDeps, 'positions'>, gates: Gates) {
  return new OpenAPIHono<HttpEnv>().openapi({ ...route, middleware: gates.signedIn }, async (c) => {
    const held = await positions.list(c.var.caller.userId, c.req.valid('query'))
    return c.json({ positions: held.map(positionJson) }, 200)
  })
}
