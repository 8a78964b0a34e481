/** `GET /api/spinner/history`. */
import { createRoute, OpenAPIHono, z } from '@hono/zod-openapi'
import { errors, type HttpEnv } from '../../answers.ts'
import { INPUT, SIGNED_IN } from '../../error-codes.ts'
import { READ_SECURITY, type Gates } from '../../gates.ts'
import { limitInput } from '../../inputs.ts'
import type { HttpDeps } from '../../ports.ts'
import { json } from '../../schemas.ts'
import { WeekBody, weekJson } from './week.ts'

const route = createRoute({
  method: 'get',
  path: '/api/spinner/history',
  tags: ['Spinner'],
  summary: 'Decided weeks, newest first',
  description: 'Each week has its seed and candidates, so anyone can repeat the draw.',
  security: READ_SECURITY,
  request: { query: z.object({ limit: limitInput(12) }) },
  responses: {
    200: json(z.object({ weeks: z.array(WeekBody) }), 'With their seeds.'),
    ...errors(...SIGNED_IN, ...INPUT),
  },
})

export function spinnerHistory({ community: { spinner } }: Pick<HttpDeps, 'community'>, gates: Gates) {
  return new OpenAPIHono<HttpEnv>().openapi({ ...route, middleware: gates.signedIn }, async (c) => {
    const weeks = await spinner.history(c.req.valid('query').limit)
    return c.json({ weeks: weeks.map(weekJson) }, 200)
  })
}
