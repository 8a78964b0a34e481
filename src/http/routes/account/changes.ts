/** `GET /api/account/changes`: the REST counterpart of the account stream. */
import { createRoute, OpenAPIHono, z } from '@hono/zod-openapi'
import { errors, fail, type HttpEnv, UNAUTHORIZED } from '../../answers.ts'
import { INPUT, SIGNED_IN } from '../../error-codes.ts'
import { READ_SECURITY, type Gates } from '../../gates.ts'
import { cursorsOf, nextCursor } from '../../cursors.ts'
import { limitInput } from '../../inputs.ts'
import { accountChangesJson } from '../../json.ts'
import type { HttpDeps } from '../../ports.ts'
import { AccountChangesBody, json } from '../../schemas.ts'

const cursors = cursorsOf('changes', z.tuple([z.int().min(0)]), [41])

const AccountChangesPage = z.object({ ...AccountChangesBody.shape, nextCursor }).openapi('AccountChangesPage')

const route = createRoute({
  method: 'get',
  path: '/api/account/changes',
  tags: ['Account'],
  summary: "The events of the caller's positions after a marker",
  description:
    'Every opening, change, margin warning (at 50 % and 80 % of the margin lost) and close, whatever caused it, in ' +
    'order and exactly once. Send the last `marker` received as `since`. Without `since`, or if the events after it ' +
    'are no longer kept, the answer is a snapshot of the open positions. While there is more, `nextCursor` continues ' +
    'like `marker`; it overrides `since`.',
  security: READ_SECURITY,
  request: {
    query: z.object({
      since: z
        .string()
        .regex(/^\d{1,15}$/, 'must be a marker')
        .optional()
        .openapi({ example: '41' }),
      limit: limitInput(50),
      cursor: cursors.input,
    }),
  },
  responses: { 200: json(AccountChangesPage, 'Events, or a snapshot.'), ...errors(...SIGNED_IN, ...INPUT) },
})

export function accountChanges({ account }: Pick<HttpDeps, 'account'>, gates: Gates) {
  return new OpenAPIHono<HttpEnv>().openapi({ ...route, middleware: gates.signedIn }, async (c) => {
    const { since, limit, cursor } = c.req.valid('query')
    const after = cursor?.[0] ?? (since === undefined ? null : Number(since))
    const found = await account.changes(c.var.caller.userId, after, limit)
    if (found === null) return fail(c, UNAUTHORIZED)
    const body = accountChangesJson(found)
    return c.json({ ...body, nextCursor: body.more ? cursors.write([found.marker]) : null }, 200)
  })
}
