/** `/health`: the process is up. `/ready`: what it depends on is up too. On the REST and on the WebSocket address. */
import { createRoute, OpenAPIHono, z } from '@hono/zod-openapi'
import { answerWith, errors, fail, type HttpEnv } from '../answers.ts'
import type { HttpDeps } from '../ports.ts'
import { json } from '../schemas.ts'

const RETRY_SECS = 2

// Counted against nobody's limit.
const { 500: broken, 503: notReady } = errors('NOT_READY')

const health = createRoute({
  method: 'get',
  path: '/health',
  tags: ['Operation'],
  summary: 'The process is up',
  description: 'Looks at nothing but itself: a supervisor restarts what does not answer here.',
  responses: { 200: json(z.object({ status: z.literal('ok') }), 'It is.'), 500: broken },
})

const Checks = z.record(z.string(), z.enum(['ok', 'failed']))

const ready = createRoute({
  method: 'get',
  path: '/ready',
  tags: ['Operation'],
  summary: 'The process can serve: it is not stopping, and its database and fast store answer',
  description: 'A load balancer sends nobody to a process that is not ready; it comes back by itself.',
  responses: {
    200: json(z.object({ status: z.literal('ready'), checks: Checks }), 'Everything answers.'),
    500: broken,
    503: notReady,
  },
})

export function healthRoutes({ readyChecks, log }: Pick<HttpDeps, 'readyChecks' | 'log'>) {
  const check = async ([name, answers]: [string, () => Promise<void>]): Promise<[string, 'ok' | 'failed']> => {
    try {
      await answers()
      return [name, 'ok']
    } catch (error) {
      log.warn('ready_check_failed', { check: name, error })
      return [name, 'failed']
    }
  }

  return new OpenAPIHono<HttpEnv>()
    .openapi(health, (c) => c.json({ status: 'ok' as const }, 200))
    .openapi(ready, async (c) => {
      const results = await Promise.all(Object.entries(readyChecks).map(check))
      const checks = Object.fromEntries(results)
      if (results.every(([, result]) => result === 'ok')) return c.json({ status: 'ready' as const, checks }, 200)
      return fail(c, answerWith('NOT_READY', { facts: { checks }, retryAfterSecs: RETRY_SECS }))
    })
}
