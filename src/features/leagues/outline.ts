/** `GET /api/public/leagues/{code}`. */
import { createRoute, OpenAPIHono, z } from '@hono/zod-openapi'
import { errors, fail, type HttpEnv, notFound } from '../../http/answers.ts'
import { INPUT } from '../../http/error-codes.ts'
import { PUBLIC_SECURITY } from '../../http/gates.ts'
import type { Leagues } from './store.ts'
import { LeagueOutlineBody, outlineJson } from './schema.ts'
import type { HttpDeps } from '../../http/ports.ts'
import { json } from '../../http/schemas.ts'

const outline = createRoute({
  method: 'get',
  path: '/api/public/leagues/{code}',
  operationId: 'getLeagueOutline',
  tags: ['Public'],
  summary: 'What a join link leads to',
  description: 'For the page that a link opens: what the league is and who invites.',
  security: PUBLIC_SECURITY,
  request: { params: z.object({ code: z.string().max(64).toLowerCase().openapi({ example: '9f2c4b7d01ae' }) }) },
  responses: { 200: json(LeagueOutlineBody, 'Without its table.'), ...errors(...INPUT, 'NOT_FOUND') },
})

interface Deps extends Pick<HttpDeps, 'world'> {
  readonly leagues: Pick<Leagues, 'byCode'>
}

export function publicLeague({ leagues, world }: Deps) {
  return new OpenAPIHono<HttpEnv>().openapi(outline, async (c) => {
    const league = await leagues.byCode(c.req.valid('param').code)
    return league === null ? fail(c, notFound('league')) : c.json(outlineJson(league, world.now()), 200)
  })
}
