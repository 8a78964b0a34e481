/** Access, refresh and WebSocket tokens (specification 2.1): signed with RS256, and verified with the expected type. */
import { errors, type JWTPayload, jwtVerify, SignJWT } from 'jose'
import { z } from 'zod'
import { type DistrictId, districtId, type SessionId, sessionId, type UserId, userId } from '../../actors/kernel/ids.ts'
import { instant, SECOND_MS, type World } from '../../actors/kernel/world.ts'
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

export interface Tokens {
  readonly lifetimes: Lifetimes
  readonly issueAccess: (user: TokenUser, session: SessionId) => Promise<string>
  readonly issueRefresh: (session: Session) => Promise<string>
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
  /** At most this many verified access tokens are cached; only a benchmark sets it. */
  readonly cachedTokensMax?: number
}

export function createTokens({ keys, lifetimes, world, cachedTokensMax = CACHED_TOKENS_MAX }: TokensOptions): Tokens {
  const sign = (claims: JWTPayload, lifeSecs: number): Promise<string> => {
    const issuedAt = Math.floor(world.now() / SECOND_MS)
    return new SignJWT(claims)
      .setProtectedHeader({ alg: ALGORITHM, kid: keys.keyId })
      .setIssuer(ISSUER)
      .setJti(world.newId())
      .setIssuedAt(issuedAt)
      .setExpirationTime(issuedAt + lifeSecs)
      .sign(keys.privateKey)
  }

  const verify = async <Claims>(token: string, schema: z.ZodType<Claims>, at: number): Promise<Claims | null> => {
    const currentDate = new Date(at)
    try {
      const verified = await jwtVerify(token, keys.publicKey, { algorithms: [ALGORITHM], issuer: ISSUER, currentDate })
      return schema.safeParse(verified.payload).data ?? null
    } catch (error) {
      if (error instanceof errors.JOSEError) return null
      throw error
    }
  }

  const verified = new TokenCache<AccessClaims>(cachedTokensMax)
  const verifyAccess = async (token: string): Promise<AccessClaims | null> => {
    const known = verified.get(token, world.now())
    if (known !== null) return known
    const claims = await verify(token, AccessClaims, world.now())
    if (claims !== null) verified.put(token, claims)
    return claims
  }

  return {
    lifetimes,
    issueAccess: ({ id, districtId: district, role }, session) =>
      sign({ typ: 'access', userId: id, sid: session, districtId: district, role }, lifetimes.accessSecs),
    issueRefresh: ({ id, userId: user, generation }) =>
      sign({ typ: 'refresh', userId: user, sid: id, gen: generation }, lifetimes.refreshSecs),
    issueWs: ({ userId: user, sid }) => sign({ typ: 'ws', userId: user, sid }, lifetimes.wsSecs),
    verifyAccess,
    verifyRefresh: (token) => verify(token, RefreshClaims, world.now()),
    verifyWs: (token) => verify(token, WsClaims, world.now()),
    // Verified as of 1970, when no token had expired.
    bearerOf: (token) => verify(token, SessionBearer, 0),
  }
}
