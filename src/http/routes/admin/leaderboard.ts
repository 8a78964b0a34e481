/** `POST /api/admin/leaderboard/rebuild-roi`. */
import { createRoute, OpenAPIHono, z } from '@hono/zod-openapi'
import { answerWith, errors, fail, type HttpEnv } from '../../answers.ts'
import { ADMIN, CHANGE } from '../../error-codes.ts'
import { ADMIN_WRITE_SECURITY, type Gates } from '../../gates.ts'
import type { HttpDeps } from '../../ports.ts'
import { json } from '../../schemas.ts'

const route = createRoute({
  method: 'post',
  path: '/api/admin/leaderboard/rebuild-roi',
  tags: ['Admin'],
  summary: 'Rebuild all leaderboards from the database',
  description:
    'The old boards stay readable until the new ones are complete, and trading continues. A call during a rebuild in ' +
    'the same process waits for it and gets its result; a rebuild in another process is 409. Writes an audit entry.',
  security: ADMIN_WRITE_SECURITY,
  responses: {
    200: json(z.object({ rebuilt: z.int().openapi({ description: 'Ranked users.', example: 12_804 }) }), 'Rebuilt.'),
    ...errors(...ADMIN, ...CHANGE, 'REBUILD_UNDER_WAY'),
  },
})

export function rebuildBoards({ community, audit }: Pick<HttpDeps, 'community' | 'audit'>, gates: Gates) {
  return new OpenAPIHono<HttpEnv>().openapi({ ...route, middleware: gates.admin }, async (c) => {
    const rebuilt = await community.keeper.rebuild()
    const actor = c.var.caller.userId
    const outcome = rebuilt === null ? 'REBUILD_UNDER_WAY' : 'ok'
    await audit.record({
      actor,
      action: 'boards.rebuild',
      subject: 'leaderboards',
      before: null,
      after: rebuilt,
      outcome,
    })
    return rebuilt === null ? fail(c, answerWith('REBUILD_UNDER_WAY')) : c.json({ rebuilt }, 200)
  })
}
