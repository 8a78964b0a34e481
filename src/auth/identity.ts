/** The identity provider: who somebody is, by a token it has signed (specification 5). */
import { createRemoteJWKSet, decodeJwt, decodeProtectedHeader, errors, jwtVerify } from 'jose'
import { z } from 'zod'
import { HOUR_MS, MINUTE_MS, SECOND_MS, type World } from '../../actors/kernel/world.ts'
import type { Log } from '../observe/log.ts'

/** An account at the identity provider. */
export interface Identity {
  readonly sub: string
  /** Verified by the provider. */
  readonly email: string
  readonly name: string
  readonly picture: string | null
}

/** The provider's keys are not to be had, so nobody can tell whether a token is good. */
export class IdentityProviderAway extends Error {
  override name = 'IdentityProviderAway'
}

export interface IdentityProviderOptions {
  /** Whom its tokens must be meant for. */
  readonly clientId: string
  readonly issuer: string
  readonly keysUrl: string
  readonly world: Pick<World, 'now'>
  readonly log: Log
  /** How long the keys are not asked for again after a token with an unknown one; only tests have another. */
  readonly cooldownMs?: number
}

export interface IdentityProvider {
  /**
   * Whom a token speaks for; null unless it is the provider's, meant for us, in force, with this nonce and a verified
   * e-mail. Throws IdentityProviderAway when that cannot be told.
   */
  readonly identify: (idToken: string, nonce: string) => Promise<Identity | null>
}

const GOOGLE = 'https://accounts.google.com'
/** Google has always written its name in both ways. */
const issuersOf = (issuer: string): string[] => (issuer === GOOGLE ? [GOOGLE, 'accounts.google.com'] : [issuer])

const ALGORITHM = 'RS256'
const KEYS_TTL_MS = 6 * HOUR_MS
/** How soon keys that could not be refreshed are tried again; until then the ones we have are good. */
const RETRY_MS = MINUTE_MS
const COOLDOWN_MS = 30 * SECOND_MS
const KEYS_TIMEOUT_MS = 5 * SECOND_MS
/** How far the provider's clock may be off. */
const TOLERANCE_SECS = 5
/** Who signs in has just been there: an older token is somebody's copy. */
const AGE_MAX = '1d'

const Claims = z.object({
  sub: z.string().regex(/^[\x21-\x7e]{1,255}$/),
  email: z
    .string()
    .regex(/^[^\s@\p{C}]+@[^\s@\p{C}]+$/u)
    .max(320),
  email_verified: z.literal(true),
  nonce: z.string(),
  name: z
    .string()
    .regex(/^\P{C}{1,200}$/u)
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
    // We refresh them ourselves: jose forgets the old ones first, and then nobody could sign in while the provider is away.
    cacheMaxAge: Infinity,
    cooldownDuration: cooldownMs,
    timeoutDuration: KEYS_TIMEOUT_MS,
  })
  const issuers = issuersOf(issuer)
  let refreshAt = -Infinity

  const refreshKeys = async (): Promise<void> => {
    if (world.now() < refreshAt) return
    try {
      await keys.reload()
      refreshAt = world.now() + KEYS_TTL_MS
    } catch (error) {
      if (keys.jwks() === undefined) throw error
      refreshAt = world.now() + RETRY_MS
      log.warn('identity_keys_refresh_failed', { error })
    }
  }

  /** Whether a token could be good at all: to turn down any other takes no keys. */
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
        requiredClaims: ['sub', 'exp', 'iat', 'email'],
        maxTokenAge: AGE_MAX,
        clockTolerance: TOLERANCE_SECS,
        currentDate: new Date(world.now()),
      })
      return payload
    } catch (error) {
      if (isAboutTheToken(error)) return null
      throw new IdentityProviderAway('the keys of the identity provider cannot be had', { cause: error })
    }
  }

  return {
    identify: async (idToken, nonce) => {
      const claims = Claims.safeParse(await verified(idToken)).data
      if (claims === undefined || claims.nonce !== nonce) return null
      const { sub, email, name = email, picture = null } = claims
      return { sub, email, name, picture }
    },
  }
}

/** What else can fail is the fetching of keys. */
function isAboutTheToken(error: unknown): boolean {
  if (!(error instanceof errors.JOSEError)) return false
  return !['ERR_JOSE_GENERIC', 'ERR_JWKS_TIMEOUT', 'ERR_JWKS_INVALID'].includes(error.code)
}
