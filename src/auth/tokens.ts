/** Access, refresh and WebSocket tokens (specification 2.1): signed with RS256, and verified with the expected type. */
import { hash, type KeyObject } from 'node:crypto'
import { errors, type JWTHeaderParameters, type JWTPayload, jwtVerify, SignJWT } from 'jose'
import { z } from 'zod'
import { type DistrictId, districtId, type SessionId, sessionId, type UserId, userId } from '../../actors/kernel/ids.ts'
import { type Instant, instant, isPending, SECOND_MS, type World } from '../../actors/kernel/world.ts'
import type { Session } from '../../db/sessions.ts'
import type { SigningKeys } from './keys.ts'
import { TokenCache } from './token-cache.ts'

const ISSUER = 'game-api'
const ALGORITHM = 'RS256'
/** About 30 MB of claims: the access tokens of 20,000 users in an hour. */
const CACHED_TOKENS_MAX = 100_000

/** Seconds from issue to expiry. */
export interface Lifetimes {
  readonly accessSecs: number
  readonly refreshSecs: number
  readonly wsSecs: number
}

/** The user and session of a token: ending the session revokes all its tokens. */
const Bearer = z.object({
  userId: z.string().min(1).transform(userId),
  sid: z.string().min(1).transform(sessionId),
})
const common = {
  ...Bearer.shape,
  jti: z.string().min(1),
  exp: z
    .number()
    .int()
    .transform((secs) => instant(secs * SECOND_MS)),
}
const AccessClaims = z.object({
  ...common,
  typ: z.literal('access'),
  districtId: z.number().int().transform(districtId),
  role: z.string().min(1),
})
const RefreshClaims = z.object({ ...common, typ: z.literal('refresh'), gen: z.number().int() })
const WsClaims = z.object({ ...common, typ: z.literal('ws') })
const SessionBearer = Bearer.extend({ typ: z.enum(['access', 'refresh']) })

export type AccessClaims = z.output<typeof AccessClaims>
export type RefreshClaims = z.output<typeof RefreshClaims>
export type WsClaims = z.output<typeof WsClaims>
export type Bearer = z.output<typeof Bearer>

/** The user that an access token is issued to. */
export interface TokenUser {
  readonly id: UserId
  readonly districtId: DistrictId
  readonly role: string
}

export interface TokenPair {
  readonly access: string
  readonly refresh: string
  /** Their lifetimes: shorter near the end of a session. */
  readonly accessSecs: number
  readonly refreshSecs: number
}

export interface Tokens {
  readonly lifetimes: Lifetimes
  /** The tokens of a session's present generation: the same ones each time, while role and district are the same. */
  readonly issuePair: (user: TokenUser, session: Session) => Promise<TokenPair>
  readonly issueAccess: (user: TokenUser, session: SessionId) => Promise<string>
  readonly issueRefresh: (session: Pick<Session, 'id' | 'userId' | 'generation'>) => Promise<string>
  readonly issueWs: (bearer: Bearer) => Promise<string>
  /** The claims, or null for a token that is foreign, expired, altered or of another type. */
  readonly verifyAccess: (token: string) => Promise<AccessClaims | null>
  readonly verifyRefresh: (token: string) => Promise<RefreshClaims | null>
  readonly verifyWs: (token: string) => Promise<WsClaims | null>
  /** The bearer of an access or refresh token, expired or not; null for any other token. */
  readonly bearerOf: (token: string) => Promise<Bearer | null>
}

export interface TokensOptions {
  readonly keys: SigningKeys
  readonly lifetimes: Lifetimes
  readonly world: Pick<World, 'now' | 'newId'>
}

/** A token's own id, and when it is issued. */
interface Issue {
  readonly jti: string
  readonly at: Instant
}

export function createTokens({ keys, lifetimes, world }: TokensOptions): Tokens {
  const now = (): Issue => ({ jti: world.newId(), at: world.now() })
  const sign = (claims: JWTPayload, lifeSecs: number, { jti, at }: Issue = now()): Promise<string> => {
    const issuedAt = Math.floor(at / SECOND_MS)
    return new SignJWT(claims)
      .setProtectedHeader({ alg: ALGORITHM, kid: keys.keyId })
      .setIssuer(ISSUER)
      .setJti(jti)
      .setIssuedAt(issuedAt)
      .setExpirationTime(issuedAt + lifeSecs)
      .sign(keys.privateKey)
  }
  const accessClaims = ({ id, districtId: district, role }: TokenUser, session: SessionId): JWTPayload => ({
    typ: 'access',
    userId: id,
    sid: session,
    districtId: district,
    role,
  })
  const refreshClaims = ({ id, userId: user, generation }: Pick<Session, 'id' | 'userId' | 'generation'>) => ({
    typ: 'refresh',
    userId: user,
    sid: id,
    gen: generation,
  })

  /** The key that a token names in its header: ours, or another that the configuration allows. */
  const keyNamed = ({ kid }: JWTHeaderParameters): KeyObject => {
    const key = kid === undefined ? undefined : keys.verifying.get(kid)
    if (key === undefined) throw new errors.JWKSNoMatchingKey()
    return key
  }
  /** An end is remembered while tokens of this life count: one of a longer life, by another setting, is none. */
  const read = async <Claims>(
    token: string,
    schema: z.ZodType<Claims>,
    at: number,
    lifeSecs = Infinity,
  ): Promise<Claims | null> => {
    const currentDate = new Date(at)
    try {
      const verified = await jwtVerify(token, keyNamed, { algorithms: [ALGORITHM], issuer: ISSUER, currentDate })
      const { exp = 0, iat = 0 } = verified.payload
      if (exp - iat > lifeSecs) return null
      if (at > 0 && !isPending(exp * SECOND_MS, at, (exp - iat) * SECOND_MS)) return null
      return schema.safeParse(verified.payload).data ?? null
    } catch (error) {
      if (error instanceof errors.JOSEError) return null
      throw error
    }
  }

  const verified = new TokenCache<AccessClaims>(CACHED_TOKENS_MAX)
  const verifyAccess = async (token: string): Promise<AccessClaims | null> => {
    const at = world.now()
    const known = verified.get(token, at)
    if (known !== null && isPending(known.exp, at, lifetimes.accessSecs * SECOND_MS)) return known
    const claims = await read(token, AccessClaims, at, lifetimes.accessSecs)
    if (claims !== null) verified.put(token, claims)
    return claims
  }

  return {
    lifetimes,
    issuePair: async (user, session) => {
      const { id, generation, issuedAt, expiresAt } = session
      const lifeSecs = Math.floor(expiresAt / SECOND_MS) - Math.floor(issuedAt / SECOND_MS)
      const accessSecs = Math.min(lifetimes.accessSecs, lifeSecs)
      const refreshSecs = Math.min(lifetimes.refreshSecs, lifeSecs)
      const issue = (type: string): Issue => ({ jti: hash('sha256', `${id}:${generation}:${type}`), at: issuedAt })
      const [access, refresh] = await Promise.all([
        sign(accessClaims(user, id), accessSecs, issue('access')),
        sign(refreshClaims(session), refreshSecs, issue('refresh')),
      ])
      return { access, refresh, accessSecs, refreshSecs }
    },
    issueAccess: (user, session) => sign(accessClaims(user, session), lifetimes.accessSecs),
    issueRefresh: (session) => sign(refreshClaims(session), lifetimes.refreshSecs),
    issueWs: ({ userId: user, sid }) => sign({ typ: 'ws', userId: user, sid }, lifetimes.wsSecs),
    verifyAccess,
    verifyRefresh: (token) => read(token, RefreshClaims, world.now()),
    verifyWs: (token) => read(token, WsClaims, world.now(), lifetimes.wsSecs),
    // Verified as of 1970, when no token had expired.
    bearerOf: (token) => read(token, SessionBearer, 0),
  }
}
