/** Access, refresh and WebSocket tokens (specification 2.1): signed with RS256, always verified with the type expected. */
import { errors, type JWTPayload, jwtVerify, SignJWT } from 'jose'
import { z } from 'zod'
import { type DistrictId, districtId, type UserId, userId } from '../../actors/kernel/ids.ts'
import { instant, SECOND_MS, type World } from '../../actors/kernel/world.ts'
import type { SigningKeys } from './keys.ts'
import { TokenCache } from './token-cache.ts'

const ISSUER = 'game-api'
const ALGORITHM = 'RS256'
/** Some 30 MB of claims. Twenty thousand players have so many tokens in an hour. */
const CACHED_MAX = 100_000

/** Seconds from issue to expiry. */
export interface Lifetimes {
  readonly accessSecs: number
  readonly refreshSecs: number
  readonly wsSecs: number
}

const common = {
  userId: z.string().min(1).transform(userId),
  /** What a revocation names. */
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
const RefreshClaims = z.object({ ...common, typ: z.literal('refresh') })
const WsClaims = z.object({ ...common, typ: z.literal('ws') })

export type AccessClaims = z.output<typeof AccessClaims>
export type RefreshClaims = z.output<typeof RefreshClaims>
export type WsClaims = z.output<typeof WsClaims>

/** Whom an access token speaks for. */
export interface TokenUser {
  readonly id: UserId
  readonly districtId: DistrictId
  readonly role: string
}

export interface Tokens {
  readonly lifetimes: Lifetimes
  readonly issueAccess: (user: TokenUser) => Promise<string>
  readonly issueRefresh: (user: UserId) => Promise<string>
  readonly issueWs: (user: UserId) => Promise<string>
  /** The claims, or null for a token that is not ours, has expired, was altered or is of another type. */
  readonly verifyAccess: (token: string) => Promise<AccessClaims | null>
  readonly verifyRefresh: (token: string) => Promise<RefreshClaims | null>
  readonly verifyWs: (token: string) => Promise<WsClaims | null>
}

export interface TokensOptions {
  readonly keys: SigningKeys
  readonly lifetimes: Lifetimes
  readonly world: Pick<World, 'now' | 'newId'>
}

export function createTokens({ keys, lifetimes, world }: TokensOptions): Tokens {
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

  const verify = async <Claims>(token: string, schema: z.ZodType<Claims>): Promise<Claims | null> => {
    const currentDate = new Date(world.now())
    try {
      const verified = await jwtVerify(token, keys.publicKey, { algorithms: [ALGORITHM], issuer: ISSUER, currentDate })
      return schema.safeParse(verified.payload).data ?? null
    } catch (error) {
      if (error instanceof errors.JOSEError) return null
      throw error
    }
  }

  const verified = new TokenCache<AccessClaims>(CACHED_MAX)
  const verifyAccess = async (token: string): Promise<AccessClaims | null> => {
    const known = verified.get(token, world.now())
    if (known !== null) return known
    const claims = await verify(token, AccessClaims)
    if (claims !== null) verified.put(token, claims)
    return claims
  }

  return {
    lifetimes,
    issueAccess: (user) =>
      sign({ typ: 'access', userId: user.id, districtId: user.districtId, role: user.role }, lifetimes.accessSecs),
    issueRefresh: (user) => sign({ typ: 'refresh', userId: user }, lifetimes.refreshSecs),
    issueWs: (user) => sign({ typ: 'ws', userId: user }, lifetimes.wsSecs),
    verifyAccess,
    verifyRefresh: (token) => verify(token, RefreshClaims),
    verifyWs: (token) => verify(token, WsClaims),
  }
}
