/** `GET /api/districts`. */
import { createRoute, OpenAPIHono, z } from '@hono/zod-openapi'
import { errors, type HttpEnv } from '../../answers.ts'
import type { HttpDeps } from '../../ports.ts'
import { districtNumber, json } from '../../schemas.ts'
import { PUBLIC_SECURITY } from '../../gates.ts'

const route = createRoute({
  method: 'get',
  path: '/api/districts',
  tags: ['Market'],
  summary: 'All districts',
  description: 'Open to all, because a new user chooses a district when registering.',
  security: PUBLIC_SECURITY,
  responses: {
    200: json(
      z.object({
        districts: z.array(z.object({ id: districtNumber, name: z.string().openapi({ example: 'Harbour' }) })),
      }),
      'Sorted by name.',
    ),
    ...errors(),
  },
})

export function listDistricts({ accounts }: Pick<HttpDeps, 'accounts'>) {
  return new OpenAPIHono<HttpEnv>().openapi(route, async (c) => {
    const known = await accounts.districts()
    return c.json({ districts: known.map(({ id, name }) => ({ id: Number(id), name })) }, 200)
  })
}
