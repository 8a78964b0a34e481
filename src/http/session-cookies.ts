/** Sets or clears both session cookies of a browser. */
import type { Context } from 'hono'
import { ACCESS_COOKIE, clearCookie, type CookiePolicy, REFRESH_COOKIE, setCookie } from '../auth/cookies.ts'
import type { TokenPair } from '../auth/tokens.ts'

export interface NewSession {
  readonly tokens: TokenPair
  readonly cookies: CookiePolicy
}

export function setSession(c: Pick<Context, 'header'>, { tokens, cookies }: NewSession): void {
  const { accessSecs, refreshSecs } = tokens
  const access = setCookie({ name: ACCESS_COOKIE, value: tokens.access, maxAgeSecs: accessSecs }, cookies)
  const refresh = setCookie({ name: REFRESH_COOKIE, value: tokens.refresh, maxAgeSecs: refreshSecs }, cookies)
  for (const cookie of [access, refresh]) c.header('Set-Cookie', cookie, { append: true })
}

export function clearSession(c: Pick<Context, 'header'>, cookies: CookiePolicy): void {
  for (const name of [ACCESS_COOKIE, REFRESH_COOKIE] as const) {
    c.header('Set-Cookie', clearCookie(name, cookies), { append: true })
  }
}
