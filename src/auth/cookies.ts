/** The session cookies and their attributes (specification 5). */

export const ACCESS_COOKIE = 'game_access'
export const REFRESH_COOKIE = 'game_refresh'

export interface CookiePolicy {
  /** Cross-site pages carry the cookies in production (and only over TLS); in development one site does. */
  readonly production: boolean
  /** Null: only the host that set the cookie. */
  readonly domain: string | null
  /** A browser takes a name with `__Host-` from this very host alone, and over TLS. */
  readonly prefix: '' | '__Host-'
}

export interface SessionCookie {
  readonly name: typeof ACCESS_COOKIE | typeof REFRESH_COOKIE
  /** A token: never needs escaping. */
  readonly value: string
  readonly maxAgeSecs: number
}

/** The `Set-Cookie` header that deletes a session cookie. */
export const clearCookie = (name: SessionCookie['name'], policy: CookiePolicy): string =>
  setCookie({ name, value: '', maxAgeSecs: 0 }, policy)

/** The `Set-Cookie` header of a session cookie. */
export function setCookie(cookie: SessionCookie, policy: CookiePolicy): string {
  const domain = policy.domain === null ? [] : [`Domain=${policy.domain}`]
  const site = policy.production ? ['Secure', 'SameSite=None', 'Partitioned'] : ['SameSite=Lax']
  const parts = [
    `${policy.prefix}${cookie.name}=${cookie.value}`,
    'Path=/',
    `Max-Age=${cookie.maxAgeSecs}`,
    ...domain,
    'HttpOnly',
    ...site,
  ]
  return parts.join('; ')
}

/**
 * Reads a session cookie from a `Cookie` header; the first one if there are two. Ours need no decoding. Parsing every
 * cookie, as `hono/cookie` does, costs 10 µs per request: more than verifying the token.
 */
export function readCookie(
  header: string | undefined,
  cookie: SessionCookie['name'],
  { prefix }: Pick<CookiePolicy, 'prefix'>,
): string | undefined {
  if (header === undefined) return undefined
  const name = `${prefix}${cookie}`
  for (let from = 0; from < header.length;) {
    const semicolon = header.indexOf(';', from)
    const end = semicolon < 0 ? header.length : semicolon
    while (header[from] === ' ') from++
    if (header.startsWith(name, from) && header[from + name.length] === '=') {
      return header.slice(from + name.length + 1, end).trimEnd()
    }
    from = end + 1
  }
  return undefined
}
