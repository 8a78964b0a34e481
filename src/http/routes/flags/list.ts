/** `GET /api/flags`. */
import { createRoute, OpenAPIHono, z } from '@hono/zod-openapi'
import { errors, type HttpEnv } from '../../answers.ts'
import type { HttpDeps } from '../../ports.ts'
import { json } from '../../schemas.ts'
import { PUBLIC_SECURITY } from '../../gates.ts'

const FlagMap = z.record(z.string(), z.boolean()).openapi({ example: { coming_soon: false } })

const route = createRoute({
  method: 'get',
  path: '/api/flags',
  tags: ['Public'],
  summary: 'Feature flags',
  description: 'Every flag, whether on or off: `coming_soon`, and those that operators have created.',
  security: PUBLIC_SECURITY,
  responses: { 200: json(FlagMap, 'Key to value, as of now.'), ...errors() },
})

export function listFlags({ flags }: Pick<HttpDeps, 'flags'>) {
  return new OpenAPIHono<HttpEnv>().openapi(route, (c) => c.json({ ...flags() }, 200))
}
