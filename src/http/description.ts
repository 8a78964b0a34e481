/** The API description (OpenAPI 3.1), made from the routes themselves, and what it knows about paths and methods. */
import { createRoute, OpenAPIHono, z } from '@hono/zod-openapi'
import { ACCESS_COOKIE, REFRESH_COOKIE } from '../auth/cookies.ts'
import type { HttpEnv } from './answers.ts'
import { json } from './schemas.ts'

const INFO = {
  title: 'Touchline',
  version: '0.1.0',
  description: [
    'Leveraged long and short positions on football players, priced by live match data and by the crowd.',
    'Money, prices and lots are JSON numbers with at most 6 decimals; instants are ISO 8601 in UTC.',
    'Every error has the form `{error, code, requestId, …}`; `requestId` is in the header `X-Request-Id` too.',
  ].join('\n\n'),
}

const Described = z.looseObject({ openapi: z.string() })

const document = createRoute({
  method: 'get',
  path: '/api/openapi.json',
  tags: ['Operation'],
  summary: 'This description',
  responses: { 200: json(Described, 'OpenAPI 3.1.') },
})

/** Describes every route of `app`, as mounted when it is first asked. */
export function apiDescription(app: OpenAPIHono<HttpEnv>) {
  app.openAPIRegistry.registerComponent('securitySchemes', 'accessCookie', {
    type: 'apiKey',
    in: 'cookie',
    name: ACCESS_COOKIE,
    description: 'Set at sign-in; valid for 15 minutes by default.',
  })
  app.openAPIRegistry.registerComponent('securitySchemes', 'refreshCookie', {
    type: 'apiKey',
    in: 'cookie',
    name: REFRESH_COOKIE,
    description: 'Set at sign-in; valid for 7 days by default, and for one rotation.',
  })
  let described: z.output<typeof Described> | null = null
  return new OpenAPIHono<HttpEnv>().openapi(document, (c) => {
    described ??= Described.parse(app.getOpenAPI31Document({ openapi: '3.1.0', info: INFO }))
    return c.json(described, 200)
  })
}

type Definitions = OpenAPIHono['openAPIRegistry']['definitions']

/** A function from a concrete path to the methods it takes, none when it is unknown. */
export function methodsByPath(definitions: Definitions): (path: string) => readonly string[] {
  const routes = definitions
    .filter((definition) => definition.type === 'route')
    .map(({ route }) => ({
      method: route.method.toUpperCase(),
      pattern: new RegExp(`^${route.path.replaceAll('.', '\\.').replaceAll(/\{[^}]+\}/g, '[^/]+')}$`),
    }))
  return (path) => [...new Set(routes.filter(({ pattern }) => pattern.test(path)).map(({ method }) => method))]
}
