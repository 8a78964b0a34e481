/** `/api/public/matches`: live matches, a little behind, for people who are not signed in. */
import { createRoute, OpenAPIHono, z } from '@hono/zod-openapi'
import { SECOND_MS } from '../../../../actors/kernel/world.ts'
import { errors, fail, type HttpEnv, notFound } from '../../answers.ts'
import { INPUT } from '../../error-codes.ts'
import { PUBLIC_SECURITY } from '../../gates.ts'
import { FixtureIdInput } from '../../inputs.ts'
import { timestamp } from '../../json.ts'
import type { HttpDeps } from '../../ports.ts'
import { json, timestampText } from '../../schemas.ts'
import { WatchedBody, WatchedMatchBody } from '../../watched-match-schema.ts'

const delaySecs = z.number().openapi({ description: 'How far behind it is, in seconds.', example: 45 })
const at = timestampText.nullable().openapi({
  description: 'How things stood then. Null until the server has run that long.',
})

const list = createRoute({
  method: 'get',
  path: '/api/public/matches',
  tags: ['Public'],
  summary: 'Live matches, a little behind',
  description:
    'At most 100, as they stood `watch.delay_secs` ago: what is seen here is too old to trade on. Sampled every ' +
    'five seconds.',
  security: PUBLIC_SECURITY,
  responses: {
    200: json(z.object({ at, delaySecs, matches: z.array(WatchedBody) }), 'Those that have begun and are not settled.'),
    ...errors(),
  },
})

const one = createRoute({
  method: 'get',
  path: '/api/public/matches/{id}',
  tags: ['Public'],
  summary: 'A match, a little behind',
  description:
    'Score, events, and the price of every player, as they stood `watch.delay_secs` ago; of a settled match, how it ' +
    'ended.',
  security: PUBLIC_SECURITY,
  request: { params: z.object({ id: FixtureIdInput }) },
  responses: {
    200: json(z.object({ at: timestampText, delaySecs, match: WatchedMatchBody }), 'The match.'),
    ...errors(...INPUT, 'NOT_FOUND'),
  },
})

export function watchMatches({ watching }: Pick<HttpDeps, 'watching'>) {
  const behind = () => watching.delayMs / SECOND_MS
  return new OpenAPIHono<HttpEnv>()
    .openapi(list, (c) => {
      const { shown } = watching
      const matches = [...(shown?.matches.values() ?? [])].map(({ players: __, events: ___, ...match }) => match)
      return c.json({ at: shown === null ? null : timestamp(shown.at), delaySecs: behind(), matches }, 200)
    })
    .openapi(one, async (c) => {
      const { id } = c.req.valid('param')
      const { shown } = watching
      const live = shown?.matches.get(id)
      const found = shown === null || live === undefined ? await watching.ended(id) : { at: shown.at, match: live }
      if (found === null) return fail(c, notFound('match'))
      return c.json({ at: timestamp(found.at), delaySecs: behind(), match: found.match }, 200)
    })
}
