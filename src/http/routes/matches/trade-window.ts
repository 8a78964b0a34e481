/** `GET /api/matches/{id}/trade-window`. */
import { createRoute, OpenAPIHono, z } from '@hono/zod-openapi'
import { errors, fail, type HttpEnv, notFound } from '../../answers.ts'
import { INPUT, SIGNED_IN } from '../../error-codes.ts'
import { READ_SECURITY, type Gates } from '../../gates.ts'
import { FixtureIdInput } from '../../inputs.ts'
import { windowJson } from '../../json.ts'
import type { HttpDeps } from '../../ports.ts'
import { json, WindowBody } from '../../schemas.ts'

const route = createRoute({
  method: 'get',
  path: '/api/matches/{id}/trade-window',
  tags: ['Market'],
  summary: 'Whether positions in a match can be opened, and why not',
  description:
    'Open during play and in every break up to penalties. Suspended while match data is late or the match clock ' +
    'stands still, while play is interrupted, and while operators restrict trading; by no goal, card or review.',
  security: READ_SECURITY,
  request: { params: z.object({ id: FixtureIdInput }) },
  responses: { 200: json(WindowBody, 'As of `serverTime`.'), ...errors(...SIGNED_IN, ...INPUT, 'NOT_FOUND') },
})

type Deps = Pick<HttpDeps, 'catalogue' | 'rules' | 'world'>

export function matchWindow({ catalogue, rules, world }: Deps, gates: Gates) {
  return new OpenAPIHono<HttpEnv>().openapi({ ...route, middleware: gates.signedInTogether }, async (c) => {
    const match = await catalogue.match(c.req.valid('param').id)
    return match === null ? fail(c, notFound('match')) : c.json(windowJson(match, world.now(), rules()), 200)
  })
}
