/** The first middleware of every request: request id, log line, security headers, origins, and the limit on bodies. */
import type { MiddlewareHandler } from 'hono'
import { bodyLimit } from 'hono/body-limit'
import { HTTPException } from 'hono/http-exception'
import type { World } from '../../actors/kernel/world.ts'
import type { Log } from '../observe/log.ts'
import type { Tracing } from '../observe/tracing.ts'
import { matchedRoutes } from 'hono/route'
import { answerWith, fail, type HttpEnv } from './answers.ts'
import { addressOf, addressPrefix } from './client-address.ts'
import { API_VERSION } from './versions.ts'

const BODY_BYTES_MAX = 64 * 1_024
const PREFLIGHT_SECS = '600'
/** Polled all the time, so not traced. */
const PROBES: ReadonlySet<string> = new Set(['/health', '/ready', '/metrics'])
const SAFE_METHODS: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS'])
const EXPOSED_HEADERS =
  'Deprecation, ETag, Idempotent-Replayed, RateLimit, RateLimit-Policy, Retry-After, Sunset, X-Api-Version, X-Request-Id'

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
 * in production, so an unsafe method with an origin that is neither allowed nor the server's own is refused. Written by
 * hand, because it costs 10 µs a request instead of the 88 µs of `hono/cors`.
 */
export function crossOrigin(allowedOrigins: readonly string[]): MiddlewareHandler<HttpEnv> {
  const allowed: ReadonlySet<string> = new Set(allowedOrigins)
  return async (c, next) => {
    if (allowed.size > 0) c.header('Vary', 'Origin')
    const origin = c.req.header('origin')
    if (origin === undefined) {
      // Browsers say so even where they leave the origin out; programs say nothing.
      const isForeign = c.req.header('sec-fetch-site') === 'cross-site' && !SAFE_METHODS.has(c.req.method)
      return isForeign ? fail(c, ORIGIN_REFUSED) : next()
    }

    const isAllowed = allowed.has(origin)
    if (isAllowed) {
      c.header('Access-Control-Allow-Origin', origin)
      c.header('Access-Control-Allow-Credentials', 'true')
      c.header('Access-Control-Expose-Headers', EXPOSED_HEADERS)
    }
    if (c.req.method === 'OPTIONS' && c.req.header('access-control-request-method') !== undefined) {
      if (!isAllowed) return fail(c, ORIGIN_REFUSED)
      c.header('Access-Control-Allow-Methods', 'GET, POST, PUT, PATCH, DELETE')
      c.header('Access-Control-Allow-Headers', 'Content-Type, Idempotency-Key')
      c.header('Access-Control-Max-Age', PREFLIGHT_SECS)
      return c.body(null, 204)
    }
    const mayChange = isAllowed || isOwnOrigin(origin, c.req.header('host'))
    return SAFE_METHODS.has(c.req.method) || mayChange ? next() : fail(c, ORIGIN_REFUSED)
  }
}

/** True if the page came from the host it calls. The scheme is not compared, because a proxy may have ended TLS. */
function isOwnOrigin(origin: string, host: string | undefined): boolean {
  return host !== undefined && URL.canParse(origin) && new URL(origin).host === host.toLowerCase()
}

/** Refuses bodies over 64 KiB, by `Content-Length`, or by counting without that header. Uploads may have 8 MiB. */
export function limitBody(larger: Readonly<Record<string, number>> = {}): MiddlewareHandler<HttpEnv> {
  const limitOf = (maxSize: number) => ({ maxSize, counted: bodyLimit({ maxSize }) })
  const limits = new Map(Object.entries(larger).map(([path, bytes]) => [path, limitOf(bytes)]))
  const usual = limitOf(BODY_BYTES_MAX)
  return async (c, next) => {
    if (SAFE_METHODS.has(c.req.method)) return next()
    const { maxSize, counted } = limits.get(c.req.path) ?? usual
    const length = c.req.header('content-length')
    if (length === undefined) return counted(c, next)
    if (Number(length) > maxSize) throw new HTTPException(413)
    return next()
  }
}

/** Clients that ask again as soon as they are refused (429) then cost little: each connection waits for its answer. */
export function delayRefusals(delay: () => Promise<void>): MiddlewareHandler<HttpEnv> {
  return async (c, next) => {
    await next()
    if (c.res.status === 429) await delay()
  }
}
