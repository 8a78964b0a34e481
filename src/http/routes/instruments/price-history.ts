/** `GET /api/instruments/{id}/price-history`. */
import { createRoute, OpenAPIHono, z } from '@hono/zod-openapi'
import { HOUR_MS, instant, MINUTE_MS } from '../../../../actors/kernel/world.ts'
import { errors, fail, type HttpEnv, notFound } from '../../answers.ts'
import { INPUT, SIGNED_IN } from '../../error-codes.ts'
import { READ_SECURITY, type Gates } from '../../gates.ts'
import { InstrumentIdInput } from '../../inputs.ts'
import { priceHistoryJson } from '../../json.ts'
import type { HttpDeps } from '../../ports.ts'
import { json, PERIODS, PriceHistoryBody } from '../../schemas.ts'

const route = createRoute({
  method: 'get',
  path: '/api/instruments/{id}/price-history',
  tags: ['Market'],
  summary: 'The prices of an instrument over a period that ends now',
  description:
    'At most 500 ticks; a longer history is thinned evenly, but keeps the ticks of events of the match. A step over ' +
    'several ticks has the reason of the largest, or `several`. Open, high, low and change are computed over the ' +
    'ticks returned, the volume over the whole period.',
  security: READ_SECURITY,
  request: {
    params: z.object({ id: InstrumentIdInput }),
    query: z.object({ period: z.enum(PERIODS).default('1d') }),
  },
  responses: { 200: json(PriceHistoryBody, 'At most 500 ticks.'), ...errors(...SIGNED_IN, ...INPUT, 'NOT_FOUND') },
})

/** How far back each period goes; null for the whole history. */
const REACH_MS: Readonly<Record<(typeof PERIODS)[number], number | null>> = {
  '5m': 5 * MINUTE_MS,
  '1h': HOUR_MS,
  '6h': 6 * HOUR_MS,
  '1d': 24 * HOUR_MS,
  all: null,
}

type Deps = Pick<HttpDeps, 'catalogue' | 'history' | 'world'>

export function priceHistory({ catalogue, history, world }: Deps, gates: Gates) {
  return new OpenAPIHono<HttpEnv>().openapi({ ...route, middleware: gates.signedInTogether }, async (c) => {
    const { id } = c.req.valid('param')
    const { period } = c.req.valid('query')
    const reach = REACH_MS[period]
    const [known, prices] = await Promise.all([
      catalogue.instrument(id),
      history.prices(id, reach === null ? null : instant(world.now() - reach)),
    ])
    if (known === null) return fail(c, notFound('instrument'))
    return c.json(priceHistoryJson(id, period, prices), 200)
  })
}
