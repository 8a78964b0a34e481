/** `/api/admin/reactions`: how far the reactions to commits are behind, and those that failed. */
import { createRoute, OpenAPIHono, z } from '@hono/zod-openapi'
import { ReactionsBody } from '../../admin-schemas.ts'
import { errors, fail, type HttpEnv, notFound } from '../../answers.ts'
import { ADMIN, CHANGE, INPUT } from '../../error-codes.ts'
import { ADMIN_READ_SECURITY, ADMIN_WRITE_SECURITY, type Gates } from '../../gates.ts'
import { cursorsOf, instantKey } from '../../cursors.ts'
import { FixtureIdInput, limitInput } from '../../inputs.ts'
import { timestamp } from '../../json.ts'
import type { HttpDeps } from '../../ports.ts'
import { json } from '../../schemas.ts'

const cursors = cursorsOf(
  'set-aside',
  z.tuple([instantKey(1_000_000), z.int(), z.int()]),
  [1_777_730_400_000_000, 19_155_071, 4_711],
)

const status = createRoute({
  method: 'get',
  path: '/api/admin/reactions',
  tags: ['Admin'],
  summary: 'Commits whose reactions are pending or failed',
  description:
    'Careers, boards, badges and notifications follow a commit shortly after it. This shows how far they are behind, ' +
    'and the commits whose reactions failed five times and wait for an operator.',
  security: ADMIN_READ_SECURITY,
  request: { query: z.object({ limit: limitInput(50), cursor: cursors.input }) },
  responses: {
    200: json(ReactionsBody, 'As of now.'),
    ...errors(...ADMIN, ...INPUT),
  },
})

const Seq = z
  .string()
  .regex(/^[1-9]\d{0,14}$/, 'must be the `seq` of a commit that was set aside')
  .openapi({ example: '4711' })
  .transform(Number)

const retry = createRoute({
  method: 'post',
  path: '/api/admin/reactions/{matchId}/{seq}/retry',
  tags: ['Admin'],
  summary: 'Retry the reaction to a commit that was set aside',
  description:
    'Removes it from the list if it succeeds. If it fails again it stays there, and the answer is 500. Writes an ' +
    'audit entry.',
  security: ADMIN_WRITE_SECURITY,
  request: { params: z.object({ matchId: FixtureIdInput, seq: Seq }) },
  responses: {
    200: json(z.object({ retried: z.literal(true) }), 'Done.'),
    ...errors(...ADMIN, ...INPUT, ...CHANGE, 'NOT_FOUND'),
  },
})

export function adminReactions({ community, audit }: Pick<HttpDeps, 'community' | 'audit'>, gates: Gates) {
  const { reactions } = community
  return new OpenAPIHono<HttpEnv>()
    .openapi({ ...status, middleware: gates.admin }, async (c) => {
      const { limit, cursor } = c.req.valid('query')
      const [lag, found] = await Promise.all([reactions.lag(), reactions.setAside(limit + 1, cursor)])
      const page = cursors.page(found, limit, ({ key }) => key)
      const setAside = page.rows.map(({ key: _key, ...one }) => ({
        ...one,
        matchId: Number(one.matchId),
        at: timestamp(one.at),
      }))
      const oldestAt = lag.oldestAt === null ? null : timestamp(lag.oldestAt)
      return c.json({ waiting: lag.commits, oldestAt, setAside, nextCursor: page.nextCursor }, 200)
    })
    .openapi({ ...retry, middleware: [gates.admin, gates.audited('reaction.retry')] as const }, async (c) => {
      const { matchId, seq } = c.req.valid('param')
      const [actor, subject] = [c.var.caller.userId, `${matchId}/${seq}`]
      if (!(await reactions.retry(matchId, seq))) return fail(c, notFound('reaction'))
      await audit.record({ actor, action: 'reaction.retry', subject, before: null, after: null })
      return c.json({ retried: true as const }, 200)
    })
}
