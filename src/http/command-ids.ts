/** What a keyed command is known by. */
import { hash } from 'node:crypto'
import { type UserId, uuidVariant } from '../../actors/kernel/ids.ts'
import type { KeyedRoute } from '../../actors/match/messages.ts'

/**
 * The UUID of the command that a user sends to a route under a key: the same for a retry, and nobody else's. The first 128
 * bits of SHA-256 over the three, less those that make it a UUID of version 8 (RFC 9562, 5.8). Never to be changed: it is the
 * id of every position that was opened under a key.
 */
export function commandId(user: UserId, route: KeyedRoute, key: string): string {
  const digest = hash('sha256', `${user} ${route} ${key}`)
  const variant = uuidVariant(digest.charAt(16))
  return `${digest.slice(0, 8)}-${digest.slice(8, 12)}-8${digest.slice(13, 16)}-${variant}${digest.slice(17, 20)}-${digest.slice(20, 32)}`
}
