/**
 * Both documents as a page. It is made here from the documents alone, without a third-party viewer, so that it works
 * offline and under the strictest content security policy.
 */
import { byStatus } from '../http/error-codes.ts'
import type { ErrorTable } from '../http/error-facts.ts'
import { anchor, badge, code, fields, inline, prose, slug, table, text, typeOf } from './docs-html.ts'
import { quickstartSection } from './quickstart.ts'
import type { Content, FeedDocument, Operation, RestDocument } from './documents.ts'

export interface DocsOptions {
  readonly rest: RestDocument
  readonly feed: FeedDocument
  readonly errors: ErrorTable
  /** Where the page's style sheet, script and icon are. */
  readonly address: (source: string) => string
}

export function docsPage({ rest, feed, errors, address }: DocsOptions): string {
  const operations = Object.entries(rest.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ method, path, operation })),
  )
  const topics = rest.tags
    .map((tag) => ({ ...tag, routes: operations.filter(({ operation }) => operation.tags?.includes(tag.name)) }))
    .filter(({ routes }) => routes.length > 0)

  // Where any name can sign in, the page may send requests.
  const isDemo = rest.paths['/api/auth/dev'] !== undefined

  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="dark light">
<title>${text(rest.info.title)} API</title>
<link rel="icon" href="${address('icon.svg')}" type="image/svg+xml">
<link rel="stylesheet" href="${address('docs.css')}">
<script type="module" src="${address('docs.ts')}"></script>
</head>
<body>
<a class="skip" href="#main">Skip to the text</a>
<header>
  <a class="brand" href="/">${text(rest.info.title)}</a>
  <span class="edition">API ${text(rest.info.version)}</span>
  <input id="find" type="search" placeholder="Find a route, a code, a word" aria-label="Find" hidden>
  <button id="theme" type="button" hidden>Theme</button>
</header>
${contents(topics)}
<main id="main">
<p id="found" role="status" hidden></p>
${quickstartSection({ isDemo })}
${startSection(rest)}
${errorsSection(errors)}
${topics.map((topic) => topicSection(topic, isDemo)).join('\n')}
${socketSection(feed)}
${frameSection(feed)}
${schemasSection(rest)}
</main>
</body>
</html>
`
}

const contents = (topics: readonly Topic[]): string => `<nav aria-label="Contents">
  <details open>
    <summary>Contents</summary>
    <ul class="parts">
      <li><a href="#quickstart">A bot in five minutes</a></li>
      <li><a href="#start">Overview</a></li>
      <li><a href="#errors">Errors</a></li>
      <li><a href="#socket">WebSocket</a></li>
      <li><a href="#frame">Price frame</a></li>
      <li><a href="#schemas">Schemas</a></li>
    </ul>
    ${topics.map(contentsOfTopic).join('\n    ')}
  </details>
</nav>`

function contentsOfTopic({ name, routes }: Topic): string {
  const links = routes.map(
    ({ method, path }) =>
      `<li><a href="#${anchor(method, path)}">${badge(method)}<span>${text(path.replace(/^\/api/, ''))}</span></a></li>`,
  )
  return `<h2><a href="#${slug(name)}">${text(name)}</a></h2>
    <ul>${links.join('')}</ul>`
}

const startSection = ({ info }: RestDocument): string => `<section id="start">
  <h1>${text(info.title)} API</h1>
  ${prose(info.description)}
  <p>As documents: <a href="/api/openapi.json">OpenAPI 3.1</a> for REST, <a href="/api/asyncapi.json">AsyncAPI 3</a>
  for the WebSocket.</p>
  <p>Signing in sets two cookies, <code>game_access</code> and <code>game_refresh</code>. By default they last 15 minutes
  and 7 days; <code>POST /api/auth/refresh</code> renews both. Each route shows the cookie it needs.</p>
  <p>Requests are limited per address, orders included; some routes also have a limit of their own. A user may send 60
  orders of a kind in any minute. The <code>RateLimit</code> headers show what is left.</p>
</section>`

function schemasSection({ components }: RestDocument): string {
  const articles = Object.entries(components.schemas).map(
    ([name, schema]) =>
      `<article id="schema-${name}"><h2>${name}</h2>${fields(schema) || `<p>${typeOf(schema)}</p>`}</article>`,
  )
  return `<section id="schemas">
  <h1>Schemas</h1>
  ${articles.join('\n  ')}
</section>`
}

type Topic = RestDocument['tags'][number] & {
  readonly routes: readonly { readonly method: string; readonly path: string; readonly operation: Operation }[]
}

const topicSection = ({ name, description, routes }: Topic, isDemo: boolean): string => `<section id="${slug(name)}">
  <h1>${text(name)}</h1>
  ${prose(description)}
  ${routes.map(({ method, path, operation }) => route(method, path, operation, isDemo)).join('\n  ')}
</section>`

function route(method: string, path: string, operation: Operation, isDemo: boolean): string {
  const { summary, description = '', parameters = [], requestBody, responses } = operation
  const answers = Object.entries(responses).filter(([, { content }]) => !isErrors(content))
  const codes = Object.values(responses).flatMap(({ content }) =>
    Object.keys(content?.['application/json']?.examples ?? {}),
  )
  const links = codes.map((one) => `<a href="#error-${one}"><code>${one}</code></a>`)
  return `<article class="route" id="${anchor(method, path)}">
    <h2>${badge(method)}<a href="#${anchor(method, path)}"><code>${text(path)}</code></a>${access(operation)}</h2>
    <p class="summary">${inline(summary)}</p>
    ${prose(description)}
    ${parameters.length === 0 ? '' : parametersTable(parameters)}
    ${requestBody === undefined ? '' : `<h3>Body</h3>${shown(requestBody.content)}`}
    ${answers.map(([status, answer]) => answerOf(status, answer)).join('\n    ')}
    ${links.length === 0 ? '' : `<p class="codes"><span class="dim">Errors</span> ${links.join(' ')}</p>`}
    ${isDemo && canBeTried(operation) ? tryOut(method, path, operation) : ''}
  </article>`
}

/** Sends and answers JSON. Signing in with an identity provider needs its page. */
const canBeTried = ({ tags = [], requestBody, responses }: Operation): boolean =>
  !tags.includes('Sign-in') &&
  (requestBody === undefined || requestBody.content['application/json'] !== undefined) &&
  Object.entries(responses).some(([status, { content }]) => status.startsWith('2') && content?.['application/json'])

/** What the page's script makes a form of: the address with examples, and the body. */
function tryOut(method: string, path: string, { parameters = [], requestBody }: Operation): string {
  const exampleOf = (name: string): string =>
    encodeURIComponent(String(parameters.find((p) => p.name === name)?.example))
  const address = path.replaceAll(/\{(\w+)\}/g, (_, name: string) => exampleOf(name))
  const demanded = parameters.filter(({ in: where, required }) => where === 'query' && required === true)
  const query = demanded.map(({ name }) => `${name}=${exampleOf(name)}`).join('&')
  const takesKey = parameters.some(({ name }) => name === 'Idempotency-Key')
  const body = requestBody?.content['application/json']?.example
  return `<details class="try" hidden data-method="${method.toUpperCase()}" data-address="${text(
    query === '' ? address : `${address}?${query}`,
  )}"${takesKey ? ' data-takes-key' : ''}${
    body === undefined ? '' : ` data-body="${text(JSON.stringify(body, null, 2))}"`
  }><summary>Try it</summary></details>`
}

const parametersTable = (parameters: NonNullable<Operation['parameters']>): string =>
  `<h3>Parameters</h3>${table(
    ['name', 'in', 'type', 'meaning'],
    parameters.map(({ name, in: where, required = false, schema, example }) => [
      `<code>${text(name)}</code>${required ? '' : ' <span class="dim">optional</span>'}`,
      where,
      typeOf(schema),
      `${inline(schema.description ?? '')} <span class="dim">such as <code>${text(String(example))}</code></span>`,
    ]),
  )}`

const answerOf = (status: string, { description, content = {} }: Operation['responses'][string]): string =>
  `<h3>${status} <span class="dim">${inline(description)}</span></h3>${shown(content)}`

const isErrors = (content: Content = {}): boolean => content['application/json']?.examples !== undefined

/** Fields to the left, an example to the right. */
const shown = (content: Content): string =>
  Object.entries(content)
    .map(([type, { schema, example }]) => {
      const described = fields(schema) || `<p>${typeOf(schema)}</p>`
      const left = type === 'application/json' ? described : `<p><code>${text(type)}</code></p>`
      return `<div class="body"><div>${left}</div>${code(example)}</div>`
    })
    .join('')

function access({ security = [] }: Operation): string {
  const names = security.flatMap((way) => Object.keys(way))
  if (names.length === 0) return '<span class="pill open">open to all</span>'
  const isOptional = security.some((way) => Object.keys(way).length === 0)
  const cookie = names.includes('accessCookie') ? 'access cookie' : 'refresh cookie'
  const key = names.includes('personalKey') ? ' or key' : ''
  return `<span class="pill">${cookie}${key}${isOptional ? ', optional' : ''}</span>`
}

function errorsSection(errors: ErrorTable): string {
  const all = [...byStatus(Object.keys(errors), errors)]
  const rows = all.flatMap(([status, codes]) =>
    codes.flatMap((one) => {
      const kind = errors[one]
      if (kind === undefined) return []
      const { error, when, retry, facts = {} } = kind
      const names = Object.keys(facts).map((name) => `<code>${name}</code>`)
      const header = retry === true ? ' <span class="dim">With <code>Retry-After</code>.</span>' : ''
      const carried = names.length > 0 ? ` <span class="dim">Facts: ${names.join(', ')}.</span>` : ''
      const named = `<code>${one}</code>`
      return [[`<span id="error-${one}">${status}</span>`, named, text(error), `${inline(when)}${header}${carried}`]]
    }),
  )
  return `<section id="errors">
  <h1>Errors</h1>
  <p>Every error is <code>{ error, code, requestId, …facts }</code>. Act on <code>code</code>: its status and meaning
  never change. Quote <code>requestId</code> in a support request.</p>
  ${table(['status', 'code', 'error', 'when'], rows)}
</section>`
}

function socketSection({ info, channels, operations, components }: FeedDocument): string {
  const received = Object.values(operations).filter(({ action }) => action === 'receive')
  const fromClient = new Set(
    received.flatMap(({ messages }) => messages.map(({ $ref }) => $ref.slice($ref.lastIndexOf('/') + 1))),
  )
  const message = (name: string): string => {
    const { summary, payload, examples = [] } = components.messages[name] ?? { summary: '', payload: {} }
    const sender = fromClient.has(name)
      ? '<span class="method get">client</span>'
      : '<span class="method post">server</span>'
    return `<article class="route" id="message-${name}"><h2>${sender}<code>${name === 'listen' ? 'account' : name}</code></h2>
    <p class="summary">${inline(summary)}</p>
    <div class="body"><div>${fields(payload)}</div>${code(examples[0]?.payload)}</div></article>`
  }
  const names = Object.keys(components.messages).filter((name) => name !== 'price')
  const { feed } = channels
  return `<section id="socket">
  <h1>WebSocket</h1>
  ${prose(info.description)}
  ${Object.values(channels)
    .map(({ title, description }) => `<h2 class="part">${text(title)}</h2>${prose(description)}`)
    .join('\n  ')}
  <h2 class="part">Messages of the price feed</h2>
  ${names.map(message).join('\n  ')}
  <h2 class="part">Close codes</h2>
  ${table(
    ['code', 'meaning'],
    Object.entries(feed?.['x-close-codes'] ?? {}).map(([number, meaning]) => [number, inline(meaning)]),
  )}
  <h2 class="part">Limits</h2>
  ${table(
    ['limit', 'at most'],
    Object.entries(feed?.['x-limits'] ?? {}).map(([limit, most]) => [text(limit), text(most.toLocaleString('en-GB'))]),
  )}
</section>`
}

function frameSection({ components }: FeedDocument): string {
  const { summary = '', 'x-layout': layout = [], 'x-test-vectors': vectors = [] } = components.messages['price'] ?? {}
  return `<section id="frame">
  <h1>Price frame</h1>
  ${prose(summary)}
  ${table(
    ['byte', 'type', 'field', 'meaning'],
    layout.map(({ offset, type, name, meaning, values }) => [
      String(offset),
      `<code>${type}</code>`,
      `<code>${name}</code>`,
      inline(meaning) +
        (values === undefined ? '' : ` ${values.map((value, n) => `<code>${n}</code> ${text(value)}`).join(', ')}`),
    ]),
  )}
  <h2 class="part">Test vectors</h2>
  <p>Frames for testing a decoder. <a href="/api/asyncapi.json">The document</a> has the values that each decodes to.</p>
  ${vectors.map(({ name, hex }) => `<p>${text(name)}</p><pre class="hex" tabindex="0"><code>${hex}</code></pre>`).join('\n  ')}
</section>`
}
