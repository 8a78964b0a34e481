/** `GET /api/matches`. */
import { createRoute, OpenAPIHono, z } from '@hono/zod-openapi'
import type { MatchQuery } from '../../../../db/catalogue.ts'
import { errors, type HttpEnv } from '../../answers.ts'
import { INPUT, SIGNED_IN } from '../../error-codes.ts'
import { READ_SECURITY, type Gates } from '../../gates.ts'
import { stretchInput } from '../../inputs.ts'
import { matchJson } from '../../json.ts'
import type { HttpDeps } from '../../ports.ts'
import { json, MatchBody } from '../../schemas.ts'

const STAGES = ['live', 'upcoming', 'over'] as const satisfies readonly NonNullable<MatchQuery['stage']>[]

const route = createRoute({
  method: 'get',
  path: '/api/matches',
  tags: ['Market'],
  summary: 'All fixtures, with their trade windows',
  description: 'Matches in play, upcoming and recently finished, in this order. `from` and `to` bound the kick-off.',
  security: READ_SECURITY,
  request: {
    query: z.object({
      state: z.enum(STAGES).optional().openapi({
        description: '`live`: has begun and is not settled. Default: all.',
        example: 'upcoming',
      }),
      ...stretchInput,
    }),
  },
  responses: {
    200: json(z.object({ matches: z.array(MatchBody) }), 'At most 500; those that ended first are left out.'),
    ...errors(...SIGNED_IN, ...INPUT),
  },
})

type Deps = Pick<HttpDeps, 'catalogue' | 'rules' | 'world'>

export function listMatches({ catalogue, rules, world }: Deps, gates: Gates) {
  return new OpenAPIHono<HttpEnv>().openapi({ ...route, middleware: gates.signedInTogether }, async (c) => {
    const { state: stage, from, to } = c.req.valid('query')
    const known = await catalogue.matches({ stage, from, to })
    const now = world.now()
    return c.json({ matches: known.map((match) => matchJson(match, now, rules())) }, 200)
  })
}
