/** The version of the API, and the routes that are kept for clients of before and announced to go. */
import type { MiddlewareHandler } from 'hono'
import type { HttpEnv } from './answers.ts'

/** The version of the API, which every answer names. */
export const API_VERSION = '1'

/** 1 November 2026, in seconds since 1970, as RFC 9745 wants it. */
const SINCE = 1_793_491_200

/** The board that counts the former share model. */
export const DEPRECATED: readonly string[] = ['/api/leaderboard/friends']

/** Says in every answer that the route is deprecated, and where to read more (RFC 9745). */
export const announced: MiddlewareHandler<HttpEnv> = async (c, next) => {
  c.header('Deprecation', `@${SINCE}`)
  c.header('Link', '</api/docs>; rel="deprecation"; type="text/html"')
  await next()
}
