/** `GET /api/admin/audit`. */
import { createRoute, OpenAPIHono, z } from '@hono/zod-openapi'
import { AuditEntryBody } from '../../admin-schemas.ts'
import { errors, type HttpEnv } from '../../answers.ts'
import { ADMIN, INPUT } from '../../error-codes.ts'
import { ADMIN_READ_SECURITY, type Gates } from '../../gates.ts'
import { cursorsOf, nextCursor } from '../../cursors.ts'
import { limitInput, timeInput } from '../../inputs.ts'
import { timestamp } from '../../json.ts'
import type { HttpDeps } from '../../ports.ts'
import { json } from '../../schemas.ts'

const cursors = cursorsOf('audit', z.tuple([z.int().min(1)]), [88])

const AuditBody = z.object({ entries: z.array(AuditEntryBody), nextCursor }).openapi('AuditLog')

const filterInput = z.string().min(1).max(100).optional()

const route = createRoute({
  method: 'get',
  path: '/api/admin/audit',
  tags: ['Admin'],
  summary: 'The actions of operators, newest first',
  description:
    'Every write of an admin leaves an entry with its outcome, in the same transaction if the write has one. So does one ' +
    'that is refused, but for a request that does not fit its schema, is not permitted or meets a fault. Entries are ' +
    'never removed. A filter that is left out matches everything.',
  security: ADMIN_READ_SECURITY,
  request: {
    query: z.object({
      limit: limitInput(50),
      cursor: cursors.input,
      actor: filterInput.openapi({ description: 'The username of an admin.', example: 'ann' }),
      action: filterInput.openapi({
        description: 'Actions, or all of a noun: `setting`. Several are separated by commas.',
        example: 'setting.set',
      }),
      subject: filterInput.openapi({ example: 'trading.hold_secs' }),
      since: timeInput.optional(),
      until: timeInput.optional(),
    }),
  },
  responses: {
    200: json(AuditBody, 'One page.'),
    ...errors(...ADMIN, ...INPUT),
  },
})

export function auditLog({ audit }: Pick<HttpDeps, 'audit'>, gates: Gates) {
  return new OpenAPIHono<HttpEnv>().openapi({ ...route, middleware: gates.admin }, async (c) => {
    const { limit, cursor, ...filter } = c.req.valid('query')
    const page = cursors.page(await audit.list(limit + 1, cursor?.[0] ?? null, filter), limit, ({ id }) => [id])
    return c.json({ entries: page.rows.map(entryJson), nextCursor: page.nextCursor }, 200)
  })
}

type Entry = Awaited<ReturnType<HttpDeps['audit']['list']>>[number]

function entryJson({ at, actor, actorName, ...entry }: Entry): z.output<typeof AuditEntryBody> {
  const { id, action, subject, subjectName, before, after, reason, outcome } = entry
  const by = actor === null ? null : { userId: actor, username: actorName }
  return { id, at: timestamp(at), actor: by, action, subject, subjectName, before, after, reason, outcome }
}
