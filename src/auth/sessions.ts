/** Sign-in, refresh and sign-out: the tokens that clients hold, and the sessions behind them. */
import { hash } from 'node:crypto'
import { present, unreachable } from '../../actors/kernel/assert.ts'
import type { SessionId, UserId } from '../../actors/kernel/ids.ts'
import type { Instant } from '../../actors/kernel/world.ts'
import type { EndedSession } from '../../db/ended-sessions.ts'
import type { Device, ListedSession, Presented, Rotation, Session } from '../../db/sessions.ts'
import type { Log } from '../observe/log.ts'
import type { AccessClaims, Bearer, Lifetimes, TokenPair, Tokens, TokenUser, WsClaims } from './tokens.ts'

/** Stored sessions; see `db/sessions.ts`. */
export interface SessionRows {
  start(users: readonly UserId[], device: Device, authenticatedAt?: Instant | null): Promise<readonly Session[]>
  isFresh(id: SessionId): Promise<boolean>
  rotate(presented: Presented): Promise<Rotation>
  end(id: SessionId): Promise<boolean>
  endOne(user: UserId, id: SessionId): Promise<boolean>
  endAll(user: UserId): Promise<number>
  list(user: UserId): Promise<readonly ListedSession[]>
  devices(user: UserId): Promise<readonly Device[]>
  livingAmong(ids: readonly SessionId[]): Promise<ReadonlySet<SessionId>>
}

/** Which sessions have ended; see `db/ended-sessions.ts`. */
export interface EndedSessions {
  has(id: SessionId): Promise<boolean>
  look(): Promise<readonly EndedSession[]>
}

export type Refreshed<User> =
  | { readonly kind: 'rotated'; readonly user: User; readonly tokens: TokenPair }
  /**
   * The token was rotated less than ten seconds ago, perhaps by another tab: it is refused, and the session continues.
   */
  | { readonly kind: 'superseded' }
  /** The token is invalid or was reused, or its session has ended. */
  | { readonly kind: 'over' }

/** Of who signs in. */
export interface Proof {
  /** When the identity provider has seen it; null if it does not say: now. */
  readonly authenticatedAt?: Instant | null
  /** Whether they have registered by it. */
  readonly isFirst?: boolean
}

export interface Sessions {
  readonly lifetimes: Lifetimes
  /** A new session for each of these users, in their order. */
  readonly start: (users: readonly TokenUser[], device: Device) => Promise<readonly TokenPair[]>
  /**
   * A new session for a person, who is told of it unless they have just registered, or a session of theirs that is
   * remembered was begun from this device.
   */
  readonly signIn: (user: TokenUser, device: Device, proof?: Proof) => Promise<TokenPair>
  /** Whether the user of a session has proved who they are less than 15 minutes ago. */
  readonly isFresh: (id: SessionId) => Promise<boolean>
  /** The claims of a valid token whose session has not ended, or null. */
  readonly verifyAccess: (token: string) => Promise<AccessClaims | null>
  /** The same for a token that opens sockets. */
  readonly verifyWs: (token: string) => Promise<WsClaims | null>
  /** Those of these sessions that have neither ended nor expired. */
  readonly livingAmong: (ids: readonly SessionId[]) => Promise<ReadonlySet<SessionId>>
  /** Rotates a refresh token. A repetition under the same key within a minute gets the same tokens. */
  readonly refresh: <User extends TokenUser>(
    presented: { readonly token: string; readonly key: string | null },
    load: (id: UserId) => Promise<User | null>,
  ) => Promise<Refreshed<User>>
  /** Ends the sessions of these tokens, also of expired ones, and signs their users out. */
  readonly end: (tokens: readonly string[]) => Promise<void>
  /** Ends one of the user's sessions; false if they have no such session. */
  readonly endOne: (user: UserId, id: SessionId) => Promise<boolean>
  /** Ends all sessions of the user, and returns how many there were. */
  readonly endAll: (user: UserId) => Promise<number>
  /** Closes the sockets of a user whose sessions have ended, in every process. */
  readonly signedOut: (user: UserId) => void
  readonly list: (user: UserId) => Promise<readonly ListedSession[]>
  readonly issueWs: (bearer: Bearer) => Promise<string>
  /** From now on `listener` is called with each user who is signed out. It must not throw. */
  readonly onSignedOut: (listener: (user: UserId) => void) => void
  /** The sessions that have ended since the last look, wherever that was. To be called about twice a second. */
  readonly lookForEnded: () => Promise<readonly EndedSession[]>
}

export interface SessionsOptions {
  readonly tokens: Tokens
  readonly rows: SessionRows
  readonly ended: EndedSessions
  /** Tells a user of a sign-in from a device that their sessions did not know. Returns at once. */
  readonly onNewDevice: (user: UserId, device: Device) => void
  /** Called when a refresh token was used that had been replaced before: it was copied. */
  readonly onReuse: (user: UserId) => void
  readonly log: Log
}

/** Digests keep clients' keys out of the database, and give them one length. */
const digestOf = (key: string): string => hash('sha256', key, 'base64url')

/** A device as its user sees it: a browser's new version is the same device. */
const nameOf = ({ userAgent, addressPrefix }: Device): string =>
  `${(userAgent ?? '').replaceAll(/\d+([._]\d+)*/g, '')} ${addressPrefix}`

export function createSessions(options: SessionsOptions): Sessions {
  const { tokens, rows, ended, onNewDevice, onReuse, log } = options
  const listeners: ((user: UserId) => void)[] = []
  const signedOut = (user: UserId): void => {
    for (const listener of listeners) listener(user)
  }
  const lasting = async <Claims extends Bearer>(claims: Claims | null): Promise<Claims | null> =>
    claims === null || (await ended.has(claims.sid)) ? null : claims
  const start = async (users: readonly TokenUser[], device: Device, authenticatedAt: Instant | null = null) => {
    const sessions = await rows.start(
      users.map(({ id }) => id),
      device,
      authenticatedAt,
    )
    return Promise.all(users.map((user, n) => tokens.issuePair(user, present(sessions[n], 'session'))))
  }

  return {
    lifetimes: tokens.lifetimes,
    start: (users, device) => start(users, device),
    isFresh: (id) => rows.isFresh(id),
    signIn: async (user, device, { authenticatedAt = null, isFirst = false } = {}) => {
      const known = (await rows.devices(user.id)).map(nameOf)
      const [pair] = await start([user], device, authenticatedAt)
      if (!isFirst && !known.includes(nameOf(device))) onNewDevice(user.id, device)
      return present(pair, 'tokens of a new session')
    },
    verifyAccess: async (token) => lasting(await tokens.verifyAccess(token)),
    verifyWs: async (token) => lasting(await tokens.verifyWs(token)),
    livingAmong: (ids) => rows.livingAmong(ids),
    refresh: async ({ token, key }, load) => {
      const claims = await tokens.verifyRefresh(token)
      if (claims === null) return { kind: 'over' }
      const user = await load(claims.userId)
      if (user === null) return { kind: 'over' }
      const presented = { id: claims.sid, generation: claims.gen, key: key === null ? null : digestOf(key) }
      const rotation = await rows.rotate(presented)
      switch (rotation.kind) {
        case 'rotated':
          return { kind: 'rotated', user, tokens: await tokens.issuePair(user, rotation.session) }
        case 'superseded':
          return { kind: 'superseded' }
        case 'ended':
          return { kind: 'over' }
        case 'reused':
          log.warn('refresh_token_reused', { userId: claims.userId, session: claims.sid, generation: claims.gen })
          onReuse(claims.userId)
          signedOut(claims.userId)
          return { kind: 'over' }
        default:
          return unreachable(rotation)
      }
    },
    end: async (presented) => {
      const bearers = await Promise.all(presented.map(tokens.bearerOf))
      const found = new Map(bearers.filter((bearer) => bearer !== null).map(({ sid, userId }) => [sid, userId]))
      const ends = await Promise.all(
        Array.from(found, async ([sid, userId]) => ((await rows.end(sid)) ? [userId] : [])),
      )
      // A token of a session that had ended before closes no sockets.
      for (const user of new Set(ends.flat())) signedOut(user)
    },
    endOne: async (user, id) => {
      const isEnded = await rows.endOne(user, id)
      if (isEnded) signedOut(user)
      return isEnded
    },
    endAll: async (user) => {
      const count = await rows.endAll(user)
      signedOut(user)
      return count
    },
    signedOut,
    list: (user) => rows.list(user),
    issueWs: tokens.issueWs,
    lookForEnded: () => ended.look(),
    onSignedOut: (listener) => void listeners.push(listener),
  }
}
