/** `GET /api/matches/{id}/events`. */
import { createRoute, OpenAPIHono, z } from '@hono/zod-openapi'
import { errors, fail, type HttpEnv, notFound } from '../../answers.ts'
import { INPUT, SIGNED_IN } from '../../error-codes.ts'
import { READ_SECURITY, type Gates } from '../../gates.ts'
import { FixtureIdInput } from '../../inputs.ts'
import { matchEventsJson } from '../../json.ts'
import type { HttpDeps } from '../../ports.ts'
import { json, MatchEventsBody } from '../../schemas.ts'

const route = createRoute({
  method: 'get',
  path: '/api/matches/{id}/events',
  tags: ['Market'],
  summary: 'The events of a match, with the statistics of both teams',
  description:
    'Goals, cards, substitutions and the other events that the provider reports. An event that was called off stays ' +
    'in the list, with `retracted: true`.',
  security: READ_SECURITY,
  request: { params: z.object({ id: FixtureIdInput }) },
  responses: { 200: json(MatchEventsBody, 'In the order of play.'), ...errors(...SIGNED_IN, ...INPUT, 'NOT_FOUND') },
})

export function matchEvents({ catalogue }: Pick<HttpDeps, 'catalogue'>, gates: Gates) {
  return new OpenAPIHono<HttpEnv>().openapi({ ...route, middleware: gates.signedInTogether }, async (c) => {
    const match = await catalogue.match(c.req.valid('param').id)
    return match === null ? fail(c, notFound('match')) : c.json(matchEventsJson(match), 200)
  })
}
