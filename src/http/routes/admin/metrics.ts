/** `GET /api/admin/metrics`: what `/metrics` says, for admins who cannot reach it through a proxy. */
import { createRoute, OpenAPIHono, z } from '@hono/zod-openapi'
import { errors, type HttpEnv } from '../../answers.ts'
import { ADMIN } from '../../error-codes.ts'
import { ADMIN_READ_SECURITY, type Gates } from '../../gates.ts'
import type { HttpDeps } from '../../ports.ts'
import { json } from '../../schemas.ts'

const route = createRoute({
  method: 'get',
  path: '/api/admin/metrics',
  tags: ['Admin'],
  summary: 'The metrics of one process',
  description: 'Of the process that answers, as `/metrics` has them. Alerts are made from those of all processes.',
  security: ADMIN_READ_SECURITY,
  responses: {
    200: json(
      z.object({ metrics: z.string().openapi({ example: 'touchline_outbox_set_aside 0\n' }) }),
      "In Prometheus's text format.",
    ),
    ...errors(...ADMIN),
  },
})

export const adminMetrics = ({ metrics }: Pick<HttpDeps, 'metrics'>, gates: Gates) =>
  new OpenAPIHono<HttpEnv>().openapi({ ...route, middleware: gates.admin }, async (c) =>
    c.json({ metrics: await metrics.text() }, 200),
  )
