/** Sign-in, refresh and sign-out: the tokens that clients hold, and the sessions behind them. */
import { present } from '../../actors/kernel/assert.ts'
import type { SessionId, UserId } from '../../actors/kernel/ids.ts'
import type { Rotation, Session } from '../../db/sessions.ts'
import type { Log } from '../observe/log.ts'
import type { AccessClaims, Bearer, Lifetimes, Tokens, TokenUser, WsClaims } from './tokens.ts'

/** Stored sessions; see `db/sessions.ts`. */
export interface SessionRows {
  start(users: readonly UserId[]): Promise<readonly Session[]>
  rotate(presented: Pick<Session, 'id' | 'generation'>): Promise<Rotation>
  end(id: SessionId): Promise<void>
  isEnded(id: SessionId): Promise<boolean>
}

export interface TokenPair {
  readonly access: string
  readonly refresh: string
}

export interface Sessions {
  readonly lifetimes: Lifetimes
  /** A new session for each of these users, in their order. */
  readonly start: (users: readonly TokenUser[]) => Promise<readonly TokenPair[]>
  /** The claims of a valid token whose session has not ended, or null. */
  readonly verifyAccess: (token: string) => Promise<AccessClaims | null>
  readonly verifyWs: (token: string) => Promise<WsClaims | null>
  /**
   * The user of a refresh token and their next tokens; null when the token is invalid, reused, or its session has
   * ended.
   */
  readonly refresh: <User extends TokenUser>(
    token: string,
    load: (id: UserId) => Promise<User | null>,
  ) => Promise<{ readonly user: User; readonly tokens: TokenPair } | null>
  /** Ends the sessions of these tokens, also of expired ones, and signs their users out. */
  readonly end: (tokens: readonly string[]) => Promise<void>
  readonly issueWs: (bearer: Bearer) => Promise<string>
  /** From now on `listener` is called with each user who is signed out. It must not throw. */
  readonly onSignedOut: (listener: (user: UserId) => void) => void
}

export interface SessionsOptions {
  readonly tokens: Tokens
  readonly rows: SessionRows
  readonly log: Log
}

export function createSessions({ tokens, rows, log }: SessionsOptions): Sessions {
  const listeners: ((user: UserId) => void)[] = []
  const signedOut = (user: UserId): void => {
    for (const listener of listeners) listener(user)
  }
  const lasting = async <Claims extends Bearer>(claims: Claims | null): Promise<Claims | null> =>
    claims === null || (await rows.isEnded(claims.sid)) ? null : claims
  const pair = async (user: TokenUser, session: Session): Promise<TokenPair> => {
    const [access, refresh] = await Promise.all([tokens.issueAccess(user, session.id), tokens.issueRefresh(session)])
    return { access, refresh }
  }

  return {
    lifetimes: tokens.lifetimes,
    start: async (users) => {
      const sessions = await rows.start(users.map(({ id }) => id))
      return Promise.all(users.map((user, n) => pair(user, present(sessions[n], 'session'))))
    },
    verifyAccess: async (token) => lasting(await tokens.verifyAccess(token)),
    verifyWs: async (token) => lasting(await tokens.verifyWs(token)),
    refresh: async (token, load) => {
      const claims = await tokens.verifyRefresh(token)
      if (claims === null) return null
      const user = await load(claims.userId)
      if (user === null) return null
      const rotation = await rows.rotate({ id: claims.sid, generation: claims.gen })
      if (rotation.kind === 'rotated') return { user, tokens: await pair(user, rotation.session) }
      if (rotation.kind === 'reused') {
        log.warn('refresh_token_reused', { userId: claims.userId, session: claims.sid, generation: claims.gen })
        signedOut(claims.userId)
      }
      return null
    },
    end: async (presented) => {
      const bearers = await Promise.all(presented.map(tokens.bearerOf))
      const found = bearers.filter((bearer) => bearer !== null)
      await Promise.all([...new Set(found.map(({ sid }) => sid))].map((sid) => rows.end(sid)))
      for (const user of new Set(found.map(({ userId }) => userId))) signedOut(user)
    },
    issueWs: tokens.issueWs,
    onSignedOut: (listener) => void listeners.push(listener),
  }
}
