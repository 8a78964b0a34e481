/** `GET /api/spinner/current`. */
import { createRoute, OpenAPIHono, z } from '@hono/zod-openapi'
import { errors, type HttpEnv } from '../../http/answers.ts'
import { SIGNED_IN } from '../../http/error-codes.ts'
import { READ_SECURITY, type Gates } from '../../http/gates.ts'
import { json } from '../../http/schemas.ts'
import { type SpinnerPorts, WeekBody, weekJson } from './week.ts'

const OPEN_WEEK = {
  week: '2026-W22',
  startsAt: '2026-05-25T00:00:00.000Z',
  endsAt: '2026-06-01T00:00:00.000Z',
  status: 'open',
  candidates: [
    {
      userId: '0197f2a0-1c2d-7d3e-8f40-5a6b7c8d9e0f',
      username: 'ada_l',
      districtId: 1,
      roiPct: 12.5,
      winRate: 0.62,
      trades: 21,
    },
  ],
  seedHash: 'f9dad6baba856aa4ec1c80dd114102d2d17a1c0f9b14be72ebc003fec2a07026',
  publishedAt: '2026-05-25T00:00:00.000Z',
  previous: null,
}
const CurrentBody = z.object({ ...WeekBody.shape, previous: WeekBody.nullable() }).openapi({ example: OPEN_WEEK })

const route = createRoute({
  method: 'get',
  path: '/api/spinner/current',
  operationId: 'getCurrentSpinner',
  tags: ['Spinner'],
  summary: 'The current week, with its leader or tied candidates, and the week before',
  description:
    'The hash of the seed is published before the week ends, so the seed cannot be chosen afterwards. The operator knows ' +
    'it, but not the prices at which the last live match will settle, which the draw also depends on.',
  security: READ_SECURITY,
  responses: { 200: json(CurrentBody, 'As of now.'), ...errors(...SIGNED_IN) },
})

export function currentWeek({ spinner }: SpinnerPorts, gates: Gates) {
  return new OpenAPIHono<HttpEnv>().openapi({ ...route, middleware: gates.signedInTogether }, async (c) => {
    const { previous, ...week } = await spinner.current()
    return c.json({ ...weekJson(week), previous: previous === null ? null : weekJson(previous) }, 200)
  })
}
