/** The ids of commands that carry an idempotency key. */
import { hash } from 'node:crypto'
import { type UserId, uuidVariant } from '../../actors/kernel/ids.ts'
import type { KeyedRoute } from '../../actors/match/messages.ts'

/**
 * The UUID of a user's command to a route with a key: the same for a retry, different for every other user, route or
 * key. It is the first 128 bits of SHA-256 over the three, with the version bits of a UUID 8 (RFC 9562, 5.8). It must
 * never change, because it is the id of every position that was opened with a key.
 */
export function commandId(user: UserId, route: KeyedRoute | 'void', key: string): string {
  const digest = hash('sha256', `${user} ${route} ${key}`)
  const variant = uuidVariant(digest.charAt(16))
  return `${digest.slice(0, 8)}-${digest.slice(8, 12)}-8${digest.slice(13, 16)}-${variant}${digest.slice(17, 20)}-${digest.slice(20, 32)}`
}
