/** `POST /api/notifications/{id}/read` and `/read-all`. */
import { createRoute, OpenAPIHono, z } from '@hono/zod-openapi'
import { errors, fail, type HttpEnv, notFound } from '../../http/answers.ts'
import { CHANGE, INPUT, SIGNED_IN } from '../../http/error-codes.ts'
import { TRADE_SECURITY, type Gates } from '../../http/gates.ts'
import type { HttpDeps } from '../../http/ports.ts'
import { json } from '../../http/schemas.ts'
import { type NotificationPorts, unreadCount } from './list-routes.ts'

const IdPath = z.object({
  id: z
    .string()
    .regex(/^[1-9]\d{0,14}$/, 'must be a notification id')
    .openapi({ example: '41' }),
})

const one = createRoute({
  method: 'post',
  path: '/api/notifications/{id}/read',
  operationId: 'readNotification',
  tags: ['Notifications'],
  summary: 'Mark one notification as read',
  description: 'No error if it is already read.',
  security: TRADE_SECURITY,
  request: { params: IdPath },
  responses: {
    200: json(z.object({ read: z.literal(true), unreadCount }), 'It is read.'),
    ...errors(...SIGNED_IN, ...INPUT, ...CHANGE, 'NOT_FOUND'),
  },
})

const all = createRoute({
  method: 'post',
  path: '/api/notifications/read-all',
  operationId: 'readAllNotifications',
  tags: ['Notifications'],
  summary: 'Mark all notifications as read',
  description: 'Notifications that arrive during the call stay unread.',
  security: TRADE_SECURITY,
  responses: {
    200: json(
      z.object({
        updated: z.int().openapi({ description: 'Notifications that were unread.', example: 3 }),
        unreadCount: z.literal(0),
      }),
      'All are read.',
    ),
    ...errors(...SIGNED_IN, ...CHANGE),
  },
})

type Deps = NotificationPorts & Pick<HttpDeps, 'world'>

export function markRead({ inbox, world }: Deps, gates: Gates) {
  return new OpenAPIHono<HttpEnv>()
    .openapi({ ...all, middleware: gates.signedIn }, async (c) =>
      c.json({ updated: await inbox.readAll(c.var.caller.userId, world.now()), unreadCount: 0 as const }, 200),
    )
    .openapi({ ...one, middleware: gates.signedIn }, async (c) => {
      const { userId } = c.var.caller
      const found = await inbox.read(userId, Number(c.req.valid('param').id), world.now())
      if (!found) return fail(c, notFound('notification'))
      return c.json({ read: true as const, unreadCount: await inbox.unreadCount(userId) }, 200)
    })
}
