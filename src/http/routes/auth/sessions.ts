/** `GET /api/auth/sessions`, `DELETE /api/auth/sessions/:id` and `POST /api/auth/logout-all`. */
import { createRoute, OpenAPIHono, z } from '@hono/zod-openapi'
import { sessionId } from '../../../../actors/kernel/ids.ts'
import type { ListedSession } from '../../../../db/sessions.ts'
import { ID_EXAMPLE, SessionBody } from '../../account-schemas.ts'
import { errors, fail, type HttpEnv, notFound } from '../../answers.ts'
import { CHANGE, INPUT, SIGNED_IN } from '../../error-codes.ts'
import { BROWSER_SECURITY, type Gates } from '../../gates.ts'
import { timestamp } from '../../json.ts'
import type { HttpDeps } from '../../ports.ts'
import { json } from '../../schemas.ts'
import { clearSession } from '../../session-cookies.ts'

const SessionIdInput = z.guid().toLowerCase().openapi({ format: 'uuid', example: ID_EXAMPLE }).transform(sessionId)

const list = createRoute({
  method: 'get',
  path: '/api/auth/sessions',
  tags: ['Session'],
  summary: "The caller's sessions",
  description:
    'Active ones, most recently used first; at most 100. Only the network of an address is stored (IPv4 by /24, ' +
    'IPv6 by /48).',
  security: BROWSER_SECURITY,
  responses: {
    200: json(
      z.object({
        sessions: z.array(
          SessionBody.extend({
            current: z.boolean().openapi({ description: 'The session of this request.', example: true }),
          }),
        ),
      }),
      'The sessions.',
    ),
    ...errors(...SIGNED_IN),
  },
})

const endOne = createRoute({
  method: 'delete',
  path: '/api/auth/sessions/{id}',
  tags: ['Session'],
  summary: "End one of the caller's sessions",
  description: "Its tokens are refused at once, in every process. Closes the user's WebSocket connections.",
  security: BROWSER_SECURITY,
  request: { params: z.object({ id: SessionIdInput }) },
  responses: {
    200: json(z.object({ ended: z.literal(true) }), 'Ended.'),
    ...errors(...SIGNED_IN, ...INPUT, ...CHANGE, 'NOT_FOUND'),
  },
})

const endAll = createRoute({
  method: 'post',
  path: '/api/auth/logout-all',
  tags: ['Session'],
  summary: 'Sign out everywhere',
  description:
    "Ends every session of the caller, this one included, closes all of the user's sockets, and clears both cookies.",
  security: BROWSER_SECURITY,
  responses: {
    200: json(z.object({ ended: z.int().openapi({ description: 'How many sessions.', example: 2 }) }), 'Signed out.'),
    ...errors(...SIGNED_IN, ...CHANGE),
  },
})

export function ownSessions({ sessions, cookies }: Pick<HttpDeps, 'sessions' | 'cookies'>, gates: Gates) {
  return new OpenAPIHono<HttpEnv>()
    .openapi({ ...list, middleware: gates.signedIn }, async (c) => {
      const { userId, sid } = c.var.caller
      const listed = (await sessions.list(userId)).map((session) => ({
        ...sessionJson(session),
        current: session.id === sid,
      }))
      return c.json({ sessions: listed }, 200)
    })
    .openapi({ ...endOne, middleware: gates.signedIn }, async (c) => {
      const { userId, sid } = c.var.caller
      const { id } = c.req.valid('param')
      if (!(await sessions.endOne(userId, id))) return fail(c, notFound('session'))
      if (id === sid) clearSession(c, cookies)
      return c.json({ ended: true as const }, 200)
    })
    .openapi({ ...endAll, middleware: gates.signedIn }, async (c) => {
      const ended = await sessions.endAll(c.var.caller.userId)
      clearSession(c, cookies)
      return c.json({ ended }, 200)
    })
}

export const sessionJson = ({ createdAt, lastSeenAt, ...session }: ListedSession) => ({
  ...session,
  createdAt: timestamp(createdAt),
  lastSeenAt: timestamp(lastSeenAt),
})
