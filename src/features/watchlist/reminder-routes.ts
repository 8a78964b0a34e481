/** `/api/me/reminders`. */
import { createRoute, OpenAPIHono, z } from '@hono/zod-openapi'
import { errors, fail, type HttpEnv, notFound } from '../../http/answers.ts'
import { CHANGE, INPUT, SIGNED_IN } from '../../http/error-codes.ts'
import { BROWSER_SECURITY, type Gates } from '../../http/gates.ts'
import { FixtureIdInput } from '../../http/inputs.ts'
import type { HttpDeps } from '../../http/ports.ts'
import { json } from '../../http/schemas.ts'
import { watchlistErrors } from './errors.ts'
import type { WatchlistPorts } from './routes.ts'
import { REMINDERS_MAX } from './store.ts'

const MatchPath = z.object({ matchId: FixtureIdInput })
const reminded = (is: boolean) => z.object({ reminded: z.literal(is) })

const remind = createRoute({
  method: 'put',
  path: '/api/me/reminders/{matchId}',
  operationId: 'remindOfMatch',
  tags: ['Notifications'],
  summary: 'Set a reminder for the start of a match',
  description: 'For at most 20 upcoming matches. A repetition changes nothing. `GET /api/me/follows` lists them.',
  security: BROWSER_SECURITY,
  request: { params: MatchPath },
  responses: {
    200: json(reminded(true), 'The caller will be reminded.'),
    ...watchlistErrors.responses(...SIGNED_IN, ...INPUT, ...CHANGE, 'NOT_FOUND', 'REMINDER_LIMIT', 'MATCH_BEGUN'),
  },
})

const forget = createRoute({
  method: 'delete',
  path: '/api/me/reminders/{matchId}',
  operationId: 'forgetMatch',
  tags: ['Notifications'],
  summary: 'Delete the reminder of a match',
  description: 'No error if there is none.',
  security: BROWSER_SECURITY,
  request: { params: MatchPath },
  responses: {
    200: json(reminded(false), 'The caller will not be reminded.'),
    ...errors(...SIGNED_IN, ...INPUT, ...CHANGE),
  },
})

type Deps = WatchlistPorts & Pick<HttpDeps, 'catalogue'>

export function reminderRoutes({ watchlists, catalogue }: Deps, gates: Gates) {
  return new OpenAPIHono<HttpEnv>()
    .openapi({ ...remind, middleware: gates.signedIn }, async (c) => {
      const match = await catalogue.match(c.req.valid('param').matchId)
      if (match === null) return fail(c, notFound('match'))
      if (match.phase !== 'scheduled') return fail(c, watchlistErrors.answer('MATCH_BEGUN'))
      const done = await watchlists.remind(c.var.caller.userId, match.matchId)
      return done === 'full'
        ? fail(c, watchlistErrors.answer('REMINDER_LIMIT', { facts: { maxReminders: REMINDERS_MAX } }))
        : c.json({ reminded: true as const }, 200)
    })
    .openapi({ ...forget, middleware: gates.signedIn }, async (c) => {
      await watchlists.forget(c.var.caller.userId, c.req.valid('param').matchId)
      return c.json({ reminded: false as const }, 200)
    })
}
