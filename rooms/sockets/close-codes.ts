/** The close codes of the server, at both endpoints. */
export const CLOSE = {
  restart: 1012,
  /** The process has no room, or cannot check the token now. */
  full: 1013,
  /** The token or the seat is not valid, or the session has ended. */
  unauthorised: 4001,
  /** The game is open to admins alone (`coming_soon`). */
  forbidden: 4003,
  tooSlow: 4008,
  /** Too many messages, connections or handshakes. */
  tooMany: 4029,
} as const

export type CloseCode = (typeof CLOSE)[keyof typeof CLOSE]

/** Why the server ends connections that were in order, and with which code. */
export const CODE_BY_REASON = {
  'signed out': CLOSE.unauthorised,
  'session over': CLOSE.unauthorised,
  'coming soon': CLOSE.forbidden,
} as const
export type CloseReason = keyof typeof CODE_BY_REASON

/** Why a connection is closed. The reason is for people. */
export interface Closing {
  readonly code: CloseCode
  readonly reason: string
}
