/**
 * What a client may keep. By default nothing: answers are personal, and the edge says `no-store`. Answers that are the
 * same for many and change slowly have a validator, so that a repeated request costs a 304 without a body.
 */
import { createHash } from 'node:crypto'
import type { Context, MiddlewareHandler } from 'hono'
import type { HttpEnv } from './answers.ts'

/** Open to all, and constant until the next release or an operator acts: kept for a minute, then asked about. */
export const PUBLIC = 'public, max-age=60, must-revalidate'
/** Open to all, and must not be a minute old. */
const PUBLIC_NOW = 'public, no-cache'
/** Open to all, and renewed every five seconds. */
const PUBLIC_SOON = 'public, max-age=5'
/** The same for every user who is signed in: kept by their browser alone, and asked about each time. */
export const SHARED = 'private, no-cache'

/** `Cache-Control` of the routes that are not `no-store`, by path. Each has an ETag; files get theirs when sent. */
export const CACHED: Readonly<Record<string, string>> = {
  '/api/districts': PUBLIC,
  '/api/flags': PUBLIC_NOW,
  '/api/public/matches': PUBLIC_SOON,
  '/api/public/matches/:id': PUBLIC_SOON,
  '/api/districts/standings': SHARED,
  '/api/instruments': SHARED,
  '/api/instruments/movers': SHARED,
  '/api/instruments/:id/price-history': SHARED,
  '/api/instruments/:id/recent-trades': SHARED,
  '/api/matches/:id/events': SHARED,
  '/api/matches/:id/squad': SHARED,
}

/** What an answer says of the one who asked; a shared cache would say it to others. */
const OF_THE_ASKER = ['RateLimit', 'RateLimit-Policy'] as const

/** Whether a cache may answer others without asking. With `no-cache` it asks each time, and gets fresh fields. */
const isShared = (cacheControl: string): boolean => cacheControl.startsWith('public, max-age')

/** Lets caches keep an answer that is made piece by piece. */
export function keptFor(c: Pick<Context, 'header'>, cacheControl: string): void {
  c.header('Cache-Control', cacheControl)
  if (isShared(cacheControl)) for (const name of OF_THE_ASKER) c.header(name)
}

/** Gives an answer to GET or HEAD its `Cache-Control` and an ETag, and answers 304 to a client that has it already. */
export function validated(cacheControl: string): MiddlewareHandler<HttpEnv> {
  return async (c, next) => {
    await next()
    if (!['GET', 'HEAD'].includes(c.req.method) || c.res.status !== 200) return
    const { headers } = c.res
    const { made } = c.var
    const body = made?.body ?? new Uint8Array(await c.res.arrayBuffer())
    const etag = made?.etag ?? etagOf(body)
    headers.set('Cache-Control', cacheControl)
    if (isShared(cacheControl)) for (const name of OF_THE_ASKER) headers.delete(name)
    headers.set('ETag', etag)
    const isKnown = matches(c, etag)
    if (isKnown) headers.delete('Content-Type')
    c.res = undefined // or the framework would copy the old headers over the new ones
    c.res = isKnown ? new Response(null, { status: 304, headers }) : new Response(body, { status: 200, headers })
  }
}

/** A weak ETag, because one answer has several encodings. */
export const etagOf = (body: Uint8Array): string => `W/"${createHash('sha1').update(body).digest('base64url')}"`

/** Whether the client has the answer with this ETag, by its `If-None-Match`. */
export function matches(c: Pick<Context, 'req'>, etag: string): boolean {
  const held = c.req.header('if-none-match')
  if (held === undefined) return false
  const strong = (text: string): string => text.trim().replace(/^W\//, '')
  return held.trim() === '*' || held.split(',').some((each) => strong(each) === strong(etag))
}
