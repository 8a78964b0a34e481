/** `GET /health` and `GET /ready`, for supervisors and load balancers, on the REST and on the WebSocket address. */
import { createRoute, OpenAPIHono, z } from '@hono/zod-openapi'
import { answerWith, errors, fail, type HttpEnv } from '../answers.ts'
import type { Readiness, ReadyChecks } from '../edge-port.ts'
import type { HttpDeps } from '../ports.ts'
import { json } from '../schemas.ts'
import { PUBLIC_SECURITY } from '../gates.ts'

const RETRY_SECS = 2

// No limit counts these routes. An unknown parameter is no error: probers add what they like.
const { 429: limited, 500: broken, 503: notReady } = errors('NOT_READY')

const healthRoute = createRoute({
  method: 'get',
  path: '/health',
  tags: ['Operation'],
  summary: 'Whether the process is up',
  description:
    'Checks no dependency. A supervisor restarts a process that does not answer. The WebSocket address answers it too.',
  security: PUBLIC_SECURITY,
  responses: {
    200: json(z.object({ status: z.literal('ok') }), 'The process is up.'),
    429: limited,
    500: broken,
  },
})

const Checks = z
  .record(z.string(), z.enum(['ok', 'failed']))
  .openapi({ example: { accepting: 'ok', database: 'ok', fastStore: 'ok' } })

const readyRoute = createRoute({
  method: 'get',
  path: '/ready',
  tags: ['Operation'],
  summary: 'Whether the process can serve requests',
  description:
    'Ready if the process is not stopping, its database and fast store answer, and no newer version has migrated the ' +
    'database so that this one must stop (`schema`). A load balancer sends no traffic ' +
    'to a process that is not ready.',
  security: PUBLIC_SECURITY,
  responses: {
    200: json(z.object({ status: z.literal('ready'), checks: Checks }), 'Every check passed.'),
    429: limited,
    500: broken,
    503: notReady,
  },
})

/**
 * Runs every check. Callers that come during a run share its result: each check is a round trip to the database or the
 * fast store.
 */
export function readiness(checks: ReadyChecks, log: HttpDeps['log']): Readiness {
  const check = async ([name, answers]: [string, () => Promise<void>]): Promise<[string, 'ok' | 'failed']> => {
    try {
      await answers()
      return [name, 'ok']
    } catch (error) {
      log.warn('ready_check_failed', { check: name, error })
      return [name, 'failed']
    }
  }

  let look: Promise<readonly [string, 'ok' | 'failed'][]> | null = null
  return () => (look ??= Promise.all(Object.entries(checks).map(check)).finally(() => (look = null)))
}

export function health({ readiness: results }: Pick<HttpDeps, 'readiness'>) {
  return new OpenAPIHono<HttpEnv>()
    .openapi(healthRoute, (c) => c.json({ status: 'ok' as const }, 200))
    .openapi(readyRoute, async (c) => {
      const seen = await results()
      const checks = Object.fromEntries(seen)
      if (seen.every(([, result]) => result === 'ok')) return c.json({ status: 'ready' as const, checks }, 200)
      return fail(c, answerWith('NOT_READY', { facts: { checks }, retryAfterSecs: RETRY_SECS }))
    })
}
