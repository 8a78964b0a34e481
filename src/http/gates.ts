/** Who passes: the access cookie becomes a caller, or nobody. */
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

/** How soon it is worth asking again whether it has begun. */
const COMING_SOON = answerWith('COMING_SOON', { retryAfterSecs: 60 })
const FORBIDDEN = answerWith('FORBIDDEN')

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
/** … the refresh cookie. */
export const REFRESH_SECURITY = [{ refreshCookie: [] }]
/** … and that it does without. */
export const OPTIONAL_SECURITY = [{}, { accessCookie: [] }]

export interface Gates {
  /** Answers 401 unless the access cookie is valid, and 503 to everybody but admins while all is still to come. */
  readonly signedIn: MiddlewareHandler<SignedInEnv>
  /** The same, and 403 unless the caller is an admin, by his token and still. */
  readonly admin: MiddlewareHandler<SignedInEnv>
  /** Lets everybody pass. */
  readonly optional: MiddlewareHandler<OptionalEnv>
  /** `signedIn`, and 429 when he has done this too often; visitors count against their address. */
  readonly acting: (action: LimitedAction) => MiddlewareHandler<SignedInEnv>
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
      // What the token says may be a quarter of an hour old, time enough to undo that one is no admin any more.
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
  }
}
