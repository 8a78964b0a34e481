/** `GET /api/admin/audit`. */
import { createRoute, OpenAPIHono, z } from '@hono/zod-openapi'
import { errors, type HttpEnv } from '../../answers.ts'
import { ADMIN, INPUT } from '../../error-codes.ts'
import { ADMIN_READ_SECURITY, type Gates } from '../../gates.ts'
import { cursorsOf, nextCursor } from '../../cursors.ts'
import { limitInput, timeInput } from '../../inputs.ts'
import { timestamp } from '../../json.ts'
import type { HttpDeps } from '../../ports.ts'
import { json, timestampText, usernameText } from '../../schemas.ts'

const EntryBody = z
  .object({
    id: z.int().openapi({ example: 88 }),
    at: timestampText,
    actor: z
      .object({
        userId: z.string().openapi({ example: '0197f2a0-1c2d-7d3e-8f40-5a6b7c8d9e0f' }),
        username: usernameText.nullable(),
      })
      .nullable()
      .openapi({ description: 'The admin who acted; null if the server itself did.' }),
    action: z.string().openapi({ example: 'setting.set' }),
    subject: z.string().openapi({ example: 'trading.hold_secs' }),
    subjectName: z
      .string()
      .nullable()
      .openapi({ description: 'The name of the user, league, player or match in `subject`.', example: null }),
    before: z.unknown().openapi({ example: 180 }),
    after: z.unknown().openapi({ example: 60 }),
    reason: z
      .string()
      .nullable()
      .openapi({ description: 'Why, as the operator wrote.', example: 'too many complaints' }),
    outcome: z.string().openapi({ description: '`ok`, or the code of the refusal.', example: 'ok' }),
  })
  .openapi('AuditEntry')

const cursors = cursorsOf('audit', z.tuple([z.int().min(1)]), [88])

const AuditBody = z.object({ entries: z.array(EntryBody), nextCursor }).openapi('AuditLog')

const filterInput = z.string().min(1).max(100).optional()

const route = createRoute({
  method: 'get',
  path: '/api/admin/audit',
  tags: ['Admin'],
  summary: 'The actions of operators, newest first',
  description:
    'Every write of an admin leaves an entry with its outcome, in the same transaction if the write has one. Entries are ' +
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

function entryJson({ at, actor, actorName, ...entry }: Entry): z.output<typeof EntryBody> {
  const { id, action, subject, subjectName, before, after, reason, outcome } = entry
  const by = actor === null ? null : { userId: actor, username: actorName }
  return { id, at: timestamp(at), actor: by, action, subject, subjectName, before, after, reason, outcome }
}
