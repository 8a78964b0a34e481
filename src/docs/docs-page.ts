/**
 * The descriptions of both addresses as a page to read: made here from the documents themselves, without a viewer from
 * elsewhere, so that it works offline, under the strictest content security policy, and says nothing that the documents do not.
 */
import { byStatus, ERROR_CODES, type ErrorCode, meaningOf } from '../http/error-codes.ts'
import type { Schema, Schemas } from './examples.ts'

interface Media {
  readonly schema: Schema
  readonly example?: unknown
  readonly examples?: Readonly<Record<string, unknown>>
}
type Content = Readonly<Record<string, Media>>

interface Operation {
  readonly tags?: readonly string[]
  readonly summary: string
  readonly description?: string
  readonly security?: readonly Readonly<Record<string, unknown>>[]
  readonly parameters?: readonly {
    readonly name: string
    readonly in: string
    readonly required?: boolean
    readonly schema: Schema
    readonly example?: unknown
  }[]
  readonly requestBody?: { readonly content: Content }
  readonly responses: Readonly<Record<string, { readonly description: string; readonly content?: Content }>>
}

/** As much of an OpenAPI document as is shown. */
export interface RestDocument {
  readonly info: { readonly title: string; readonly version: string; readonly description: string }
  readonly tags: readonly { readonly name: string; readonly description: string }[]
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>
  readonly components: { readonly schemas: Schemas }
}

/** As much of our AsyncAPI document as is shown. */
export interface FeedDocument {
  readonly info: { readonly description: string }
  readonly channels: Readonly<
    Record<
      string,
      {
        readonly title: string
        readonly description: string
        readonly 'x-close-codes'?: Readonly<Record<string, string>>
        readonly 'x-limits'?: Readonly<Record<string, string | number>>
      }
    >
  >
  readonly operations: Readonly<Record<string, { readonly messages: readonly { readonly $ref: string }[] }>>
  readonly components: {
    readonly messages: Readonly<
      Record<
        string,
        {
          readonly summary: string
          readonly payload: Schema
          readonly examples?: readonly { readonly payload: unknown }[]
          readonly 'x-layout'?: readonly FrameField[]
          readonly 'x-test-vectors'?: readonly { readonly name: string; readonly hex: string }[]
        }
      >
    >
  }
}
interface FrameField {
  readonly name: string
  readonly type: string
  readonly offset: number
  readonly meaning: string
  readonly values?: readonly string[]
}

export interface DocsOptions {
  readonly rest: RestDocument
  readonly feed: FeedDocument
  /** Where the style and the script of the page lie. */
  readonly base: string
}

export function docsPage({ rest, feed, base }: DocsOptions): string {
  const operations = Object.entries(rest.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ method, path, operation })),
  )
  const topics = rest.tags
    .map((tag) => ({ ...tag, routes: operations.filter(({ operation }) => operation.tags?.includes(tag.name)) }))
    .filter(({ routes }) => routes.length > 0)
  const schemas = Object.entries(rest.components.schemas)

  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="dark light">
<title>${text(rest.info.title)} API</title>
<link rel="icon" href="${base}/icon.svg" type="image/svg+xml">
<link rel="stylesheet" href="${base}/docs.css">
<script type="module" src="${base}/docs.ts"></script>
</head>
<body>
<a class="skip" href="#main">Skip to the text</a>
<header>
  <a class="brand" href="/">${text(rest.info.title)}</a>
  <span class="edition">API ${text(rest.info.version)}</span>
  <input id="find" type="search" placeholder="Find a route, a code, a word" aria-label="Find" hidden>
  <button id="theme" type="button" hidden>Theme</button>
</header>
<nav aria-label="Contents">
  <details open>
    <summary>Contents</summary>
    <ul class="parts">
      <li><a href="#start">Start here</a></li>
      <li><a href="#errors">Errors</a></li>
      <li><a href="#socket">WebSocket</a></li>
      <li><a href="#frame">Price frame</a></li>
      <li><a href="#schemas">Schemas</a></li>
    </ul>
    ${topics
      .map(
        ({ name, routes }) => `<h2><a href="#${slug(name)}">${text(name)}</a></h2>
    <ul>${routes.map(({ method, path }) => `<li><a href="#${anchor(method, path)}">${badge(method)}<span>${text(path.replace(/^\/api/, ''))}</span></a></li>`).join('')}</ul>`,
      )
      .join('\n    ')}
  </details>
</nav>
<main id="main">
<section id="start">
  <h1>${text(rest.info.title)} API</h1>
  ${prose(rest.info.description)}
  <p>As documents: <a href="/api/openapi.json">OpenAPI 3.1</a> for REST, <a href="/api/asyncapi.json">AsyncAPI 3</a> for the
  WebSocket. Signing in sets two cookies, <code>game_access</code> and <code>game_refresh</code> (for
  <code>POST /api/auth/refresh</code>); every route says which it takes. Unless operators have set it otherwise they last 15
  minutes and 7 days, and an address may ask 200 times a minute; what changes positions counts by user, sixty a minute of each
  kind, ten at once.</p>
</section>
${errorsSection()}
${topics.map((topic) => topicSection(topic)).join('\n')}
${socketSection(feed)}
${frameSection(feed)}
<section id="schemas">
  <h1>Schemas</h1>
  ${schemas.map(([name, schema]) => `<article id="schema-${name}"><h3>${name}</h3>${fields(schema) || `<p>${typeOf(schema)}</p>`}</article>`).join('\n  ')}
</section>
</main>
</body>
</html>
`
}

type Topic = RestDocument['tags'][number] & {
  readonly routes: readonly { readonly method: string; readonly path: string; readonly operation: Operation }[]
}

const topicSection = ({ name, description, routes }: Topic): string => `<section id="${slug(name)}">
  <h1>${text(name)}</h1>
  ${prose(description)}
  ${routes.map(({ method, path, operation }) => route(method, path, operation)).join('\n  ')}
</section>`

function route(method: string, path: string, operation: Operation): string {
  const { summary, description = '', parameters = [], requestBody, responses } = operation
  const good = Object.entries(responses).filter(([, { content }]) => !isErrors(content))
  const codes = Object.values(responses).flatMap(({ content }) =>
    Object.keys(content?.['application/json']?.examples ?? {}),
  )
  return `<article class="route" id="${anchor(method, path)}">
    <h2>${badge(method)}<a href="#${anchor(method, path)}"><code>${text(path)}</code></a>${access(operation)}</h2>
    <p class="summary">${inline(summary)}</p>
    ${prose(description)}
    ${
      parameters.length === 0
        ? ''
        : `<h4>Parameters</h4>${table(
            ['name', 'in', 'type', 'meaning'],
            parameters.map(({ name, in: where, required = false, schema, example }) => [
              `<code>${text(name)}</code>${required ? '' : ' <span class="dim">optional</span>'}`,
              where,
              typeOf(schema),
              `${inline(schema.description ?? '')} <span class="dim">such as <code>${text(String(example))}</code></span>`,
            ]),
          )}`
    }
    ${requestBody === undefined ? '' : `<h4>Body</h4>${shown(requestBody.content)}`}
    ${good.map(([status, { description: about, content = {} }]) => `<h4>${status} <span class="dim">${inline(about)}</span></h4>${shown(content)}`).join('\n    ')}
    ${codes.length === 0 ? '' : `<p class="codes"><span class="dim">Errors</span> ${codes.map((one) => `<a href="#error-${one}"><code>${one}</code></a>`).join(' ')}</p>`}
  </article>`
}

const isErrors = (content: Content = {}): boolean => content['application/json']?.examples !== undefined

/** Fields to the left, an example to the right. */
const shown = (content: Content): string =>
  Object.entries(content)
    .map(
      ([type, { schema, example }]) =>
        `<div class="body"><div>${type === 'application/json' ? fields(schema) || `<p>${typeOf(schema)}</p>` : `<p><code>${text(type)}</code></p>`}</div>${code(example)}</div>`,
    )
    .join('')

function access({ security = [] }: Operation): string {
  const names = security.flatMap((way) => Object.keys(way))
  if (names.length === 0) return '<span class="pill open">open to all</span>'
  const isOptional = security.some((way) => Object.keys(way).length === 0)
  const cookie = names.includes('accessCookie') ? 'access cookie' : 'refresh cookie'
  return `<span class="pill">${cookie}${isOptional ? ', optional' : ''}</span>`
}

function errorsSection(): string {
  const all = [...byStatus(Object.keys(ERROR_CODES) as ErrorCode[])]
  const rows = all.flatMap(([status, codes]) =>
    codes.map((one) => {
      const { error, when, facts, retry } = meaningOf(one)
      const named = Object.keys(facts ?? {}).map((name) => `<code>${name}</code>`)
      return [
        `<span id="error-${one}">${status}</span>`,
        `<code>${one}</code>`,
        text(error),
        `${inline(when)}${retry === true ? ' <span class="dim">With <code>Retry-After</code>.</span>' : ''}${named.length > 0 ? ` <span class="dim">Facts: ${named.join(', ')}.</span>` : ''}`,
      ]
    }),
  )
  return `<section id="errors">
  <h1>Errors</h1>
  <p>Every error is <code>{ error, code, requestId, …facts }</code>. Act on <code>code</code>: it keeps its status and its
  meaning. Quote <code>requestId</code> when you ask us.</p>
  ${table(['status', 'code', 'error', 'when'], rows)}
</section>`
}

function socketSection({ info, channels, operations, components }: FeedDocument): string {
  const heard = new Set(
    Object.entries(operations)
      .filter(([name]) => name !== 'tell')
      .flatMap(([, { messages }]) => messages.map(({ $ref }) => $ref.slice($ref.lastIndexOf('/') + 1))),
  )
  const message = (name: string): string => {
    const { summary, payload, examples = [] } = components.messages[name] ?? { summary: '', payload: {} }
    return `<article class="route" id="message-${name}"><h2>${heard.has(name) ? '<span class="method get">you</span>' : '<span class="method post">server</span>'}<code>${name === 'listen' ? 'account' : name}</code></h2>
    <p class="summary">${inline(summary)}</p>
    <div class="body"><div>${fields(payload)}</div>${code(examples[0]?.payload)}</div></article>`
  }
  const names = Object.keys(components.messages).filter((name) => name !== 'price')
  const { feed } = channels
  return `<section id="socket">
  <h1>WebSocket</h1>
  ${prose(info.description)}
  ${Object.values(channels)
    .map(({ title, description }) => `<h3>${text(title)}</h3>${prose(description)}`)
    .join('\n  ')}
  <h3>Messages of the price feed</h3>
  ${names.map(message).join('\n  ')}
  <h3>Close codes</h3>
  ${table(
    ['code', 'meaning'],
    Object.entries(feed?.['x-close-codes'] ?? {}).map(([number, meaning]) => [number, inline(meaning)]),
  )}
  <h3>Limits</h3>
  ${table(
    ['what', 'at most'],
    Object.entries(feed?.['x-limits'] ?? {}).map(([what, most]) => [text(what), text(most.toLocaleString('en-GB'))]),
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
  <h3>Test vectors</h3>
  <p>A decoder of yours should make of these what <a href="/api/asyncapi.json">the document</a> says of them.</p>
  ${vectors.map(({ name, hex }) => `<p>${text(name)}</p><pre class="hex"><code>${hex}</code></pre>`).join('\n  ')}
</section>`
}

/** The fields of an object as a list, those of objects in it below them. Empty for what has no fields. */
function fields(schema: Schema): string {
  const parts = [schema, ...(schema.allOf ?? [])]
  const variants = schema.oneOf ?? schema.anyOf
  if (variants !== undefined) {
    const told = variants.map((one) => fields(one)).filter((one) => one !== '')
    return told.join('<p class="dim">or</p>')
  }
  const links = parts.flatMap(({ $ref }) => ($ref === undefined ? [] : [`<p>${reference($ref)}</p>`]))
  const own = parts.flatMap(({ properties, required = [] }) =>
    Object.entries(properties ?? {}).map(([name, of]) => field(name, of, required.includes(name))),
  )
  const inner = schema.items === undefined ? '' : fields(schema.items)
  return links.join('') + (own.length === 0 ? inner : `<dl>${own.join('')}</dl>`)
}

function field(name: string, schema: Schema, isRequired: boolean): string {
  const inner = schema.properties === undefined && schema.items?.properties === undefined ? '' : fields(schema)
  const optional = isRequired ? '' : ' <span class="dim">optional</span>'
  return `<dt><code>${text(name)}</code> ${typeOf(schema)}${optional}</dt><dd>${inline(schema.description ?? '')}${inner}</dd>`
}

function typeOf(schema: Schema): string {
  const { $ref, type, format, enum: choices, const: only, items, allOf, oneOf, anyOf } = schema
  if ($ref !== undefined) return reference($ref)
  if (only !== undefined) return `<code>${text(JSON.stringify(only))}</code>`
  if (choices !== undefined) return choices.map((one) => `<code>${text(JSON.stringify(one))}</code>`).join(' ')
  const linked = allOf?.find((part) => part.$ref !== undefined)
  if (linked !== undefined) return typeOf(linked)
  const variants = oneOf ?? anyOf
  if (variants !== undefined) return [...new Set(variants.map(typeOf))].join(' or ')
  const types = typeof type === 'string' ? [type] : (type ?? ['anything'])
  const of = items === undefined ? '' : ` of ${items.properties === undefined ? typeOf(items) : 'objects'}`
  return `<span class="type">${types.join(' or ')}${format === undefined ? '' : ` (${format})`}</span>${of}`
}

const reference = ($ref: string): string => {
  const name = $ref.slice($ref.lastIndexOf('/') + 1)
  return `<a class="type" href="#schema-${name}">${text(name)}</a>`
}

const table = (heads: readonly string[], rows: readonly (readonly string[])[]): string =>
  `<div class="table"><table><thead><tr>${heads.map((head) => `<th>${head}</th>`).join('')}</tr></thead><tbody>${rows
    .map((row) => `<tr>${row.map((cell) => `<td>${cell}</td>`).join('')}</tr>`)
    .join('')}</tbody></table></div>`

function code(example: unknown): string {
  if (example === undefined) return ''
  if (typeof example === 'string') return `<pre><code>${text(example)}</code></pre>`
  const json = text(JSON.stringify(example, null, 2))
  const coloured = json.replaceAll(
    /(&quot;(?:[^&]|&(?!quot;))*&quot;)(\s*:)?|\b(true|false|null|-?\d[\d.e+-]*)\b/g,
    (whole, string?: string, colon?: string) => {
      if (string === undefined) return `<i>${whole}</i>`
      return colon === undefined ? `<b>${string}</b>` : `${string}${colon}`
    },
  )
  return `<pre><code>${coloured}</code></pre>`
}

const prose = (written: string): string =>
  written
    .split('\n\n')
    .filter((paragraph) => paragraph !== '')
    .map((paragraph) => `<p>${inline(paragraph)}</p>`)
    .join('')

const inline = (written: string): string => text(written).replaceAll(/`([^`]+)`/g, '<code>$1</code>')

const badge = (method: string): string => `<span class="method ${method}">${method}</span>`
const anchor = (method: string, path: string): string => slug(`${method} ${path.replace('/api/', '')}`)
const slug = (name: string): string =>
  name
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-')
    .replaceAll(/^-|-$/g, '')

const text = (raw: string): string =>
  raw.replaceAll('&', '&amp;').replaceAll('"', '&quot;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
