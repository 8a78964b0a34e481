/** What happened to the caller's positions: the REST twin of the account stream. */
import { createRoute, OpenAPIHono, z } from '@hono/zod-openapi'
import { errors, fail, type HttpEnv, UNAUTHORIZED } from '../answers.ts'
import { INPUT, SIGNED_IN } from '../error-codes.ts'
import { ACCESS_SECURITY, type Gates } from '../gates.ts'
import { accountChangesJson } from '../json.ts'
import type { HttpDeps } from '../ports.ts'
import { AccountChangesBody, json } from '../schemas.ts'

const changes = createRoute({
  method: 'get',
  path: '/api/account/changes',
  tags: ['Account'],
  summary: 'What happened to the positions of the caller after a marker',
  description:
    'Every opening, change, margin warning (50 % and 80 % of the margin lost) and close, by whomever, in order and exactly ' +
    'once: ask with the last `marker` you were told. Without `since`, or with one that cannot be gone on from, the answer ' +
    'is a snapshot of the open positions instead.',
  security: ACCESS_SECURITY,
  request: {
    query: z.object({
      since: z
        .string()
        .regex(/^\d{1,15}$/, 'must be a marker')
        .optional()
        .openapi({ example: '41' }),
      limit: z.coerce.number().int().min(1).max(100).default(100),
    }),
  },
  responses: { 200: json(AccountChangesBody, 'Events, or a snapshot.'), ...errors(...SIGNED_IN, ...INPUT) },
})

export function accountRoutes({ account }: Pick<HttpDeps, 'account'>, gates: Gates) {
  return new OpenAPIHono<HttpEnv>().openapi({ ...changes, middleware: gates.signedIn }, async (c) => {
    const { since, limit } = c.req.valid('query')
    const found = await account.changes(c.var.caller.userId, since === undefined ? null : Number(since), limit)
    return found === null ? fail(c, UNAUTHORIZED) : c.json(accountChangesJson(found), 200)
  })
}
