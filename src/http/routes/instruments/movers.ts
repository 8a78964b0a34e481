/** `GET /api/instruments/movers`. */
import { createRoute, OpenAPIHono } from '@hono/zod-openapi'
import { errors, type HttpEnv } from '../../answers.ts'
import { SIGNED_IN } from '../../error-codes.ts'
import { READ_SECURITY, type Gates } from '../../gates.ts'
import { instrumentJson, moversJson } from '../../json.ts'
import type { HttpDeps } from '../../ports.ts'
import { json, MoversBody } from '../../schemas.ts'

const route = createRoute({
  method: 'get',
  path: '/api/instruments/movers',
  tags: ['Market'],
  summary: 'The top five gainers, losers and most traded of the last 24 hours',
  description:
    'Gainers and losers by the change in price, the most traded by lots, also of matches that have ended. Computed at ' +
    'most once a minute, but for `tradingStatus`.',
  security: READ_SECURITY,
  responses: { 200: json(MoversBody, 'At most a minute old.'), ...errors(...SIGNED_IN) },
})

type Deps = Pick<HttpDeps, 'history' | 'catalogue' | 'rules' | 'world'>

export function movers({ history, catalogue, rules, world }: Deps, gates: Gates) {
  return new OpenAPIHono<HttpEnv>().openapi({ ...route, middleware: gates.signedInTogether }, async (c) => {
    const [board, listings] = await Promise.all([history.movers(), catalogue.instruments()])
    const now = world.now()
    const shown = listings.map((listing) => instrumentJson(listing, now, rules()))
    const statuses = new Map<string, (typeof shown)[number]['tradingStatus']>(
      shown.map(({ id, tradingStatus }) => [id, tradingStatus]),
    )
    return c.json(
      moversJson(board, (id) => statuses.get(id) ?? null),
      200,
    )
  })
}
