/** `GET /api/spinner/history`. */
import { createRoute, OpenAPIHono, z } from '@hono/zod-openapi'
import { errors, type HttpEnv } from '../../answers.ts'
import { INPUT, SIGNED_IN } from '../../error-codes.ts'
import { READ_SECURITY, type Gates } from '../../gates.ts'
import { instant } from '../../../../actors/kernel/world.ts'
import { cursorsOf, nextCursor } from '../../cursors.ts'
import { limitInput } from '../../inputs.ts'
import type { HttpDeps } from '../../ports.ts'
import { json } from '../../schemas.ts'
import { WeekBody, weekJson } from './week.ts'

const cursors = cursorsOf('weeks', z.tuple([z.int().min(1)]), [1_779_062_400_000])

const WeekListBody = z.object({ weeks: z.array(WeekBody), nextCursor }).openapi('SpinnerWeekList')

const route = createRoute({
  method: 'get',
  path: '/api/spinner/history',
  tags: ['Spinner'],
  summary: 'Decided weeks, newest first',
  description: 'Each week has its seed and candidates, so anyone can repeat the draw.',
  security: READ_SECURITY,
  request: { query: z.object({ limit: limitInput(12), cursor: cursors.input }) },
  responses: {
    200: json(WeekListBody, 'With their seeds.'),
    ...errors(...SIGNED_IN, ...INPUT),
  },
})

export function spinnerHistory({ community: { spinner } }: Pick<HttpDeps, 'community'>, gates: Gates) {
  return new OpenAPIHono<HttpEnv>().openapi({ ...route, middleware: gates.signedIn }, async (c) => {
    const { limit, cursor } = c.req.valid('query')
    const found = await spinner.history(limit + 1, cursor === undefined ? undefined : instant(cursor[0]))
    const page = cursors.page(found, limit, ({ startsAt }) => [startsAt])
    return c.json({ weeks: page.rows.map(weekJson), nextCursor: page.nextCursor }, 200)
  })
}
