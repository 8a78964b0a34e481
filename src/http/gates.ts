/** Who passes: the access cookie becomes a caller, or nobody. */
import type { MiddlewareHandler } from 'hono'
import { getCookie } from 'hono/cookie'
import type { UserId } from '../../actors/kernel/ids.ts'
import { ACCESS_COOKIE } from '../auth/cookies.ts'
import type { Tokens } from '../auth/tokens.ts'
import { fail, FORBIDDEN, type HttpEnv, UNAUTHORIZED } from './answers.ts'
import type { LimitedAction, RateLimits } from './rate-limits.ts'

export interface Caller {
  readonly userId: UserId
  readonly role: string
}

/** The caller is known. A handler behind this gate can read it; without the gate it does not compile. */
export interface SignedInEnv {
  Bindings: HttpEnv['Bindings']
  Variables: HttpEnv['Variables'] & { caller: Caller }
}
/** Null: nobody is signed in. */
export interface OptionalEnv {
  Bindings: HttpEnv['Bindings']
  Variables: HttpEnv['Variables'] & { caller: Caller | null }
}

/** How a route says in the API description that it takes the access cookie. */
export const ACCESS_SECURITY = [{ accessCookie: [] }]
/** … and that it does without. */
export const OPTIONAL_SECURITY = [{}, { accessCookie: [] }]

export interface Gates {
  /** Answers 401 unless the access cookie is valid. */
  readonly signedIn: MiddlewareHandler<SignedInEnv>
  /** The same, and 403 unless the caller is an admin. */
  readonly admin: MiddlewareHandler<SignedInEnv>
  readonly optional: MiddlewareHandler<OptionalEnv>
  /** `signedIn`, and 429 when he has done this too often; visitors count against their address. */
  readonly acting: (action: LimitedAction) => MiddlewareHandler<SignedInEnv>
}

export interface GatesOptions {
  readonly tokens: Pick<Tokens, 'verifyAccess'>
  readonly limits: RateLimits
}

export function createGates({ tokens, limits }: GatesOptions): Gates {
  const callerOf = async (token: string | undefined): Promise<Caller | null> => {
    const claims = token === undefined ? null : await tokens.verifyAccess(token)
    return claims === null ? null : { userId: claims.userId, role: claims.role }
  }

  return {
    signedIn: async (c, next) => {
      const caller = await callerOf(getCookie(c, ACCESS_COOKIE))
      if (caller === null) return fail(c, UNAUTHORIZED)
      c.set('caller', caller)
      return next()
    },
    admin: async (c, next) => {
      const caller = await callerOf(getCookie(c, ACCESS_COOKIE))
      if (caller === null) return fail(c, UNAUTHORIZED)
      if (caller.role !== 'admin') return fail(c, FORBIDDEN)
      c.set('caller', caller)
      return next()
    },
    acting: (action) => async (c, next) => {
      const caller = await callerOf(getCookie(c, ACCESS_COOKIE))
      const excess = await (caller === null ? limits.countAddress(c) : limits.countAction(c, action, caller.userId))
      if (excess !== null) return fail(c, excess)
      if (caller === null) return fail(c, UNAUTHORIZED)
      c.set('caller', caller)
      return next()
    },
    optional: async (c, next) => {
      c.set('caller', await callerOf(getCookie(c, ACCESS_COOKIE)))
      return next()
    },
  }
}
