/** `GET /api/instruments/movers`. */
import { createRoute, OpenAPIHono } from '@hono/zod-openapi'
import { errors, type HttpEnv } from '../../answers.ts'
import { SIGNED_IN } from '../../error-codes.ts'
import { READ_SECURITY, type Gates } from '../../gates.ts'
import { moversJson } from '../../json.ts'
import type { HttpDeps } from '../../ports.ts'
import { json, MoversBody } from '../../schemas.ts'

const route = createRoute({
  method: 'get',
  path: '/api/instruments/movers',
  tags: ['Market'],
  summary: 'The top five gainers, losers and most traded of the last 24 hours',
  description: 'Gainers and losers by the change in price, the most traded by lots. Computed at most once a minute.',
  security: READ_SECURITY,
  responses: { 200: json(MoversBody, 'At most a minute old.'), ...errors(...SIGNED_IN) },
})

export function movers({ history }: Pick<HttpDeps, 'history'>, gates: Gates) {
  return new OpenAPIHono<HttpEnv>().openapi({ ...route, middleware: gates.signedIn }, async (c) =>
    c.json(moversJson(await history.movers()), 200),
  )
}
