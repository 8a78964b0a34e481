/** `GET /api/instruments`. */
import { createRoute, OpenAPIHono, z } from '@hono/zod-openapi'
import { errors, type HttpEnv } from '../../answers.ts'
import { SIGNED_IN } from '../../error-codes.ts'
import { READ_SECURITY, type Gates } from '../../gates.ts'
import { instrumentJson } from '../../json.ts'
import type { HttpDeps } from '../../ports.ts'
import { InstrumentBody, json } from '../../schemas.ts'

const route = createRoute({
  method: 'get',
  path: '/api/instruments',
  tags: ['Market'],
  summary: 'All active instruments',
  description:
    'The players of every match that is in play, about to begin or just over, with the lot limits and factors that ' +
    'an order needs. Later prices come over the WebSocket.',
  security: READ_SECURITY,
  responses: {
    200: json(z.object({ instruments: z.array(InstrumentBody) }), 'Sorted by match and name.'),
    ...errors(...SIGNED_IN),
  },
})

type Deps = Pick<HttpDeps, 'catalogue' | 'rules' | 'world'>

export function listInstruments({ catalogue, rules, world }: Deps, gates: Gates) {
  return new OpenAPIHono<HttpEnv>().openapi({ ...route, middleware: gates.signedIn }, async (c) => {
    const listings = await catalogue.instruments()
    const now = world.now()
    return c.json({ instruments: listings.map((listing) => instrumentJson(listing, now, rules())) }, 200)
  })
}
