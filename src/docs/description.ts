/** The API description (OpenAPI 3.1), made from the routes themselves, and what it knows about paths and methods. */
import { createRoute, OpenAPIHono, z } from '@hono/zod-openapi'
import { ACCESS_COOKIE, REFRESH_COOKIE } from '../auth/cookies.ts'
import { ErrorBody, errorExamples, errors, type HttpEnv } from '../http/answers.ts'
import { docsPage, type FeedDocument, type RestDocument } from './docs-page.ts'
import type { HttpDeps } from '../http/ports.ts'
import { sendFile } from '../http/send-file.ts'
import type { WebFile } from '../http/web-files.ts'
import { composer, type Schema, type Schemas } from './examples.ts'
import { json } from '../http/schemas.ts'

const INFO = {
  title: 'Touchline',
  version: '0.1.0',
  description: [
    'Leveraged long and short positions on football players, priced by live match data and by the crowd.',
    'Money, prices and lots are JSON numbers with at most 6 decimals; instants are ISO 8601 in UTC.',
    'Every error has the form `{error, code, requestId, …}`; `requestId` is in the header `X-Request-Id` too. An unknown ' +
      'path is 404 `NOT_FOUND`, a known one with another method 405 `METHOD_NOT_ALLOWED`.',
    'Prices and what happens to positions come over the WebSocket, which `GET /api/asyncapi.json` describes.',
  ].join('\n\n'),
}

const TAGS = [
  { name: 'Sign-in', description: 'With an account of the identity provider, and registering step by step.' },
  { name: 'Session', description: 'Who is signed in, for how long, and the ticket to the WebSocket.' },
  { name: 'Public', description: 'What everybody may ask.' },
  { name: 'Market', description: 'Players, matches and districts: what there is to trade.' },
  { name: 'Trading', description: 'Positions and the wallet.' },
  { name: 'Account', description: 'What happened to the positions of the caller.' },
  { name: 'Leaderboards', description: 'Who stands before whom.' },
  { name: 'Spinner', description: 'The weekly draw among those who lead alike, and its proof.' },
  { name: 'Notifications', description: 'What the caller should know.' },
  { name: 'Activity', description: 'What others did.' },
  { name: 'Referrals', description: 'Who has brought whom.' },
  { name: 'Achievements', description: 'Badges, XP and levels.' },
  { name: 'Legacy', description: 'The share model that came before positions, to be read.' },
  { name: 'Admin', description: 'For operators: the role `admin` is required.' },
  { name: 'Operation', description: 'For whoever runs the house, or writes a client for it.' },
  { name: 'Development', description: 'Absent in production.' },
]

/** As much of an OpenAPI document as is read here. */
interface Media {
  schema: Schema
  example?: unknown
  readonly examples?: unknown
}
type Content = Readonly<Record<string, Media>>
interface Operation {
  readonly parameters?: readonly { readonly name: string; readonly schema: Schema; example?: unknown }[]
  readonly requestBody?: { readonly content: Content }
  readonly responses: Readonly<Record<string, { readonly content?: Content }>>
}
interface Document {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>
  readonly components: { readonly schemas: Schemas }
}

const Described = z.looseObject({ openapi: z.string() })
const FeedDescribed = z.looseObject({ asyncapi: z.string() })

const openapi = createRoute({
  method: 'get',
  path: '/api/openapi.json',
  tags: ['Operation'],
  summary: 'This description',
  description: 'Made from the schemas that validate requests and type the answers.',
  responses: { 200: json(Described, 'OpenAPI 3.1.'), ...errors() },
})

const asyncapi = createRoute({
  method: 'get',
  path: '/api/asyncapi.json',
  tags: ['Operation'],
  summary: 'The description of the WebSocket address',
  description: 'Both doors, every message, close codes, limits, and the price frame byte by byte with test vectors.',
  responses: { 200: json(FeedDescribed, 'AsyncAPI 3.'), ...errors() },
})

const docs = createRoute({
  method: 'get',
  path: '/api/docs',
  tags: ['Operation'],
  summary: 'Both descriptions as a page',
  description: 'To be read in a browser, offline too.',
  responses: {
    200: { description: 'The page.', content: { 'text/html': { schema: z.string() } } },
    ...errors(),
  },
})

/** Everything of the page comes from here. */
const DOCS_POLICY =
  "default-src 'none'; style-src 'self'; script-src 'self'; font-src 'self'; img-src 'self'; base-uri 'none'; " +
  "form-action 'none'; frame-ancestors 'none'"

/** What both addresses speak of: account changes and notifications, with all that these refer to. */
function sharedSchemas(schemas: Schemas): Schemas {
  const found = new Map<string, Schema>()
  const collect = (name: string): void => {
    const schema = schemas[name]
    if (schema === undefined || found.has(name)) return
    found.set(name, schema)
    for (const [, next = ''] of JSON.stringify(schema).matchAll(/"#\/components\/schemas\/(\w+)"/g)) collect(next)
  }
  for (const name of ['AccountChanges', 'Notification']) collect(name)
  return Object.fromEntries(found)
}

/** Describes every route of `app`, as mounted when it is first asked, and the WebSocket address. */
export function apiDescription(
  app: OpenAPIHono<HttpEnv>,
  { describeFeed, web }: Pick<HttpDeps, 'describeFeed' | 'web'>,
) {
  const registry = app.openAPIRegistry
  registry.register('Error', ErrorBody)
  for (const [code, example] of Object.entries(errorExamples())) registry.registerComponent('examples', code, example)
  registry.registerComponent('securitySchemes', 'accessCookie', {
    type: 'apiKey',
    in: 'cookie',
    name: ACCESS_COOKIE,
    description: 'Set at sign-in; valid for 15 minutes by default.',
  })
  registry.registerComponent('securitySchemes', 'refreshCookie', {
    type: 'apiKey',
    in: 'cookie',
    name: REFRESH_COOKIE,
    description: 'Set at sign-in; valid for 7 days by default, and for one rotation.',
  })
  let described: z.output<typeof Described> | null = null
  const describe = () => {
    const document = app.getOpenAPI31Document({ openapi: '3.1.0', info: INFO, tags: TAGS })
    // The library's own type of a document is wider than what it makes of our routes.
    addExamples(document as unknown as Document)
    return Described.parse(document)
  }
  const documentOfRest = () => (described ??= describe())
  let feedDescribed: z.output<typeof FeedDescribed> | null = null
  const documentOfFeed = () => {
    const { components } = documentOfRest() as unknown as Document
    const schemas = sharedSchemas(components.schemas) as Parameters<typeof describeFeed>[0]['schemas']
    return (feedDescribed ??= FeedDescribed.parse(describeFeed({ version: INFO.version, schemas })))
  }
  let page: WebFile | null = null
  const makePage = (): WebFile => {
    const rest = documentOfRest() as unknown as RestDocument
    const feed = documentOfFeed() as unknown as FeedDocument
    const html = docsPage({ rest, feed, base: web.base })
    return { name: 'docs.html', type: 'text/html; charset=utf-8', body: new TextEncoder().encode(html) }
  }
  return new OpenAPIHono<HttpEnv>()
    .openapi(docs, (c) => {
      c.header('Cache-Control', 'no-cache')
      c.header('Content-Security-Policy', DOCS_POLICY)
      return sendFile(c, web, (page ??= makePage()))
    })
    .openapi(openapi, (c) => c.json(documentOfRest(), 200))
    .openapi(asyncapi, (c) => c.json(documentOfFeed(), 200))
}

/** Gives every parameter and body that says nothing else an example. */
function addExamples({ paths, components }: Document): void {
  const compose = composer(components.schemas)
  const fill = (content: Content = {}, name = ''): void => {
    for (const [type, media] of Object.entries(content)) {
      const isData = type === 'application/json'
      if (media.examples === undefined) media.example ??= compose(media.schema, '', isData ? name : 'csv')
    }
  }
  for (const [path, operations] of Object.entries(paths)) {
    for (const { parameters = [], requestBody, responses } of Object.values(operations)) {
      for (const parameter of parameters) {
        // The owner of a parameter is what stands before it: `/instruments/{id}`.
        const [, owner = ''] = new RegExp(`([^/]+)/\\{${parameter.name}\\}`).exec(path) ?? []
        parameter.example ??= compose(parameter.schema, owner, parameter.name)
      }
      fill(requestBody?.content)
      for (const { content } of Object.values(responses)) fill(content, path.slice(path.lastIndexOf('/') + 1))
    }
  }
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
