/** Authentication middleware: turns the access cookie or a personal key into a caller and decides who may pass. */
import type { OpenAPIHono } from '@hono/zod-openapi'
import type { Context, MiddlewareHandler } from 'hono'
import { every } from 'hono/combine'
import { routePath } from 'hono/route'
import type { SessionId, UserId } from '../../actors/kernel/ids.ts'
import { FRESH_MS } from '../../actors/kernel/limits.ts'
import { SECOND_MS } from '../../actors/kernel/world.ts'
import type { Flags } from '../../actors/kernel/settings.ts'
import type { AuditLog } from '../../db/audit-log.ts'
import { ACCESS_COOKIE, type CookiePolicy, readCookie } from '../auth/cookies.ts'
import type { KeyClaims, PersonalKeys } from '../auth/personal-keys.ts'
import { allows, type Scope, SCOPES } from '../auth/scopes.ts'
import type { Sessions } from '../auth/sessions.ts'
import { answerWith, fail, type HttpEnv, UNAUTHORIZED } from './answers.ts'
import { BODY_BYTES_MAX } from './edge.ts'
import type { ErrorForm } from './error-facts.ts'
import { JSON_TYPE } from './inputs.ts'
import type { CallerDeps } from './ports.ts'
import type { Order, RateLimits } from './rate-limits.ts'
import { sharedAnswers } from './shared-answers.ts'

export interface Caller {
  readonly userId: UserId
  readonly role: string
  /** The session, or the key, which is one too. */
  readonly sid: SessionId
  /** Of a program. */
  readonly keyId?: SessionId
}

type Security = Record<string, string[]>[]

const ADMIN = 'admin'

/** A client asks again after a minute whether the game has opened. */
const COMING_SOON = answerWith('COMING_SOON', { retryAfterSecs: 60 })
const FORBIDDEN = answerWith('FORBIDDEN')
export const SIGN_IN_AGAIN = answerWith('SIGN_IN_AGAIN', { facts: { maxAgeSecs: FRESH_MS / SECOND_MS } })

/** Behind a gate the caller is known. A handler that reads it without a gate does not compile. */
export interface SignedInEnv {
  Bindings: HttpEnv['Bindings']
  Variables: HttpEnv['Variables'] & { caller: Caller }
}
/** The caller is null without a valid access cookie. */
export interface OptionalEnv {
  Bindings: HttpEnv['Bindings']
  Variables: HttpEnv['Variables'] & { caller: Caller | null }
}

const BY_COOKIE = { accessCookie: [] }
const byKey = (scope: Scope) => ({ personalKey: [scope] })

/** `security` of a route that needs no credentials. */
export const PUBLIC_SECURITY: Security = []
/** … that needs the access cookie and accepts no key: it manages keys, sessions or accounts. */
export const BROWSER_SECURITY: Security = [BY_COOKIE]
/** … that needs the access cookie, or a key with the scope `read`. */
export const READ_SECURITY: Security = [BY_COOKIE, byKey('read')]
/** … or a key with the scope `trade`: it changes what the caller has in the game. */
export const TRADE_SECURITY: Security = [BY_COOKIE, byKey('trade')]
/** … of an admin, or their key with the scope `admin:read`. */
export const ADMIN_READ_SECURITY: Security = [BY_COOKIE, byKey('admin:read')]
/** … of an admin, or their key with the scope `admin:write`. */
export const ADMIN_WRITE_SECURITY: Security = [BY_COOKIE, byKey('admin:write')]
/** … that needs the refresh cookie. */
export const REFRESH_SECURITY: Security = [{ refreshCookie: [] }]
/** … that says more to a caller with the access cookie, or a key with the scope `read`. */
export const OPTIONAL_SECURITY: Security = [{}, BY_COOKIE, byKey('read')]
/** … that takes what cookies there are. */
export const ANY_COOKIE_SECURITY: Security = [{}, BY_COOKIE, { refreshCookie: [] }]

/**
 * Reads the key that a request brings in `Authorization: Bearer`, for the limits and the gates. A key that is sent
 * is the caller: the cookies do not count beside it. Other schemes, as of a proxy with a password, are ignored.
 */
export function readKey({ keys, limits }: Pick<GatesOptions, 'keys' | 'limits'>): MiddlewareHandler<HttpEnv> {
  return async (c, next) => {
    const [, secret] = BEARER.exec(c.req.header('authorization') ?? '') ?? []
    if (secret !== undefined) {
      const excess = keys.needsLookup(secret) ? await limits.countLookup(c) : null
      if (excess !== null) return fail(c, excess)
      c.set('key', await keys.verify(secret))
    }
    return next()
  }
}
const BEARER = /^Bearer\b *(.*)$/i

/** A function from a request to the scope that its route declares; null if it accepts no key. */
export function declaredScopes(registry: OpenAPIHono['openAPIRegistry']): (c: Context) => Scope | null {
  // Read at the first request with a key: all routes are mounted by then.
  let scopes: ReadonlyMap<string, Scope> | null = null
  const read = (): ReadonlyMap<string, Scope> =>
    new Map(
      registry.definitions.flatMap((definition) => {
        if (definition.type !== 'route') return []
        const { method, path, security = [] } = definition.route
        const scope = SCOPES.find((each) => security.some((way) => way['personalKey']?.includes(each)))
        return scope === undefined ? [] : [[`${method.toUpperCase()} ${path.replaceAll(/\{(\w+)\}/g, ':$1')}`, scope]]
      }),
    )
  return (c) => {
    scopes ??= read()
    const method = c.req.method === 'HEAD' ? 'GET' : c.req.method
    return scopes.get(`${method} ${routePath(c)}`) ?? null
  }
}

export interface Gates {
  /**
   * 401 without a valid access cookie or key, 403 if the key lacks the scope that the route declares, 503 for all but
   * admins while the flag `coming_soon` is set.
   */
  readonly signedIn: MiddlewareHandler<SignedInEnv>
  /** Like `signedIn`, before a handler whose answer is the same for all: those who ask together share one. */
  readonly signedInTogether: MiddlewareHandler<SignedInEnv>
  /** Like `signedIn`, and 403 unless both the token and the database say that the caller is an admin. */
  readonly admin: MiddlewareHandler<SignedInEnv>
  /** Like `admin`, and 403 unless the caller's sign-in is fresh: for what cannot be undone, or makes more admins. */
  readonly freshAdmin: MiddlewareHandler<SignedInEnv>
  /**
   * Behind `admin` or `freshAdmin`: what the handler of a write refuses leaves an audit entry. Its subject is of the
   * path, after the prefix that those of its kind have in the log.
   */
  readonly audited: (action: string, prefix?: string) => MiddlewareHandler<SignedInEnv>
  /** Whether the caller is still an admin with a valid session or key: asked while an answer takes minutes. */
  readonly isStillAdmin: (caller: Caller) => Promise<boolean>
  /** Whether the caller has signed in less than 15 minutes ago. A key, which took that to be made, counts. */
  readonly isFresh: (caller: Caller) => Promise<boolean>
  /** Passes every request. */
  readonly optional: MiddlewareHandler<OptionalEnv>
  /**
   * Like `signedIn`, and 429 above the user's limit for the order. An order by a key marks its user as a bot before it
   * is sent on.
   */
  readonly ordering: (order: Order) => MiddlewareHandler<SignedInEnv>
  /** 429 above the limit that a route has per address, in addition to the limit over all routes. */
  readonly limited: RateLimits['perRoute']
}

export interface GatesOptions {
  readonly sessions: Pick<Sessions, 'verifyAccess' | 'isFresh' | 'livingAmong'>
  readonly keys: Pick<PersonalKeys, 'needsLookup' | 'verify' | 'markBot'>
  readonly cookies: CookiePolicy
  readonly scopeOf: (c: Context) => Scope | null
  readonly accounts: Pick<CallerDeps['accounts'], 'find'>
  readonly audit: Pick<AuditLog, 'record'>
  readonly flags: () => Flags
  readonly limits: RateLimits
  /** What a request passes behind a gate. */
  readonly known: MiddlewareHandler<SignedInEnv>
}

/** The part of a request that says who sends it. */
interface Asking {
  readonly req: { header(name: string): string | undefined }
  readonly var: Pick<HttpEnv['Variables'], 'key'>
}

export function createGates(options: GatesOptions): Gates {
  const { sessions, keys, cookies, scopeOf, accounts, audit, flags, limits, known } = options
  const callerFrom = async (c: Asking): Promise<Caller | null> => {
    const { key } = c.var
    if (key !== undefined) {
      return key === null ? null : { userId: key.userId, role: key.role, sid: key.sid, keyId: key.sid }
    }
    const token = readCookie(c.req.header('cookie'), ACCESS_COOKIE, cookies)
    const claims = token === undefined ? null : await sessions.verifyAccess(token)
    return claims === null ? null : { userId: claims.userId, role: claims.role, sid: claims.sid }
  }
  /** Why a caller may not pass; null if they may. */
  const refusal = (caller: Caller, key: KeyClaims | null | undefined, c: Context) => {
    if (key) {
      const required = scopeOf(c)
      if (required === null || !allows(key.scopes, required)) {
        return answerWith('SCOPE_MISSING', { facts: { required } })
      }
    }
    return flags().coming_soon && caller.role !== ADMIN ? COMING_SOON : null
  }

  const isFresh = async ({ keyId, sid }: Caller): Promise<boolean> =>
    keyId !== undefined || (await sessions.isFresh(sid))
  const isStillAdmin = async ({ userId, sid }: Caller): Promise<boolean> => {
    const [living, user] = await Promise.all([sessions.livingAmong([sid]), accounts.find(userId)])
    return living.has(sid) && user?.role === ADMIN
  }
  const adminRefusal = async (c: Context<SignedInEnv>) => {
    const caller = await callerFrom(c)
    if (caller === null) return UNAUTHORIZED
    c.set('caller', caller)
    const refused = refusal(caller, c.var.key, c)
    if (refused !== null) return refused
    // The token may be 15 minutes old: a demoted admin could restore their own role.
    const isAdmin = caller.role === ADMIN && (await accounts.find(caller.userId))?.role === ADMIN
    if (!isAdmin) return FORBIDDEN
    // A route that accepts larger bodies has few places for them, and asks itself.
    const isLarge = Number(c.req.header('content-length')) > BODY_BYTES_MAX
    if (isLarge || !JSON_TYPE.test(c.req.header('content-type') ?? '')) return null
    // A body that is held back arrives when its sender may be an admin no more. Who reads it next meets its faults.
    await c.req.arrayBuffer().catch(() => undefined)
    return (await isStillAdmin(caller)) ? null : FORBIDDEN
  }

  const signedIn: MiddlewareHandler<SignedInEnv> = async (c, next) => {
    const caller = await callerFrom(c)
    if (caller === null) return fail(c, UNAUTHORIZED)
    c.set('caller', caller)
    const refused = refusal(caller, c.var.key, c)
    return refused === null ? known(c, next) : fail(c, refused)
  }

  return {
    isFresh,
    isStillAdmin,
    signedIn,
    signedInTogether: every(signedIn, sharedAnswers()),
    admin: async (c, next) => {
      const refused = await adminRefusal(c)
      return refused === null ? known(c, next) : fail(c, refused)
    },
    freshAdmin: async (c, next) => {
      const refused = (await adminRefusal(c)) ?? ((await isFresh(c.var.caller)) ? null : SIGN_IN_AGAIN)
      return refused === null ? known(c, next) : fail(c, refused)
    },
    audited:
      (action, prefix = '') =>
      async (c, next) => {
        await next()
        // A fault may have left the write done. What was not understood, or not permitted, was no write.
        if (c.res.ok || c.error !== undefined || c.var.isUnread === true || c.res.status === 403) return
        const { code: outcome } = (await c.res.clone().json()) as ErrorForm
        const [noun = action] = action.split('.')
        const subject = prefix + (Object.values(c.req.param()).join('/') || noun)
        await audit.record({ actor: c.var.caller.userId, action, subject, before: null, after: null, outcome })
      },
    ordering: (order) => async (c, next) => {
      const caller = await callerFrom(c)
      if (caller === null) return fail(c, UNAUTHORIZED)
      c.set('caller', caller)
      // A request that may not act spends nothing of its user: a key that only reads could keep them from closing.
      const refused = refusal(caller, c.var.key, c) ?? (await limits.countOrder(c, order, caller.userId))
      if (refused !== null) return fail(c, refused)
      if (caller.keyId !== undefined) await keys.markBot(caller.userId)
      return known(c, next)
    },
    optional: async (c, next) => {
      const caller = await callerFrom(c)
      const { key } = c.var
      c.set('caller', key && !allows(key.scopes, 'read') ? null : caller)
      return next()
    },
    limited: limits.perRoute,
  }
}
