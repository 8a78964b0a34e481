/** What everybody may know before signing in (specification 4.1). */
import { createRoute, OpenAPIHono, z } from '@hono/zod-openapi'
import { errors, type HttpEnv } from '../answers.ts'
import type { HttpDeps } from '../ports.ts'
import { json } from '../schemas.ts'

const flagMap = createRoute({
  method: 'get',
  path: '/api/flags',
  tags: ['Public'],
  summary: 'Feature flags',
  responses: { 200: json(z.record(z.string(), z.boolean()), 'Key to value, as of now.'), ...errors() },
})

export function publicRoutes({ flags }: Pick<HttpDeps, 'flags'>) {
  return new OpenAPIHono<HttpEnv>().openapi(flagMap, (c) => c.json({ ...flags() }, 200))
}
