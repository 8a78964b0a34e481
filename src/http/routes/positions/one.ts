/** `GET /api/positions/{id}`. */
import { createRoute, OpenAPIHono } from '@hono/zod-openapi'
import { errors, fail, type HttpEnv, notFound } from '../../answers.ts'
import { INPUT, SIGNED_IN } from '../../error-codes.ts'
import { READ_SECURITY, type Gates } from '../../gates.ts'
import { positionJson } from '../../json.ts'
import type { HttpDeps } from '../../ports.ts'
import { json, PositionBody } from '../../schemas.ts'
import { IdPath } from './order.ts'

const route = createRoute({
  method: 'get',
  path: '/api/positions/{id}',
  tags: ['Trading'],
  summary: 'One position of the caller',
  description: 'An open position is valued at the current price of its instrument, a closed one at its close price.',
  security: READ_SECURITY,
  request: { params: IdPath },
  responses: { 200: json(PositionBody, 'As last committed.'), ...errors(...SIGNED_IN, ...INPUT, 'NOT_FOUND') },
})

export function onePosition({ positions }: Pick<HttpDeps, 'positions'>, gates: Gates) {
  return new OpenAPIHono<HttpEnv>().openapi({ ...route, middleware: gates.signedIn }, async (c) => {
    const held = await positions.find(c.var.caller.userId, c.req.valid('param').id)
    if (held === null) return fail(c, notFound('position'))
    return c.json(positionJson(held), 200)
  })
}
