/** `POST /api/ws/token`. */
import { createRoute, OpenAPIHono, z } from '@hono/zod-openapi'
import { errors, fail, type HttpEnv } from '../../answers.ts'
import { CHANGE, SIGNED_IN } from '../../error-codes.ts'
import { READ_SECURITY, type Gates } from '../../gates.ts'
import type { HttpDeps } from '../../ports.ts'
import { Queue, QUEUE_FULL, SOCKET_TOKENS } from '../../queue.ts'
import { json } from '../../schemas.ts'

const route = createRoute({
  method: 'post',
  path: '/api/ws/token',
  tags: ['Session'],
  summary: 'A short-lived token for the WebSocket address',
  description: 'Connect to `wsUrl` with `?token=…`; the WebSocket address ignores cookies.',
  security: READ_SECURITY,
  responses: {
    200: json(
      z.object({
        token: z.string().openapi({ example: 'eyJhbGciOiJSUzI1NiJ9.eyJ0eXAiOiJ3cyJ9.c2lnbmF0dXJl' }),
        expiresIn: z.int().openapi({ description: 'Seconds.', example: 60 }),
        wsUrl: z.string().openapi({ description: 'Where to connect.', example: 'wss://live.touchline.example' }),
      }),
      'It opens any number of connections while it lasts.',
    ),
    ...errors(...SIGNED_IN, ...CHANGE),
  },
})

export function issueWsToken({ sessions, wsUrlFor }: Pick<HttpDeps, 'sessions' | 'wsUrlFor'>, gates: Gates) {
  const queue = new Queue(SOCKET_TOKENS)
  return new OpenAPIHono<HttpEnv>().openapi({ ...route, middleware: gates.signedIn }, async (c) => {
    const token = await queue.run(c.req.raw.signal, () => sessions.issueWs(c.var.caller))
    if (token === null) return fail(c, QUEUE_FULL)
    const { hostname } = new URL(c.req.url)
    return c.json({ token, expiresIn: sessions.lifetimes.wsSecs, wsUrl: wsUrlFor(hostname) }, 200)
  })
}
