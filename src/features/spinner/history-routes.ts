/** `GET /api/spinner/history`. */
import { createRoute, OpenAPIHono, z } from '@hono/zod-openapi'
import { errors, type HttpEnv } from '../../http/answers.ts'
import { INPUT, SIGNED_IN } from '../../http/error-codes.ts'
import { READ_SECURITY, type Gates } from '../../http/gates.ts'
import { instant } from '../../../actors/kernel/world.ts'
import { cursorsOf, instantKey, nextCursor } from '../../http/cursors.ts'
import { limitInput } from '../../http/inputs.ts'
import { json } from '../../http/schemas.ts'
import { type SpinnerPorts, WeekBody, weekJson } from './week.ts'

const cursors = cursorsOf('weeks', z.tuple([instantKey(1_000)]), [1_779_062_400_000])

const WeekListBody = z.object({ weeks: z.array(WeekBody), nextCursor }).openapi('SpinnerWeekList')

const route = createRoute({
  method: 'get',
  path: '/api/spinner/history',
  operationId: 'listSpinnerWeeks',
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

export function spinnerHistory({ spinner }: SpinnerPorts, gates: Gates) {
  return new OpenAPIHono<HttpEnv>().openapi({ ...route, middleware: gates.signedIn }, async (c) => {
    const { limit, cursor } = c.req.valid('query')
    const found = await spinner.history(limit + 1, cursor === undefined ? undefined : instant(cursor[0]))
    const page = cursors.page(found, limit, ({ startsAt }) => [startsAt])
    return c.json({ weeks: page.rows.map(weekJson), nextCursor: page.nextCursor }, 200)
  })
}
