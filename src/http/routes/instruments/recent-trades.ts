/** `GET /api/instruments/{id}/recent-trades`. */
import { createRoute, OpenAPIHono, z } from '@hono/zod-openapi'
import { errors, fail, type HttpEnv, notFound } from '../../answers.ts'
import { INPUT, SIGNED_IN } from '../../error-codes.ts'
import { READ_SECURITY, type Gates } from '../../gates.ts'
import { cursorsOf, instantKey, nextCursor } from '../../cursors.ts'
import { InstrumentIdInput, limitInput } from '../../inputs.ts'
import { recentTradesJson } from '../../json.ts'
import type { HttpDeps } from '../../ports.ts'
import { RecentTradesBody } from '../../recent-trades-schema.ts'
import { json } from '../../schemas.ts'

const cursors = cursorsOf(
  'recent-trades',
  z.tuple([instantKey(1), z.int(), z.int().min(0)]),
  [1_777_730_401, 500_000, 0],
)

const RecentTradesPage = z.object({ ...RecentTradesBody.shape, nextCursor }).openapi('RecentTrades')

const route = createRoute({
  method: 'get',
  path: '/api/instruments/{id}/recent-trades',
  tags: ['Market'],
  summary: 'Recent trades of an instrument, anonymised',
  description:
    'Openings and closes with the main and practice purses, without user ids. Closes by full time or a void, and ' +
    'trades in leagues, are not listed.',
  security: READ_SECURITY,
  request: {
    params: z.object({ id: InstrumentIdInput }),
    query: z.object({ limit: limitInput(50), cursor: cursors.input }),
  },
  responses: { 200: json(RecentTradesPage, 'Newest first.'), ...errors(...SIGNED_IN, ...INPUT, 'NOT_FOUND') },
})

export function recentTrades({ catalogue, history }: Pick<HttpDeps, 'catalogue' | 'history'>, gates: Gates) {
  return new OpenAPIHono<HttpEnv>().openapi({ ...route, middleware: gates.signedInTogether }, async (c) => {
    const { id } = c.req.valid('param')
    const { limit, cursor } = c.req.valid('query')
    const [known, trades] = await Promise.all([catalogue.instrument(id), history.trades(id, limit + 1, cursor)])
    if (known === null) return fail(c, notFound('instrument'))
    const page = cursors.page(trades, limit, ({ key }) => key)
    return c.json({ ...recentTradesJson(page.rows), nextCursor: page.nextCursor }, 200)
  })
}
