/** `/api/admin/keys`: personal keys that reach endpoints for admins, and the end of any key. */
import { createRoute, OpenAPIHono, z } from '@hono/zod-openapi'
import { AdminKeyBody } from '../../admin-schemas.ts'
import { errors, fail, type HttpEnv, notFound } from '../../answers.ts'
import { ADMIN, CHANGE, INPUT } from '../../error-codes.ts'
import { ADMIN_READ_SECURITY, BROWSER_SECURITY, type Gates } from '../../gates.ts'
import { auditReason } from '../../inputs.ts'
import type { HttpDeps } from '../../ports.ts'
import { json } from '../../schemas.ts'
import { KeyIdInput, keyJson } from '../keys/keys.ts'

const list = createRoute({
  method: 'get',
  path: '/api/admin/keys',
  tags: ['Admin'],
  summary: 'Personal keys that reach endpoints for admins',
  description:
    'Those of all users with the scope `admin:read` or `admin:write` that count, newest first; at most 10 a user. Keys ' +
    'of one user: `GET /api/admin/users/{id}`.',
  security: ADMIN_READ_SECURITY,
  responses: { 200: json(z.object({ keys: z.array(AdminKeyBody) }), 'The keys.'), ...errors(...ADMIN) },
})

const revoke = createRoute({
  method: 'delete',
  path: '/api/admin/keys/{id}',
  tags: ['Admin'],
  summary: 'Revoke a personal key of any user',
  description:
    'It is refused at once, in every process, and its sockets are closed. It cannot be undone. Writes an audit entry.',
  security: BROWSER_SECURITY,
  request: { params: z.object({ id: KeyIdInput }), query: z.object({ reason: auditReason }) },
  responses: {
    200: json(z.object({ revoked: z.literal(true) }), 'Revoked.'),
    ...errors(...ADMIN, ...INPUT, ...CHANGE, 'NOT_FOUND'),
  },
})

export function adminKeys({ keys }: Pick<HttpDeps, 'keys'>, gates: Gates) {
  return new OpenAPIHono<HttpEnv>()
    .openapi({ ...list, middleware: gates.admin }, async (c) => {
      return c.json({ keys: (await keys.listAdmin()).map(keyJson) }, 200)
    })
    .openapi({ ...revoke, middleware: [gates.admin, gates.audited('key.revoke')] as const }, async (c) => {
      const { reason } = c.req.valid('query')
      const isRevoked = await keys.revoke({ id: c.req.valid('param').id, by: c.var.caller.userId, reason })
      return isRevoked ? c.json({ revoked: true as const }, 200) : fail(c, notFound('key'))
    })
}
