/** Why the server closes a socket, through either door. */
export const CLOSE = {
  restart: 1012,
  full: 1013,
  /** The user has signed out: his token is void. */
  unauthorised: 4001,
  tooSlow: 4008,
  tooManyMessages: 4029,
} as const
