/** The routes of the API description: OpenAPI 3.1 made from the routes themselves, AsyncAPI 3, and both as a page. */
import { createRoute, OpenAPIHono, z } from '@hono/zod-openapi'
import type { Context } from 'hono'
import { ACCESS_COOKIE, REFRESH_COOKIE } from '../auth/cookies.ts'
import { errors, type HttpEnv } from '../http/answers.ts'
import type { Topic } from '../http/api-part.ts'
import { type ApiErrors, schemaName } from '../http/error-facts.ts'
import { PUBLIC_SECURITY } from '../http/gates.ts'
import type { HttpDeps } from '../http/ports.ts'
import { AccountChangesBody, json } from '../http/schemas.ts'
import { keptFor, PUBLIC } from '../http/caching.ts'
import { API_VERSION } from '../http/versions.ts'
import { sendFile } from '../http/send-file.ts'
import { pathPattern } from '../http/unknown-names.ts'
import type { WebFile, WebFiles } from '../http/web-files.ts'
import { docsPage } from './docs-page.ts'
import type { Content, FeedDocument, Operation, RestDocument, Schema, Schemas } from './documents.ts'
import { exampleOf } from './examples.ts'
import { addHeaders } from './headers.ts'
import { OPERATION_IDS } from './operation-ids.ts'

const INFO = {
  title: 'Touchline',
  version: '0.1.0',
  description: [
    'Leveraged long and short positions on football players, priced by live match data and by the orders of all users.',
    'Money, prices and lots are JSON numbers with at most 6 decimals; a price that is only compared (a stop-loss) may ' +
      'have more. Times are ISO 8601 in UTC.',
    'Every error has the form `{error, code, requestId, …}`; the header `X-Request-Id` carries `requestId` too. An ' +
      'unknown path is 404 `NOT_FOUND`; a known path with another method is 405 `METHOD_NOT_ALLOWED`.',
    'Live prices and position events come over the WebSocket, described by `GET /api/asyncapi.json`.',
    `Every answer names the version of the API in \`X-Api-Version\`: ${API_VERSION}. Within a version nothing loses its ` +
      'meaning: requests that were valid stay valid, and answers keep their fields. Routes, optional fields, fields of ' +
      'answers, error codes and values of an enum may be added at any time, so ignore what you do not know. What will ' +
      'be removed is marked `deprecated` here and answers with `Deprecation`; a later version removes it, not before the ' +
      'date in `Sunset`, which is announced at least half a year ahead.',
  ].join('\n\n'),
  license: { name: 'Proprietary', identifier: 'LicenseRef-Proprietary' },
}

/** Wherever the description was read. */
const SERVERS = [{ url: '/' }]

/** The topics of the routes that are always there; those of features stand before the last three. */
const TOPICS: readonly Topic[] = [
  { name: 'Sign-in', description: 'Signing in with the identity provider, and registering step by step.' },
  { name: 'Session', description: "The caller's profile and session, and tokens for the WebSocket." },
  { name: 'Public', description: 'Open to all.' },
  { name: 'Market', description: 'What can be traded: instruments, matches and districts.' },
  { name: 'Trading', description: 'Positions and the wallet.' },
  { name: 'Account', description: "The events of the caller's positions." },
  { name: 'Leaderboards', description: 'Ranks of users and districts.' },
  { name: 'Activity', description: 'Notable events of all users.' },
  { name: 'Achievements', description: 'Badges, XP and levels.' },
]
const LAST_TOPICS: readonly Topic[] = [
  { name: 'Admin', description: 'For operators; needs the role `admin`.' },
  { name: 'Operation', description: 'Health, readiness, and the API descriptions.' },
  { name: 'Development', description: 'Absent in production.' },
]

const RestDescribed = z.looseObject({ openapi: z.string() })
const FeedDescribed = z.looseObject({ asyncapi: z.string() })

const openapi = createRoute({
  method: 'get',
  path: '/api/openapi.json',
  tags: ['Operation'],
  summary: 'The REST API as an OpenAPI 3.1 document',
  description: 'Made from the schemas that validate requests and type the answers.',
  security: PUBLIC_SECURITY,
  responses: { 200: json(RestDescribed.openapi({ example: { openapi: '3.1.0' } }), 'OpenAPI 3.1.'), ...errors() },
})

const asyncapi = createRoute({
  method: 'get',
  path: '/api/asyncapi.json',
  tags: ['Operation'],
  summary: 'The WebSocket address as an AsyncAPI 3 document',
  description:
    'Both endpoints, every message, close codes, limits, and the price frame byte by byte with test vectors.',
  security: PUBLIC_SECURITY,
  responses: { 200: json(FeedDescribed.openapi({ example: { asyncapi: '3.0.0' } }), 'AsyncAPI 3.'), ...errors() },
})

const docs = createRoute({
  method: 'get',
  path: '/api/docs',
  tags: ['Operation'],
  summary: 'Both documents as a page',
  description: 'For browsers. Loads nothing from other hosts, so it works offline.',
  security: PUBLIC_SECURITY,
  responses: {
    200: {
      description: 'The page.',
      content: { 'text/html': { schema: z.string().openapi({ example: '<!doctype html>' }) } },
    },
    ...errors(),
  },
})

/** Everything on the page comes from this server. */
const DOCS_POLICY =
  "default-src 'none'; style-src 'self'; script-src 'self'; font-src 'self'; img-src 'self'; connect-src 'self'; " +
  "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

/** The schemas that both documents use: account changes and notifications, with all schemas that these refer to. */
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

/** What the description needs in addition to the routes. */
interface Described {
  /** Of features. */
  readonly topics: readonly Topic[]
  readonly errors: ApiErrors
  /** The paths whose answers have an ETag are the keys. */
  readonly cached: Readonly<Record<string, string>>
  readonly deprecated: readonly string[]
}

/** Describes every route of `app` as mounted at the first call, and the WebSocket address. */
export function apiDescription(
  app: OpenAPIHono<HttpEnv>,
  { describeFeed, web }: Pick<HttpDeps, 'describeFeed' | 'web'>,
  described: Described,
) {
  registerComponents(app.openAPIRegistry, described.errors)
  const tags = [...TOPICS, ...described.topics, ...LAST_TOPICS]
  // The library's own type of a document is wider than what it makes of these routes.
  const whole = once(() => {
    const document = app.getOpenAPI31Document({ openapi: '3.1.0', info: INFO, servers: SERVERS, tags })
    addExamples(document as unknown as RestDocument, described.errors)
    addNotModified(document as unknown as RestDocument, described)
    nameOperations(document as unknown as RestDocument, described)
    addHeaders(document as unknown as RestDocument)
    return RestDescribed.parse(document) as unknown as RestDocument
  })
  const feed = once(() => {
    const { components } = whole()
    const schemas = sharedSchemas(components.schemas) as Parameters<typeof describeFeed>[0]['schemas']
    return FeedDescribed.parse(describeFeed({ version: INFO.version, schemas }))
  })
  const rest = once(() => withoutUnused(whole()))
  const restFile = once(() => jsonFile('openapi.json', rest()))
  const feedFile = once(() => jsonFile('asyncapi.json', feed()))
  const page = once((): WebFile => {
    const documents = { rest: whole(), feed: feed() as unknown as FeedDocument }
    const html = docsPage({ ...documents, errors: described.errors.table, address: web.address })
    return { name: 'docs.html', type: 'text/html; charset=utf-8', body: new TextEncoder().encode(html) }
  })
  return new OpenAPIHono<HttpEnv>()
    .openapi(docs, (c) => {
      c.header('Cache-Control', 'no-cache')
      c.header('Content-Security-Policy', DOCS_POLICY)
      return sendFile(c, web, page())
    })
    .openapi(openapi, (c) => sendDocument(c, web, restFile()))
    .openapi(asyncapi, (c) => sendDocument(c, web, feedFile()))
}

/** A description as a file of JSON, compressed once for all. */
function sendDocument(c: Context<HttpEnv>, web: Pick<WebFiles, 'compressed'>, file: WebFile) {
  keptFor(c, PUBLIC)
  return sendFile(c, web, file) as never // the bytes are the document that the schema describes
}

const jsonFile = (name: string, document: unknown): WebFile => ({
  name,
  type: 'application/json; charset=utf-8',
  body: new TextEncoder().encode(JSON.stringify(document)),
})

/** Makes a value at the first call and keeps it. */
function once<T>(make: () => T): () => T {
  let made: { readonly value: T } | null = null
  return () => (made ??= { value: make() }).value
}

/** The error form, the two cookies and the keys. */
function registerComponents(registry: OpenAPIHono['openAPIRegistry'], { body }: ApiErrors): void {
  registry.register('Error', body)
  // Of the account stream; its REST counterpart also has a cursor.
  registry.register('AccountChanges', AccountChangesBody)
  registry.registerComponent('securitySchemes', 'accessCookie', {
    type: 'apiKey',
    in: 'cookie',
    name: ACCESS_COOKIE,
    description:
      'Set at sign-in; valid for 15 minutes by default. With `COOKIE_PREFIX` the names of both cookies begin with it.',
  })
  registry.registerComponent('securitySchemes', 'refreshCookie', {
    type: 'apiKey',
    in: 'cookie',
    name: REFRESH_COOKIE,
    description: 'Set at sign-in; valid for 7 days by default, and for one rotation.',
  })
  registry.registerComponent('securitySchemes', 'personalKey', {
    type: 'http',
    scheme: 'bearer',
    description:
      'A personal key of a program (`POST /api/keys`): `tl_` and 40 characters. Each operation names the scope that it ' +
      'needs; `trade` includes `read`, and `admin:write` includes `admin:read`. Operations without one accept no key: ' +
      'keys, sessions and accounts are managed in a browser. If a key is sent, cookies are ignored.',
  })
}

/** Gives every error code, parameter and body an example, unless it has its own. */
function addExamples({ paths, components }: RestDocument, { table }: ApiErrors): void {
  const example = (schema: Schema): unknown => exampleOf(schema, components.schemas)
  components.examples = Object.fromEntries(
    Object.entries(table).map(([code, { when }]) => {
      const value = example(components.schemas[schemaName(code)] ?? {})
      return [code, { summary: when, value }]
    }),
  )
  const fill = (content: Content = {}): void => {
    for (const media of Object.values(content))
      if (media.examples === undefined) media.example ??= example(media.schema)
  }
  for (const { parameters = [], requestBody, responses } of Object.values(paths).flatMap(Object.values<Operation>)) {
    for (const parameter of parameters) parameter.example ??= example(parameter.schema)
    fill(requestBody?.content)
    for (const { content } of Object.values(responses)) fill(content)
  }
}

/** Names every operation, and marks what is to go. */
function nameOperations({ paths }: RestDocument, { deprecated }: Described): void {
  for (const [path, operations] of Object.entries(paths)) {
    for (const [method, operation] of Object.entries(operations)) {
      const operationId = operation.operationId ?? OPERATION_IDS[`${method.toUpperCase()} ${path}`]
      Object.assign(operation, { operationId }, deprecated.includes(path) ? { deprecated: true } : {})
    }
  }
}

/** The files of the API description are cached as well. */
const FILES = ['/api/openapi.json', '/api/asyncapi.json', '/api/docs']

/** Routes with an ETag answer 304 to a client that has the answer. */
function addNotModified({ paths }: RestDocument, { cached }: Described): void {
  const withTag = Object.keys(cached).map((path) => path.replaceAll(/:(\w+)/g, '{$1}'))
  for (const path of [...withTag, ...FILES]) {
    const operation = paths[path]?.['get']
    if (operation !== undefined) Object.assign(operation.responses, { 304: { description: NOT_MODIFIED } })
  }
}
const NOT_MODIFIED = 'The answer is the one whose `ETag` the client sent in `If-None-Match`. No body.'

/** Without the schemas and examples that nothing here refers to: of the WebSocket, or of no described route. */
function withoutUnused(document: RestDocument): RestDocument {
  const used = new Set<string>()
  const collect = (node: unknown): void => {
    for (const [, kind = '', name = ''] of JSON.stringify(node).matchAll(
      /"#\/components\/(schemas|examples)\/(\w+)"/g,
    )) {
      if (used.has(`${kind}/${name}`)) continue
      used.add(`${kind}/${name}`)
      collect(document.components[kind as 'schemas' | 'examples'][name])
    }
  }
  collect(document.paths)
  const usedOf = <T>(kind: string, all: Readonly<Record<string, T>>): Readonly<Record<string, T>> =>
    Object.fromEntries(Object.entries(all).filter(([name]) => used.has(`${kind}/${name}`)))
  const { components } = document
  const [schemas, examples] = [usedOf('schemas', components.schemas), usedOf('examples', components.examples)]
  return { ...document, components: { ...components, schemas, examples } }
}

type Definitions = OpenAPIHono['openAPIRegistry']['definitions']

/** A function from a concrete path to its methods, none if the path is unknown. */
export function methodsByPath(definitions: Definitions): (path: string) => readonly string[] {
  const routes = definitions
    .filter((definition) => definition.type === 'route')
    .map(({ route }) => ({
      method: route.method.toUpperCase(),
      pattern: pathPattern(route.path),
    }))
  return (path) => {
    const methods = routes.filter(({ pattern }) => pattern.test(path)).map(({ method }) => method)
    return [...new Set(methods.flatMap((method) => (method === 'GET' ? ['GET', 'HEAD'] : [method])))]
  }
}
