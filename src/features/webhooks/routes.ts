/** `/api/admin/webhooks`: addresses that the server tells what happens. */
import { createRoute, OpenAPIHono, z } from '@hono/zod-openapi'
import type { Webhook } from './store.ts'
import { errors, fail, type HttpEnv, invalid, notFound } from '../../http/answers.ts'
import { ADMIN, BODY, CHANGE, FRESH_ADMIN, INPUT } from '../../http/error-codes.ts'
import { eventCursors } from '../../http/event-lines.ts'
import { ADMIN_READ_SECURITY, ADMIN_WRITE_SECURITY, type Gates } from '../../http/gates.ts'
import { auditReason, fieldsBody } from '../../http/inputs.ts'
import { timestamp } from '../../http/json.ts'
import type { WebhookDesk } from './desk.ts'
import { webhookErrors } from './errors.ts'
import { EventType, ID_EXAMPLE, URL_EXAMPLE, WebhookBody } from './schema.ts'
import { json } from '../../http/schemas.ts'

const URL_LENGTH_MAX = 500
const WebhookIdInput = z.guid().toLowerCase().openapi({ format: 'uuid', example: ID_EXAMPLE })

const list = createRoute({
  method: 'get',
  path: '/api/admin/webhooks',
  operationId: 'listWebhooks',
  tags: ['Admin'],
  summary: 'Webhooks and how far they are behind',
  description: 'At most 10, the oldest first. Their secrets cannot be read again.',
  security: ADMIN_READ_SECURITY,
  responses: { 200: json(z.object({ webhooks: z.array(WebhookBody) }), 'The webhooks.'), ...errors(...ADMIN) },
})

const NewWebhook = fieldsBody({
  url: z.string().max(URL_LENGTH_MAX).openapi({ description: 'In production https only.', example: URL_EXAMPLE }),
  types: z
    .array(EventType)
    .max(EventType.options.length)
    .default([])
    .openapi({ description: 'Its event types; empty: all.', example: ['position.closed'] }),
  after: eventCursors.input.openapi({ description: 'A `cursor` of the event stream; from now on if left out.' }),
})

const create = createRoute({
  method: 'post',
  path: '/api/admin/webhooks',
  operationId: 'createWebhook',
  tags: ['Admin'],
  summary: 'Create a webhook',
  description:
    'The server sends the events of `GET /api/admin/events` to the address, signed as in Standard Webhooks with ' +
    '`secret`, which only this answer shows. A message has up to 100 events, in order within each match. It is sent ' +
    'again, with the same `webhook-id` and events, until the answer is 2xx. Redirects are not followed. Needs a ' +
    'fresh sign-in. Writes an audit entry. docs/webhooks.md has the details.',
  security: ADMIN_WRITE_SECURITY,
  request: { body: NewWebhook },
  responses: {
    201: json(
      z.object({
        webhook: WebhookBody,
        secret: z.string().openapi({ example: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSwMfKQ9r8GKYo=' }),
      }),
      'Created.',
    ),
    ...webhookErrors.responses(...FRESH_ADMIN, ...BODY, 'WEBHOOK_LIMIT'),
  },
})

const params = z.object({ id: WebhookIdInput })

const change = createRoute({
  method: 'patch',
  path: '/api/admin/webhooks/{id}',
  operationId: 'changeWebhook',
  tags: ['Admin'],
  summary: 'Pause or resume a webhook',
  description:
    'A resumed webhook continues where it was: the events since then are sent at once. Writes an audit entry.',
  security: ADMIN_WRITE_SECURITY,
  request: {
    params,
    body: fieldsBody({ state: z.enum(['active', 'paused']).openapi({ example: 'paused' }) }),
  },
  responses: {
    200: json(z.object({ webhook: WebhookBody }), 'Changed.'),
    ...errors(...ADMIN, ...INPUT, ...BODY, 'NOT_FOUND'),
  },
})

const remove = createRoute({
  method: 'delete',
  path: '/api/admin/webhooks/{id}',
  operationId: 'deleteWebhook',
  tags: ['Admin'],
  summary: 'Delete a webhook',
  description: 'A message that is under way may still arrive. Writes an audit entry.',
  security: ADMIN_WRITE_SECURITY,
  request: { params, query: z.object({ reason: auditReason }) },
  responses: {
    200: json(z.object({ deleted: z.literal(true) }), 'Deleted.'),
    ...errors(...ADMIN, ...INPUT, ...CHANGE, 'NOT_FOUND'),
  },
})

const test = createRoute({
  method: 'post',
  path: '/api/admin/webhooks/{id}/test',
  operationId: 'testWebhook',
  tags: ['Admin'],
  summary: 'Send a test message to a webhook',
  description:
    'Sends one message of the type `webhook.test`, whatever the state, and says what came of it: the status of the ' +
    'answer, or why there was none within 10 seconds. Writes an audit entry.',
  security: ADMIN_WRITE_SECURITY,
  request: { params },
  responses: {
    200: json(
      z.object({
        status: z.int().nullable().openapi({ example: 204 }),
        error: z.string().nullable().openapi({ example: null }),
      }),
      'Sent.',
    ),
    ...errors(...ADMIN, ...INPUT, ...CHANGE, 'NOT_FOUND'),
  },
})

export interface WebhookPorts {
  readonly webhooks: Pick<WebhookDesk, 'list' | 'create' | 'setState' | 'delete' | 'test'>
}

export function adminWebhooks({ webhooks }: WebhookPorts, gates: Gates) {
  return new OpenAPIHono<HttpEnv>()
    .openapi({ ...list, middleware: gates.admin }, async (c) => {
      return c.json({ webhooks: (await webhooks.list()).map(webhookJson) }, 200)
    })
    .openapi({ ...create, middleware: [gates.freshAdmin, gates.audited('webhook.create')] as const }, async (c) => {
      const { url, types, after = null } = c.req.valid('json')
      const made = await webhooks.create({ by: c.var.caller.userId, url, types, after })
      if (made.kind === 'refused') return fail(c, invalid(made.field, made.problem))
      if (made.kind === 'full') return fail(c, webhookErrors.answer('WEBHOOK_LIMIT'))
      return c.json({ webhook: webhookJson(made.webhook), secret: made.secret }, 201)
    })
    .openapi({ ...change, middleware: [gates.admin, gates.audited('webhook.change')] as const }, async (c) => {
      const { state } = c.req.valid('json')
      const webhook = await webhooks.setState(c.req.valid('param').id, state, c.var.caller.userId)
      return webhook === null ? fail(c, notFound('webhook')) : c.json({ webhook: webhookJson(webhook) }, 200)
    })
    .openapi({ ...remove, middleware: [gates.admin, gates.audited('webhook.delete')] as const }, async (c) => {
      const { reason } = c.req.valid('query')
      const isDeleted = await webhooks.delete(c.req.valid('param').id, c.var.caller.userId, reason)
      return isDeleted ? c.json({ deleted: true as const }, 200) : fail(c, notFound('webhook'))
    })
    .openapi({ ...test, middleware: [gates.admin, gates.audited('webhook.test')] as const }, async (c) => {
      const result = await webhooks.test(c.req.valid('param').id, c.var.caller.userId)
      return result === null ? fail(c, notFound('webhook')) : c.json({ ...result }, 200)
    })
}

const webhookJson = ({ types, createdAt, lastSuccessAt, failingSince, ...webhook }: Webhook) => ({
  ...webhook,
  types: [...types],
  createdAt: timestamp(createdAt),
  lastSuccessAt: lastSuccessAt === null ? null : timestamp(lastSuccessAt),
  failingSince: failingSince === null ? null : timestamp(failingSince),
})
