/** `GET /api/matches/{id}/squad`. */
import { SIDES } from '../../../../actors/market/fixture.ts'
import { createRoute, OpenAPIHono, z } from '@hono/zod-openapi'
import { errors, fail, type HttpEnv, notFound } from '../../answers.ts'
import { INPUT, SIGNED_IN } from '../../error-codes.ts'
import { READ_SECURITY, type Gates } from '../../gates.ts'
import { FixtureIdInput } from '../../inputs.ts'
import { squadJson } from '../../json.ts'
import type { HttpDeps } from '../../ports.ts'
import { json, SquadBody } from '../../schemas.ts'

const route = createRoute({
  method: 'get',
  path: '/api/matches/{id}/squad',
  tags: ['Market'],
  summary: 'The players of one team of a match',
  description:
    "Starters first, then the bench, each with their statistics so far under the provider's names. A position in a " +
    'player who is not on the pitch can be closed; to open it is 409 `market closed` with the reason `not_on_pitch`.',
  security: READ_SECURITY,
  request: {
    params: z.object({ id: FixtureIdInput }),
    query: z.object({ team: z.enum(SIDES).default('home') }),
  },
  responses: {
    200: json(SquadBody, 'Empty until the line-ups are known.'),
    ...errors(...SIGNED_IN, ...INPUT, 'NOT_FOUND'),
  },
})

export function matchSquad({ catalogue }: Pick<HttpDeps, 'catalogue'>, gates: Gates) {
  return new OpenAPIHono<HttpEnv>().openapi({ ...route, middleware: gates.signedInTogether }, async (c) => {
    const match = await catalogue.match(c.req.valid('param').id)
    return match === null ? fail(c, notFound('match')) : c.json(squadJson(match, c.req.valid('query').team), 200)
  })
}
