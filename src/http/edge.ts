/** The first middleware of every request: request id, log line, security headers, origins, and the limit on bodies. */
import type { Context, MiddlewareHandler } from 'hono'
import { HTTPException } from 'hono/http-exception'
import type { World } from '../../actors/kernel/world.ts'
import type { Log } from '../observe/log.ts'
import type { Tracing } from '../observe/tracing.ts'
import { matchedRoutes } from 'hono/route'
import { answerWith, fail, type HttpEnv } from './answers.ts'
import { addressOf, addressPrefix } from './client-address.ts'
import { API_VERSION } from './versions.ts'

/** Of a body, where its path accepts no larger ones. */
export const BODY_BYTES_MAX = 64 * 1_024
const PREFLIGHT_SECS = '600'
/** Polled all the time, so not traced. */
const PROBES: ReadonlySet<string> = new Set(['/health', '/ready', '/metrics'])
const SAFE_METHODS: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS'])
const EXPOSED_HEADERS =
  'Content-Disposition, Deprecation, ETag, Idempotent-Replayed, Link, RateLimit, RateLimit-Policy, Retry-After, Sunset, ' +
  'X-Api-Version, X-Request-Id'

/** An answer is data: browsers must not cache it, frame it, sniff its type, or load anything for it. */
const SAFE_HEADERS: readonly (readonly [name: string, value: string])[] = [
  ['Cache-Control', 'no-store'],
  ['Content-Security-Policy', "default-src 'none'; frame-ancestors 'none'"],
  ['Cross-Origin-Resource-Policy', 'same-origin'],
  ['Referrer-Policy', 'no-referrer'],
  ['X-Content-Type-Options', 'nosniff'],
  ['X-Frame-Options', 'DENY'],
]
/** A browser that has connected over TLS uses only TLS for a year. */
const TLS_ONLY = ['Strict-Transport-Security', 'max-age=31536000; includeSubDomains'] as const

/** An answered request, for metrics. */
export interface RequestFacts {
  readonly method: string
  /** The pattern of the route that answered; `none` if no route matched. */
  readonly route: string
  readonly status: number
  readonly ms: number
  /** The network of the client's address. */
  readonly from: string
}
export type ObserveRequest = (facts: RequestFacts) => void

export interface RequestLineOptions {
  readonly world: Pick<World, 'steady' | 'newId'>
  readonly log: Log
  /** Called for every answered request. */
  readonly observe: ObserveRequest
  /** Null if tracing is off. */
  readonly tracing: Tracing | null
  readonly production: boolean
  readonly trustedProxies: number
}

/** Gives the request an id and its answer the security headers; logs, measures and traces it when it is answered. */
export function requestLine({
  world,
  log,
  observe,
  tracing,
  production,
  trustedProxies,
}: RequestLineOptions): MiddlewareHandler<HttpEnv> {
  const headers = production ? [...SAFE_HEADERS, TLS_ONLY] : SAFE_HEADERS
  return async (c, next) => {
    const startedAt = world.steady.now()
    const requestId = world.newId()
    const ofRequest = log.with({ requestId })
    c.set('requestId', requestId)
    c.set('log', ofRequest)
    // Headers set before the handler stay on node-server's fast path; touching c.res later would leave it.
    c.header('X-Request-Id', requestId)
    c.header('X-Api-Version', API_VERSION)
    for (const [name, value] of headers) c.header(name, value)
    const { method, path } = c.req
    const parent = c.req.header('traceparent')
    const span = tracing === null || PROBES.has(path) ? null : tracing.begin(method, { kind: 'server', parent })
    if (span !== null) c.set('trace', span.traceparent)
    await next()
    const { status } = c.res
    const ms = world.steady.now() - startedAt
    // A middleware for all paths may come after the route that answered.
    const route = matchedRoutes(c).findLast((matched) => !matched.path.endsWith('*'))?.path ?? 'none'
    const { userId, keyId } = c.var.caller ?? {}
    const from = addressPrefix(addressOf(c, trustedProxies)) // never the whole address
    ofRequest.info('request_completed', {
      method,
      path,
      route,
      status,
      ms,
      from,
      ...(userId === undefined ? {} : { userId }),
      ...(keyId === undefined ? {} : { keyId }),
    })
    observe({ method, route, status, ms, from })
    span?.end({
      name: `${method} ${route}`,
      hasFailed: status >= 500,
      attributes: {
        'http.request.method': method,
        'http.route': route,
        'http.response.status_code': status,
        'url.path': path,
        'touchline.request_id': requestId,
      },
    })
  }
}

const ORIGIN_REFUSED = answerWith('ORIGIN_NOT_ALLOWED')

/**
 * Cross-origin rules (specification 4.6). Allowed origins are echoed, with credentials. The cookies are `SameSite=None`
 * in production, so an unsafe method with an origin that is neither allowed nor the server's own is refused, once
 * `count` has counted it. Written by hand, because it costs 10 µs a request instead of the 88 µs of `hono/cors`.
 */
export function crossOrigin(
  allowedOrigins: readonly string[],
  count: MiddlewareHandler<HttpEnv>,
): MiddlewareHandler<HttpEnv> {
  const allowed: ReadonlySet<string> = new Set(allowedOrigins)
  const refuse = (c: Context<HttpEnv>) => count(c, async () => void (c.res = fail(c, ORIGIN_REFUSED)))
  return async (c, next) => {
    if (allowed.size > 0) c.header('Vary', 'Origin')
    const origin = c.req.header('origin')
    if (origin === undefined) {
      // Browsers say so even where they leave the origin out; programs say nothing.
      const isForeign = c.req.header('sec-fetch-site') === 'cross-site' && !SAFE_METHODS.has(c.req.method)
      return isForeign ? refuse(c) : next()
    }

    const isAllowed = allowed.has(origin)
    if (isAllowed) {
      c.header('Access-Control-Allow-Origin', origin)
      c.header('Access-Control-Allow-Credentials', 'true')
      c.header('Access-Control-Expose-Headers', EXPOSED_HEADERS)
    }
    if (c.req.method === 'OPTIONS' && c.req.header('access-control-request-method') !== undefined) {
      if (!isAllowed) return refuse(c)
      c.header('Access-Control-Allow-Methods', 'GET, POST, PUT, PATCH, DELETE')
      c.header('Access-Control-Allow-Headers', 'Authorization, Content-Type, Idempotency-Key, If-None-Match')
      c.header('Access-Control-Max-Age', PREFLIGHT_SECS)
      return c.body(null, 204)
    }
    const mayChange = isAllowed || isOwnOrigin(origin, c.req.header('host'))
    return SAFE_METHODS.has(c.req.method) || mayChange ? next() : refuse(c)
  }
}

/** True if the page came from the host it calls. The scheme is not compared, because a proxy may have ended TLS. */
function isOwnOrigin(origin: string, host: string | undefined): boolean {
  return host !== undefined && URL.canParse(origin) && new URL(origin).host === host.toLowerCase()
}

/**
 * Refuses bodies over 64 KiB by `Content-Length`, or without that header as they are read, which is the route's to do.
 * A path that accepts larger ones demands the header, so that nothing of such a body arrives before its sender is
 * known.
 */
export function limitBody(larger: Readonly<Record<string, number>> = {}): MiddlewareHandler<HttpEnv> {
  const largest = new Map(Object.entries(larger))
  return async (c, next) => {
    if (SAFE_METHODS.has(c.req.method)) return next()
    const most = largest.get(c.req.path)
    const length = c.req.header('content-length')
    if (length !== undefined) return Number(length) > (most ?? BODY_BYTES_MAX) ? fail(c, TOO_LARGE) : next()
    // A request of HTTP/1.1 with neither header has no body. One that came through no socket has no such headers.
    const hasBody = c.env?.incoming === undefined || c.req.header('transfer-encoding') !== undefined
    const body = hasBody ? c.req.raw.body : null
    if (body === null) return next()
    if (most !== undefined) return fail(c, LENGTH_REQUIRED)
    let isTooLarge = false
    const counted = countedBody(body, () => (isTooLarge = true))
    const streamed = { body: counted, duplex: 'half' } as const // the browser's types do not know it
    c.req.raw = new Request(c.req.raw, streamed)
    await next()
    if (isTooLarge) {
      c.res = undefined // or the framework would keep fields of what the route made of a part
      void c.res // An empty answer: fields can be set on it.
      c.res = fail(c, TOO_LARGE)
    }
  }
}

const TOO_LARGE = answerWith('PAYLOAD_TOO_LARGE')
const LENGTH_REQUIRED = answerWith('LENGTH_REQUIRED')

/** The same body, read when it is read, which ends with an error after 64 KiB. */
function countedBody(body: ReadableStream<Uint8Array>, onTooLarge: () => void): ReadableStream<Uint8Array> {
  const reader = body.getReader()
  let bytes = 0
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        const { done, value } = await reader.read()
        if (done) return controller.close()
        bytes += value.length
        if (bytes <= BODY_BYTES_MAX) return controller.enqueue(value)
        onTooLarge()
        controller.error(new HTTPException(413))
        await reader.cancel()
      },
      cancel: (reason) => reader.cancel(reason),
    },
    { highWaterMark: 0 },
  )
}

/** Clients that ask again as soon as they are refused (429) then cost little: each connection waits for its answer. */
export function delayRefusals(delay: () => Promise<void>): MiddlewareHandler<HttpEnv> {
  return async (c, next) => {
    await next()
    if (c.res.status === 429) await delay()
  }
}
