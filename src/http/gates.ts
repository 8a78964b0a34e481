/** Authentication middleware: turns the access cookie into a caller and decides who may pass. */
import type { Context, MiddlewareHandler } from 'hono'
import type { SessionId, UserId } from '../../actors/kernel/ids.ts'
import type { Flags } from '../../actors/kernel/settings.ts'
import { ACCESS_COOKIE, readCookie } from '../auth/cookies.ts'
import type { Sessions } from '../auth/sessions.ts'
import { answerWith, fail, type HttpEnv, UNAUTHORIZED } from './answers.ts'
import type { Accounts } from './ports.ts'
import type { LimitedAction, RateLimits } from './rate-limits.ts'

export interface Caller {
  readonly userId: UserId
  readonly role: string
  readonly sid: SessionId
}

const ADMIN = 'admin'

/** A client asks again after a minute whether the game has opened. */
const COMING_SOON = answerWith('COMING_SOON', { retryAfterSecs: 60 })
const FORBIDDEN = answerWith('FORBIDDEN')

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

/** `security` of a route that needs the access cookie. */
export const ACCESS_SECURITY = [{ accessCookie: [] }]
/** … the refresh cookie. */
export const REFRESH_SECURITY = [{ refreshCookie: [] }]
/** … the access cookie or none. */
export const OPTIONAL_SECURITY = [{}, { accessCookie: [] }]

export interface Gates {
  /** 401 without a valid access cookie; 503 for all but admins while the flag `coming_soon` is set. */
  readonly signedIn: MiddlewareHandler<SignedInEnv>
  /** Like `signedIn`, and 403 unless both the token and the database say that the caller is an admin. */
  readonly admin: MiddlewareHandler<SignedInEnv>
  /** Passes every request. */
  readonly optional: MiddlewareHandler<OptionalEnv>
  /** Like `signedIn`, and 429 above the user's limit for the action. Without a caller the address counts instead. */
  readonly acting: (action: LimitedAction) => MiddlewareHandler<SignedInEnv>
  /** 429 above the limit that a route has per address, in addition to the limit over all routes. */
  readonly limited: RateLimits['perRoute']
}

export interface GatesOptions {
  readonly sessions: Pick<Sessions, 'verifyAccess'>
  readonly accounts: Pick<Accounts, 'find'>
  readonly flags: () => Flags
  readonly limits: RateLimits
}

export function createGates({ sessions, accounts, flags, limits }: GatesOptions): Gates {
  const callerFrom = async (c: Context): Promise<Caller | null> => {
    const token = readCookie(c.req.header('cookie'), ACCESS_COOKIE)
    const claims = token === undefined ? null : await sessions.verifyAccess(token)
    return claims === null ? null : { userId: claims.userId, role: claims.role, sid: claims.sid }
  }
  const isTooEarly = (caller: Caller): boolean => flags().coming_soon && caller.role !== ADMIN

  return {
    signedIn: async (c, next) => {
      const caller = await callerFrom(c)
      if (caller === null) return fail(c, UNAUTHORIZED)
      if (isTooEarly(caller)) return fail(c, COMING_SOON)
      c.set('caller', caller)
      return next()
    },
    admin: async (c, next) => {
      const caller = await callerFrom(c)
      if (caller === null) return fail(c, UNAUTHORIZED)
      if (isTooEarly(caller)) return fail(c, COMING_SOON)
      // The token may be 15 minutes old: a demoted admin could restore their own role.
      const isAdmin = caller.role === ADMIN && (await accounts.find(caller.userId))?.role === ADMIN
      if (!isAdmin) return fail(c, FORBIDDEN)
      c.set('caller', caller)
      return next()
    },
    acting: (action) => async (c, next) => {
      const caller = await callerFrom(c)
      const excess = await (caller === null ? limits.countAddress(c) : limits.countAction(c, action, caller.userId))
      if (excess !== null) return fail(c, excess)
      if (caller === null) return fail(c, UNAUTHORIZED)
      if (isTooEarly(caller)) return fail(c, COMING_SOON)
      c.set('caller', caller)
      return next()
    },
    optional: async (c, next) => {
      c.set('caller', await callerFrom(c))
      return next()
    },
    limited: limits.perRoute,
  }
}
