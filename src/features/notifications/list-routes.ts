/** `GET /api/notifications` and `/unread-count`. */
import { createRoute, OpenAPIHono, z } from '@hono/zod-openapi'
import { errors, type HttpEnv } from '../../http/answers.ts'
import { INPUT, SIGNED_IN } from '../../http/error-codes.ts'
import { READ_SECURITY, type Gates } from '../../http/gates.ts'
import { cursorsOf, nextCursor } from '../../http/cursors.ts'
import { limitInput } from '../../http/inputs.ts'
import { notificationJson } from '../../http/json.ts'
import type { Inbox } from './store.ts'
import { json, NotificationBody } from '../../http/schemas.ts'

export const unreadCount = z.int().openapi({ description: 'Unread notifications on all pages.', example: 3 })

const cursors = cursorsOf('notifications', z.tuple([z.int().min(1)]), [41])

const NotificationListBody = z
  .object({ notifications: z.array(NotificationBody), unreadCount, nextCursor })
  .openapi('NotificationList')
const UnreadCountBody = z.object({ unreadCount }).openapi('UnreadCount')

const list = createRoute({
  method: 'get',
  path: '/api/notifications',
  operationId: 'listNotifications',
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
      cursor: cursors.input,
    }),
  },
  responses: {
    200: json(NotificationListBody, 'One page.'),
    ...errors(...SIGNED_IN, ...INPUT),
  },
})

const unread = createRoute({
  method: 'get',
  path: '/api/notifications/unread-count',
  operationId: 'getUnreadCount',
  tags: ['Notifications'],
  summary: 'The number of unread notifications',
  description: 'For the badge on a bell.',
  security: READ_SECURITY,
  responses: { 200: json(UnreadCountBody, 'As of now.'), ...errors(...SIGNED_IN) },
})

export interface NotificationPorts {
  readonly inbox: Pick<Inbox, 'list' | 'unreadCount' | 'read' | 'readAll'>
}

export function listNotifications({ inbox }: NotificationPorts, gates: Gates) {
  return new OpenAPIHono<HttpEnv>()
    .openapi({ ...list, middleware: gates.signedIn }, async (c) => {
      const { userId } = c.var.caller
      const query = c.req.valid('query')
      const before = query.cursor?.[0] ?? null
      const unreadOnly = query.unreadOnly === 'true'
      const { notifications, unread: count } = await inbox.list(userId, { limit: query.limit + 1, unreadOnly, before })
      const { rows, nextCursor: next } = cursors.page(notifications, query.limit, ({ id }) => [id])
      return c.json({ notifications: rows.map(notificationJson), unreadCount: count, nextCursor: next }, 200)
    })
    .openapi({ ...unread, middleware: gates.signedIn }, async (c) =>
      c.json({ unreadCount: await inbox.unreadCount(c.var.caller.userId) }, 200),
    )
}
