/** `/api/admin/flags`: feature flags, listed, set and deleted. */
import { createRoute, OpenAPIHono, z } from '@hono/zod-openapi'
import { FLAGS_MAX, isFlagKey } from '../../../../actors/kernel/settings.ts'
import type { SettingEntry } from '../../../../db/settings.ts'
import { FlagBody } from '../../admin-schemas.ts'
import { answerWith, errors, fail, type HttpEnv, notFound } from '../../answers.ts'
import { ADMIN, BODY, CHANGE, INPUT } from '../../error-codes.ts'
import { ADMIN_READ_SECURITY, ADMIN_WRITE_SECURITY, type Gates } from '../../gates.ts'
import { auditReason, fieldsBody } from '../../inputs.ts'
import type { HttpDeps } from '../../ports.ts'
import { json } from '../../schemas.ts'
import { updatedJson } from './settings.ts'

const KeyPath = z.object({
  key: z.string().refine(isFlagKey, 'must be 1 to 64 of a–z, 0–9, _, . and -, first a letter or digit').openapi({
    example: 'new_board',
  }),
})

const list = createRoute({
  method: 'get',
  path: '/api/admin/flags',
  tags: ['Admin'],
  summary: 'All feature flags',
  description: 'Each with its effect, its default, and the admin who last set it.',
  security: ADMIN_READ_SECURITY,
  responses: { 200: json(z.object({ flags: z.array(FlagBody) }), 'As in force.'), ...errors(...ADMIN) },
})

const set = createRoute({
  method: 'put',
  path: '/api/admin/flags/{key}',
  tags: ['Admin'],
  summary: 'Set a flag',
  description:
    `A flag with a new key is created, at most ${FLAGS_MAX} besides the built-in \`coming_soon\`. The server keeps it and ` +
    'shows it in `GET /api/flags`; what it means is for clients to decide. Takes effect in this process at once, in every ' +
    'other within a second. Writes an audit entry.',
  security: ADMIN_WRITE_SECURITY,
  request: {
    params: KeyPath,
    body: fieldsBody({ enabled: z.boolean().openapi({ example: true }), reason: auditReason }),
  },
  responses: { 200: json(FlagBody, 'Set.'), ...errors(...ADMIN, ...BODY, 'FLAG_LIMIT') },
})

const remove = createRoute({
  method: 'delete',
  path: '/api/admin/flags/{key}',
  tags: ['Admin'],
  summary: 'Delete a flag',
  description: 'One that was created here. The built-in `coming_soon` cannot be deleted. Writes an audit entry.',
  security: ADMIN_WRITE_SECURITY,
  request: { params: KeyPath },
  responses: {
    200: json(z.object({ deleted: z.literal(true) }), 'Deleted.'),
    ...errors(...ADMIN, ...INPUT, ...CHANGE, 'NOT_FOUND', 'FLAG_BUILT_IN'),
  },
})

export function adminFlags({ settings }: Pick<HttpDeps, 'settings'>, gates: Gates) {
  return new OpenAPIHono<HttpEnv>()
    .openapi({ ...list, middleware: gates.admin }, (c) => c.json({ flags: settings.listFlags().map(flagJson) }, 200))
    .openapi({ ...set, middleware: [gates.admin, gates.audited('setting.set', 'flags.')] as const }, async (c) => {
      const { key } = c.req.valid('param')
      const { enabled, reason } = c.req.valid('json')
      const outcome = await settings.setFlag({ key, enabled, by: c.var.caller.userId, reason })
      if (outcome.kind === 'full') return fail(c, answerWith('FLAG_LIMIT', { facts: { max: outcome.max } }))
      return c.json(flagJson(outcome.entry), 200)
    })
    .openapi({ ...remove, middleware: [gates.admin, gates.audited('flag.remove', 'flags.')] as const }, async (c) => {
      switch (await settings.removeFlag(c.req.valid('param').key, c.var.caller.userId)) {
        case 'removed':
          return c.json({ deleted: true as const }, 200)
        case 'unknown':
          return fail(c, notFound('flag'))
        case 'built_in':
          return fail(c, answerWith('FLAG_BUILT_IN'))
      }
    })
}

const flagJson = (entry: SettingEntry): z.output<typeof FlagBody> => ({
  key: entry.key,
  enabled: entry.value === true,
  default: entry.setting.default === true,
  description: entry.setting.description,
  ...updatedJson(entry),
})
