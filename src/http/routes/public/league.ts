/** `GET /api/public/leagues/{code}`. */
import { createRoute, OpenAPIHono, z } from '@hono/zod-openapi'
import { errors, fail, type HttpEnv, notFound } from '../../answers.ts'
import { INPUT } from '../../error-codes.ts'
import { PUBLIC_SECURITY, type Gates } from '../../gates.ts'
import { LeagueOutlineBody, outlineJson } from '../../league-schema.ts'
import type { HttpDeps } from '../../ports.ts'
import { json } from '../../schemas.ts'

const PER_MINUTE = 30

const outline = createRoute({
  method: 'get',
  path: '/api/public/leagues/{code}',
  tags: ['Public'],
  summary: 'What a join link leads to',
  description: `For the page that a link opens: what the league is and who invites. At most ${PER_MINUTE} a minute per address.`,
  security: PUBLIC_SECURITY,
  request: { params: z.object({ code: z.string().max(64).toLowerCase().openapi({ example: '9f2c4b7d01ae' }) }) },
  responses: { 200: json(LeagueOutlineBody, 'Without its table.'), ...errors(...INPUT, 'NOT_FOUND') },
})

export function publicLeague({ leagues, world }: Pick<HttpDeps, 'leagues' | 'world'>, gates: Gates) {
  return new OpenAPIHono<HttpEnv>().openapi(
    { ...outline, middleware: gates.limited('public-leagues', PER_MINUTE) },
    async (c) => {
      const league = await leagues.byCode(c.req.valid('param').code)
      return league === null ? fail(c, notFound('league')) : c.json(outlineJson(league, world.now()), 200)
    },
  )
}
