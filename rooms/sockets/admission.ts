/** Admission: the token of a connection is verified before its upgrade. */
import type { IncomingMessage, ServerOptions } from 'node:http'
import type { SessionId, UserId } from '../../actors/kernel/ids.ts'

/** The bearer of a valid WebSocket token. */
export interface Visitor {
  readonly userId: UserId
  /** The connection ends with this session. */
  readonly sessionId: SessionId
}

/**
 * Null when the token is invalid, expired, revoked or of another type; `forbidden` while the game is open to admins
 * alone. Throws when it cannot be checked.
 */
export type VerifyToken = (token: string) => Promise<Visitor | 'forbidden' | null>

/** Takes the token from `?token=` or, as some clients send it, from an Authorization header. */
export async function admit(
  url: URL,
  authorization: string | null | undefined,
  verify: VerifyToken,
): Promise<Visitor | 'forbidden' | null> {
  const token = url.searchParams.get('token') ?? /^Bearer (.+)$/.exec(authorization ?? '')?.[1]
  return token === undefined || token === '' ? null : await verify(token)
}

/** The address of an upgrade request, of which only path and query count; null when it is malformed. */
export const addressOf = (request: IncomingMessage): URL | null => URL.parse(request.url ?? '/', 'ws://here')

/**
 * Settings of the HTTP server under the sockets. A connection without a complete request after this time is cut within
 * another quarter of it: until the request is read, no connection limit applies to it.
 */
export const handshakeWithin = (ms: number): ServerOptions => ({
  headersTimeout: ms,
  requestTimeout: ms,
  connectionsCheckingInterval: ms / 4, // Node's default is 30 seconds
})
