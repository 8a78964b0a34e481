/** `GET /api/matches/{id}`. */
import { createRoute, OpenAPIHono, z } from '@hono/zod-openapi'
import { errors, fail, type HttpEnv, notFound } from '../../answers.ts'
import { INPUT, SIGNED_IN } from '../../error-codes.ts'
import { READ_SECURITY, type Gates } from '../../gates.ts'
import { FixtureIdInput } from '../../inputs.ts'
import { matchJson } from '../../json.ts'
import type { HttpDeps } from '../../ports.ts'
import { json, MatchBody } from '../../schemas.ts'

const route = createRoute({
  method: 'get',
  path: '/api/matches/{id}',
  tags: ['Market'],
  summary: 'One match, with its trade window',
  description: 'One entry of `GET /api/matches`.',
  security: READ_SECURITY,
  request: { params: z.object({ id: FixtureIdInput }) },
  responses: { 200: json(MatchBody, 'As last committed.'), ...errors(...SIGNED_IN, ...INPUT, 'NOT_FOUND') },
})

type Deps = Pick<HttpDeps, 'catalogue' | 'rules' | 'world'>

export function oneMatch({ catalogue, rules, world }: Deps, gates: Gates) {
  return new OpenAPIHono<HttpEnv>().openapi({ ...route, middleware: gates.signedInTogether }, async (c) => {
    const match = await catalogue.match(c.req.valid('param').id)
    return match === null ? fail(c, notFound('match')) : c.json(matchJson(match, world.now(), rules()), 200)
  })
}
