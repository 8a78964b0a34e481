/** How the reactions to commits are doing, for operators: what waits, and what was set aside. */
import { createRoute, OpenAPIHono, z } from '@hono/zod-openapi'
import { errors, fail, notFound } from '../answers.ts'
import { ADMIN, CHANGE, INPUT } from '../error-codes.ts'
import { ACCESS_SECURITY, type Gates, type SignedInEnv } from '../gates.ts'
import { timestamp } from '../json.ts'
import type { HttpDeps } from '../ports.ts'
import { FixtureIdInput, json, timestampText } from '../schemas.ts'

const SetAsideBody = z
  .object({
    matchId: z.int(),
    seq: z.int().openapi({ description: 'Counts what happened in the match.' }),
    error: z.string(),
    attempts: z.int(),
    at: timestampText,
  })
  .openapi('SetAside')

const status = createRoute({
  method: 'get',
  path: '/api/admin/reactions',
  tags: ['Admin'],
  summary: 'What follows from commits and has not happened yet',
  description:
    'Careers, boards, badges and notices follow from commits a moment later; here stands how far behind they are.',
  security: ACCESS_SECURITY,
  request: { query: z.object({ limit: z.coerce.number().int().min(1).max(100).default(50) }) },
  responses: {
    200: json(
      z.object({
        waiting: z.int().openapi({ description: 'Commits that nobody has reacted to yet.' }),
        oldestAt: timestampText.nullable(),
        setAside: z.array(SetAsideBody).openapi({ description: 'Failed for good; the latest first.' }),
      }),
      'As of now.',
    ),
    ...errors(...ADMIN, ...INPUT),
  },
})

const Seq = z
  .string()
  .regex(/^[1-9]\d{0,14}$/, 'must be the `seq` of what was set aside')
  .openapi({ example: '4711' })
  .transform(Number)

const retry = createRoute({
  method: 'post',
  path: '/api/admin/reactions/{matchId}/{seq}/retry',
  tags: ['Admin'],
  summary: 'React to what was set aside once more',
  description: 'Takes it off the list when that works; when it fails again it stays there, and the answer is 500.',
  security: ACCESS_SECURITY,
  request: { params: z.object({ matchId: FixtureIdInput, seq: Seq }) },
  responses: {
    200: json(z.object({ retried: z.literal(true) }), 'Done.'),
    ...errors(...ADMIN, ...INPUT, ...CHANGE, 'NOT_FOUND'),
  },
})

export function reactionRoutes({ community, audit }: Pick<HttpDeps, 'community' | 'audit'>, gates: Gates) {
  const { reactions } = community

  return new OpenAPIHono<SignedInEnv>()
    .openapi({ ...status, middleware: gates.admin }, async (c) => {
      const [{ commits, oldestAt }, aside] = await Promise.all([
        reactions.lag(),
        reactions.setAside(c.req.valid('query').limit),
      ])
      const setAside = aside.map((one) => ({ ...one, matchId: Number(one.matchId), at: timestamp(one.at) }))
      return c.json({ waiting: commits, oldestAt: oldestAt === null ? null : timestamp(oldestAt), setAside }, 200)
    })
    .openapi({ ...retry, middleware: gates.admin }, async (c) => {
      const { matchId, seq } = c.req.valid('param')
      const deed = { action: 'reaction.retry', subject: `${matchId}/${seq}`, before: null, after: null }
      await audit.record({ actor: c.var.caller.userId, ...deed })
      const found = await reactions.retry(matchId, seq)
      return found ? c.json({ retried: true as const }, 200) : fail(c, notFound('reaction'))
    })
}
