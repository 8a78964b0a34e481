/** `/api/admin/flags`: feature flags, listed and set. */
import { createRoute, OpenAPIHono, z } from '@hono/zod-openapi'
import { FLAGS } from '../../../../actors/kernel/settings.ts'
import type { SettingEntry } from '../../../../db/settings.ts'
import { errors, fail, type HttpEnv } from '../../answers.ts'
import { ADMIN, BODY } from '../../error-codes.ts'
import { ADMIN_READ_SECURITY, ADMIN_WRITE_SECURITY, type Gates } from '../../gates.ts'
import { jsonBody } from '../../inputs.ts'
import type { HttpDeps } from '../../ports.ts'
import { json } from '../../schemas.ts'
import { refused, updated, updatedJson } from './settings.ts'
import { strictBody } from '../../unknown-names.ts'

const FlagBody = z
  .object({
    key: z.string().openapi({ example: 'coming_soon' }),
    enabled: z.boolean().openapi({ example: true }),
    default: z.boolean().openapi({ example: false }),
    description: z.string().openapi({ example: FLAGS.coming_soon.description }),
    ...updated,
  })
  .openapi('Flag')

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
  description: 'Takes effect in this process at once, in every other within a second. Writes an audit entry.',
  security: ADMIN_WRITE_SECURITY,
  request: {
    params: z.object({ key: z.string().min(1).max(100).openapi({ example: 'coming_soon' }) }),
    body: jsonBody(strictBody({ enabled: z.boolean().openapi({ example: true }) })),
  },
  responses: { 200: json(FlagBody, 'Set.'), ...errors(...ADMIN, ...BODY, 'NOT_FOUND') },
})

export function adminFlags({ settings }: Pick<HttpDeps, 'settings'>, gates: Gates) {
  return new OpenAPIHono<HttpEnv>()
    .openapi({ ...list, middleware: gates.admin }, (c) => c.json({ flags: settings.listFlags().map(flagJson) }, 200))
    .openapi({ ...set, middleware: gates.admin }, async (c) => {
      const { key } = c.req.valid('param')
      const outcome = await settings.setFlag({ key, value: c.req.valid('json').enabled, by: c.var.caller.userId })
      return outcome.kind === 'set' ? c.json(flagJson(outcome.entry), 200) : fail(c, refused(outcome, 'flag'))
    })
}

const flagJson = (entry: SettingEntry): z.output<typeof FlagBody> => ({
  key: entry.key,
  enabled: entry.value === true,
  default: entry.setting.default === true,
  description: entry.setting.description,
  ...updatedJson(entry),
})
