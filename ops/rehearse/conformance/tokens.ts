/** Reads the deployment's tokens, and forges some with its own key. */
import { createPrivateKey, createPublicKey } from 'node:crypto'
import { decodeJwt, decodeProtectedHeader, jwtVerify, type JWTPayload, SignJWT } from 'jose'
import type { Trust } from './trust.ts'

export const ACCESS = 'game_access'
export const REFRESH = 'game_refresh'

export interface TokenSeen {
  readonly alg: unknown
  readonly claims: JWTPayload & Readonly<Record<string, unknown>>
  /** Seconds from issue to expiry. */
  readonly lifetime: number
}

/** The contents of a token, without checking the signature. */
export function readToken(token: string): TokenSeen {
  const claims = decodeJwt(token)
  return { alg: decodeProtectedHeader(token).alg, claims, lifetime: (claims.exp ?? 0) - (claims.iat ?? 0) }
}

/** Throws unless the deployment's own key has signed it. */
export async function verify(token: string, { signingKey }: Trust): Promise<void> {
  await jwtVerify(token, createPublicKey(signingKey), { algorithms: ['RS256'] })
}

/** The same token with some claims changed, signed as the deployment signs. Undefined removes a claim. */
export async function forge(token: string, changes: JWTPayload, { signingKey }: Trust): Promise<string> {
  const { alg = 'RS256', ...head } = decodeProtectedHeader(token)
  return new SignJWT({ ...decodeJwt(token), ...changes })
    .setProtectedHeader({ ...head, alg })
    .sign(createPrivateKey(signingKey))
}

/** The same token signed with HMAC, keyed with this. */
export async function forgeHmac(token: string, secret: string, changes: JWTPayload = {}): Promise<string> {
  const head = { ...decodeProtectedHeader(token), alg: 'HS256' }
  return new SignJWT({ ...decodeJwt(token), ...changes })
    .setProtectedHeader(head)
    .sign(new TextEncoder().encode(secret))
}

/** A token with the same header and claims, and a wrong signature. */
export const spoil = (token: string): string => {
  const [head = '', claims = '', signature = ''] = token.split('.')
  const first = signature.startsWith('A') ? 'B' : 'A'
  return [head, claims, first + signature.slice(1)].join('.')
}
