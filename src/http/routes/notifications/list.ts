/** `GET /api/notifications` and `/unread-count`. */
import { createRoute, OpenAPIHono, z } from '@hono/zod-openapi'
import { errors, type HttpEnv } from '../../answers.ts'
import { INPUT, SIGNED_IN } from '../../error-codes.ts'
import { READ_SECURITY, type Gates } from '../../gates.ts'
import { cursorInput, limitInput } from '../../inputs.ts'
import { notificationJson } from '../../json.ts'
import type { HttpDeps } from '../../ports.ts'
import { json, NotificationBody } from '../../schemas.ts'

export const unreadCount = z.int().openapi({ description: 'Unread notifications on all pages.', example: 3 })

const list = createRoute({
  method: 'get',
  path: '/api/notifications',
  tags: ['Notifications'],
  summary: "The caller's notifications, newest first",
  description:
    'Each notification is also pushed over the account stream. `cursor` continues where the last page ended, so new ' +
    'notifications do not shift the pages.',
  security: READ_SECURITY,
  request: {
    query: z.object({
      limit: limitInput(50),
      unreadOnly: z.enum(['true', 'false']).default('false'),
      cursor: cursorInput(/^[1-9]\d{0,14}$/),
    }),
  },
  responses: {
    200: json(
      z.object({
        notifications: z.array(NotificationBody),
        unreadCount,
        nextCursor: z.string().nullable().openapi({
          description: 'Send it as `cursor` for the next page; null on the last.',
          example: '41',
        }),
      }),
      'One page.',
    ),
    ...errors(...SIGNED_IN, ...INPUT),
  },
})

const unread = createRoute({
  method: 'get',
  path: '/api/notifications/unread-count',
  tags: ['Notifications'],
  summary: 'The number of unread notifications',
  description: 'For the badge on a bell.',
  security: READ_SECURITY,
  responses: { 200: json(z.object({ unreadCount }), 'As of now.'), ...errors(...SIGNED_IN) },
})

export function listNotifications({ community: { inbox } }: Pick<HttpDeps, 'community'>, gates: Gates) {
  return new OpenAPIHono<HttpEnv>()
    .openapi({ ...list, middleware: gates.signedIn }, async (c) => {
      const { userId } = c.var.caller
      const query = c.req.valid('query')
      const before = query.cursor === undefined ? null : Number(query.cursor)
      const [found, count] = await Promise.all([
        inbox.list(userId, { limit: query.limit + 1, unreadOnly: query.unreadOnly === 'true', before }),
        inbox.unreadCount(userId),
      ])
      const page = found.slice(0, query.limit)
      const nextCursor = found.length > page.length ? String(page.at(-1)?.id) : null
      return c.json({ notifications: page.map(notificationJson), unreadCount: count, nextCursor }, 200)
    })
    .openapi({ ...unread, middleware: gates.signedIn }, async (c) =>
      c.json({ unreadCount: await inbox.unreadCount(c.var.caller.userId) }, 200),
    )
}
