/**
 * Recently verified tokens and their claims. Verifying a signature costs 55 to 130 µs, a lookup 3. A cached token may
 * have been revoked: callers check that themselves.
 */
import { hash } from 'node:crypto'
import type { Instant } from '../../actors/kernel/world.ts'

export class TokenCache<Claims extends { readonly exp: Instant }> {
  readonly #max: number
  /** By digest, so that no token stays in memory; least recently used first. */
  readonly #claims = new Map<string, Claims>()

  /** Holds at most `max` tokens, and drops the least recently used. */
  constructor(max: number) {
    this.#max = max
  }

  /** The claims of a token, or null when it is unknown or has expired. */
  get(token: string, now: Instant): Claims | null {
    const key = digest(token)
    const claims = this.#claims.get(key)
    if (claims === undefined) return null
    this.#claims.delete(key)
    if (claims.exp <= now) return null
    this.#claims.set(key, claims)
    return claims
  }

  /** Adds a token that has just been verified. */
  put(token: string, claims: Claims): void {
    this.#claims.set(digest(token), claims)
    if (this.#claims.size <= this.#max) return
    const [oldest] = this.#claims.keys()
    if (oldest !== undefined) this.#claims.delete(oldest)
  }
}

const digest = (token: string): string => hash('sha256', token, 'base64')
