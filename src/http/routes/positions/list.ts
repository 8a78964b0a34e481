/** `GET /api/positions`. */
import { createRoute, OpenAPIHono, z } from '@hono/zod-openapi'
import { errors, type HttpEnv } from '../../answers.ts'
import { INPUT, SIGNED_IN } from '../../error-codes.ts'
import { READ_SECURITY, type Gates } from '../../gates.ts'
import { cursorsOf, nextCursor } from '../../cursors.ts'
import { FixtureIdInput, InstrumentIdInput, limitInput, offsetInput, purseText, stretchInput } from '../../inputs.ts'
import { positionJson } from '../../json.ts'
import type { HttpDeps } from '../../ports.ts'
import { json, PositionBody } from '../../schemas.ts'

const cursors = cursorsOf('positions', z.tuple([z.int().min(1)]), [41])

const PositionListBody = z.object({ positions: z.array(PositionBody), nextCursor }).openapi('PositionList')

const route = createRoute({
  method: 'get',
  path: '/api/positions',
  tags: ['Trading'],
  summary: "The caller's positions, newest first",
  description:
    'By default the open ones in every purse; see `status` and `purse`. Open positions are ' +
    'valued at the current price of their instrument, closed ones at their close price. One page holds all that a ' +
    'purse may have open, unless operators have raised that limit above 100. `from` and `to` filter by time of ' +
    'opening. A closed part of a position is listed by itself, at the place of its close.',
  security: READ_SECURITY,
  request: {
    query: z.object({
      purse: purseText.optional(),
      status: z.enum(['open', 'closed', 'all']).default('open'),
      matchId: FixtureIdInput.optional(),
      instrumentId: InstrumentIdInput.optional(),
      ...stretchInput,
      limit: limitInput(100),
      cursor: cursors.input,
      offset: offsetInput(),
    }),
  },
  responses: {
    200: json(PositionListBody, 'One page.'),
    ...errors(...SIGNED_IN, ...INPUT),
  },
})

export function listPositions({ positions }: Pick<HttpDeps, 'positions'>, gates: Gates) {
  return new OpenAPIHono<HttpEnv>().openapi({ ...route, middleware: gates.signedIn }, async (c) => {
    const { limit, cursor, ...query } = c.req.valid('query')
    const found = await positions.list(c.var.caller.userId, { ...query, limit: limit + 1, before: cursor?.[0] })
    const page = cursors.page(found, limit, ({ place }) => [place])
    return c.json({ positions: page.rows.map(positionJson), nextCursor: page.nextCursor }, 200)
  })
}
