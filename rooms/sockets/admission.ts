/** Who may connect: the `?token=` of a WebSocket address, judged before anything is upgraded. */
import { type IncomingMessage, type ServerOptions, STATUS_CODES } from 'node:http'
import type { Duplex } from 'node:stream'
import type { UserId } from '../../actors/kernel/ids.ts'

/** The bearer of a valid WebSocket token. */
export interface Visitor {
  readonly userId: UserId
}

/** The visitor a token stands for; null when it is invalid, expired, of another type, or revoked. Throws when it cannot tell. */
export type VerifyToken = (token: string) => Promise<Visitor | null>

/** The visitor of a request, by `?token=` or, as some clients send it, by an Authorization header. */
export async function admit(
  url: URL,
  authorization: string | null | undefined,
  verify: VerifyToken,
): Promise<Visitor | null> {
  const token = url.searchParams.get('token') ?? /^Bearer (.+)$/.exec(authorization ?? '')?.[1]
  return token === undefined || token === '' ? null : await verify(token)
}

/** The address of an upgrade request; only its path and query mean anything. Null when it is not an address at all. */
export const addressOf = (request: IncomingMessage): URL | null => URL.parse(request.url ?? '/', 'ws://here')

/** Answers an upgrade request with a plain HTTP status and closes. */
export function refuseUpgrade(socket: Duplex, status: 400 | 401 | 404 | 429 | 503): void {
  socket.end(`HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`)
}

/**
 * Settings of the HTTP server under the sockets. Whoever has not said all he wants within this time is cut off, a quarter of
 * it later at most: until he is known, nobody counts the connection he holds.
 */
export const handshakeWithin = (ms: number): ServerOptions => ({
  headersTimeout: ms,
  requestTimeout: ms,
  connectionsCheckingInterval: ms / 4, // every 30 seconds by itself
})
