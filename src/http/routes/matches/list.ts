/** `GET /api/matches`. */
import { createRoute, OpenAPIHono, z } from '@hono/zod-openapi'
import { errors, type HttpEnv } from '../../answers.ts'
import { SIGNED_IN } from '../../error-codes.ts'
import { READ_SECURITY, type Gates } from '../../gates.ts'
import { matchJson } from '../../json.ts'
import type { HttpDeps } from '../../ports.ts'
import { json, MatchBody } from '../../schemas.ts'

const route = createRoute({
  method: 'get',
  path: '/api/matches',
  tags: ['Market'],
  summary: 'All fixtures, with their trade windows',
  description: 'Matches in play, recently finished and upcoming.',
  security: READ_SECURITY,
  responses: {
    200: json(z.object({ matches: z.array(MatchBody) }), 'At most 500; those that ended first are left out.'),
    ...errors(...SIGNED_IN),
  },
})

type Deps = Pick<HttpDeps, 'catalogue' | 'rules' | 'world'>

export function listMatches({ catalogue, rules, world }: Deps, gates: Gates) {
  return new OpenAPIHono<HttpEnv>().openapi({ ...route, middleware: gates.signedIn }, async (c) => {
    const known = await catalogue.matches()
    const now = world.now()
    return c.json({ matches: known.map((match) => matchJson(match, now, rules())) }, 200)
  })
}
