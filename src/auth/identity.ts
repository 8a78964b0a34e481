/** The identity provider: reads the user's identity from a token that it has signed (specification 5). */
import { createRemoteJWKSet, decodeJwt, decodeProtectedHeader, errors, jwtVerify } from 'jose'
import { z } from 'zod'
import { HOUR_MS, type Instant, instant, MINUTE_MS, SECOND_MS, type World } from '../../actors/kernel/world.ts'
import type { Log } from '../observe/log.ts'

/** An account at the identity provider, as a registration keeps it. */
export interface Identity {
  readonly sub: string
  /** Verified by the provider. */
  readonly email: string
  readonly name: string
  readonly picture: string | null
}

/** What one token says of an account: name and picture are undefined where it does not. */
export interface Claimed extends Pick<Identity, 'sub' | 'email'> {
  readonly name: string | undefined
  readonly picture: string | undefined
}

export interface Identified {
  readonly identity: Claimed
  /** From then on the token has expired. */
  readonly until: Instant
  /** When the user has proved who they are; null if the provider does not say. */
  readonly authenticatedAt: Instant | null
}

/** The provider's keys cannot be fetched, so no token can be verified. */
export class IdentityProviderAway extends Error {
  override name = 'IdentityProviderAway'
}

export interface IdentityProviderOptions {
  /** The audience that its tokens must have. */
  readonly clientId: string
  readonly issuer: string
  readonly keysUrl: string
  readonly world: Pick<World, 'now' | 'steady'>
  readonly log: Log
  /** Pause between two fetches of the keys because of unknown ones in tokens; only tests set it. */
  readonly cooldownMs?: number
}

export interface IdentityProvider {
  /**
   * The identity in a token; null unless it is signed by the provider, meant for us, not expired, and has this nonce
   * and a verified e-mail address. Throws IdentityProviderAway when the keys cannot be fetched.
   */
  readonly identify: (idToken: string, nonce: string) => Promise<Identified | null>
}

const GOOGLE = 'https://accounts.google.com'
/** Google writes its name in both ways. */
const issuersOf = (issuer: string): string[] => (issuer === GOOGLE ? [GOOGLE, 'accounts.google.com'] : [issuer])

const ALGORITHM = 'RS256'
const KEYS_TTL_MS = 6 * HOUR_MS
/** After a failed refresh the old keys stay in use, and the refresh is retried this much later. */
const RETRY_MS = MINUTE_MS
const COOLDOWN_MS = 30 * SECOND_MS
const KEYS_TIMEOUT_MS = 5 * SECOND_MS
/** The provider's clock may differ from ours by this much. */
const TOLERANCE_SECS = 5

const Claims = z.object({
  exp: z.number(),
  /** The client that asked for the token. Where it is named, it must be us. */
  azp: z.string().optional(),
  sub: z.string().regex(/^[\x21-\x7e]{1,255}$/),
  email: z
    .string()
    .regex(/^[^\s@\p{C}]+@[^\s@\p{C}]+$/u)
    .max(320),
  email_verified: z.literal(true),
  nonce: z.string(),
  auth_time: z.number().optional(),
  // What is not to be seen, such as marks of direction, is left out.
  name: z
    .string()
    .transform((text) =>
      Array.from(
        text
          .normalize()
          .replaceAll(/\s+/g, ' ')
          .replaceAll(/[^\P{C}\u200c\u200d]/gu, '')
          .trim(),
      )
        .slice(0, 200)
        .join(''),
    )
    .pipe(z.string().min(1))
    .optional()
    .catch(undefined),
  picture: z
    .url({ protocol: /^https$/ })
    .max(2_000)
    .optional()
    .catch(undefined),
})

export function createIdentityProvider(options: IdentityProviderOptions): IdentityProvider {
  const { clientId, issuer, keysUrl, world, log, cooldownMs = COOLDOWN_MS } = options
  const keys = createRemoteJWKSet(new URL(keysUrl), {
    // We refresh them ourselves: jose drops the old keys first, so that no one could sign in while the provider is
    // down.
    cacheMaxAge: Infinity,
    cooldownDuration: cooldownMs,
    timeoutDuration: KEYS_TIMEOUT_MS,
  })
  const issuers = issuersOf(issuer)
  let refreshAt = -Infinity

  const refreshKeys = async (): Promise<void> => {
    if (world.steady.now() < refreshAt) return
    try {
      await keys.reload()
      refreshAt = world.steady.now() + KEYS_TTL_MS
    } catch (error) {
      if (keys.jwks() === undefined) throw error
      refreshAt = world.steady.now() + RETRY_MS
      log.warn('identity_keys_refresh_failed', { error })
    }
  }

  /** Whether issuer, audience and algorithm are right. Rejecting a token for these needs no keys. */
  const isMeantForUs = (idToken: string): boolean => {
    try {
      const { iss, aud } = decodeJwt(idToken)
      const { alg } = decodeProtectedHeader(idToken)
      return alg === ALGORITHM && issuers.some((name) => name === iss) && [aud].flat().includes(clientId)
    } catch {
      return false
    }
  }

  const verified = async (idToken: string): Promise<unknown> => {
    if (!isMeantForUs(idToken)) return null
    try {
      await refreshKeys()
      const { payload } = await jwtVerify(idToken, keys, {
        algorithms: [ALGORITHM],
        audience: clientId,
        issuer: issuers,
        requiredClaims: ['sub', 'exp', 'email'],
        clockTolerance: TOLERANCE_SECS,
        currentDate: new Date(world.now()),
      })
      return payload
    } catch (error) {
      if (isAboutTheToken(error)) return null
      throw new IdentityProviderAway('the keys of the identity provider cannot be fetched', { cause: error })
    }
  }

  return {
    identify: async (idToken, nonce) => {
      const claims = Claims.safeParse(await verified(idToken)).data
      if (claims === undefined || claims.nonce !== nonce) return null
      if (claims.azp !== undefined && claims.azp !== clientId) return null
      const { exp, auth_time: at, sub, email, name, picture } = claims
      const until = instant((Math.ceil(exp) + TOLERANCE_SECS) * SECOND_MS)
      const authenticatedAt = at === undefined ? null : instant(at * SECOND_MS)
      return { identity: { sub, email, name, picture }, until, authenticatedAt }
    },
  }
}

/** Any other error comes from fetching the keys. */
function isAboutTheToken(error: unknown): boolean {
  if (!(error instanceof errors.JOSEError)) return false
  return !['ERR_JOSE_GENERIC', 'ERR_JWKS_TIMEOUT', 'ERR_JWKS_INVALID'].includes(error.code)
}
