/** `GET /api/instruments/{id}`. */
import { createRoute, OpenAPIHono, z } from '@hono/zod-openapi'
import { errors, fail, type HttpEnv, notFound } from '../../answers.ts'
import { INPUT, SIGNED_IN } from '../../error-codes.ts'
import { READ_SECURITY, type Gates } from '../../gates.ts'
import { InstrumentIdInput } from '../../inputs.ts'
import { instrumentJson } from '../../json.ts'
import type { HttpDeps } from '../../ports.ts'
import { InstrumentBody, json } from '../../schemas.ts'

const route = createRoute({
  method: 'get',
  path: '/api/instruments/{id}',
  tags: ['Market'],
  summary: 'One instrument',
  description: 'One entry of `GET /api/instruments`.',
  security: READ_SECURITY,
  request: { params: z.object({ id: InstrumentIdInput }) },
  responses: { 200: json(InstrumentBody, 'As last committed.'), ...errors(...SIGNED_IN, ...INPUT, 'NOT_FOUND') },
})

type Deps = Pick<HttpDeps, 'catalogue' | 'rules' | 'world'>

export function oneInstrument({ catalogue, rules, world }: Deps, gates: Gates) {
  return new OpenAPIHono<HttpEnv>().openapi({ ...route, middleware: gates.signedInTogether }, async (c) => {
    const listing = await catalogue.instrument(c.req.valid('param').id)
    if (listing === null) return fail(c, notFound('instrument'))
    return c.json(instrumentJson(listing, world.now(), rules()), 200)
  })
}
