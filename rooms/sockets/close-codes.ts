/** The close codes of the server, at both endpoints. */
export const CLOSE = {
  restart: 1012,
  full: 1013,
  /** The user has signed out. */
  unauthorised: 4001,
  tooSlow: 4008,
  tooManyMessages: 4029,
} as const
