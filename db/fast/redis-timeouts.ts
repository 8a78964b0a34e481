/** How long the clients of Redis wait. */

/** A server that does not answer in this time is unavailable: callers use the database, or answer an error. */
export const COMMAND_TIMEOUT_MS = 1_000
export const CONNECT_TIMEOUT_MS = 2_000
/** A connection is replaced when one of its commands has waited this long. */
export const SILENT_MS = 3_000
/** Longest pause between attempts to reconnect, which never stop. */
const RECONNECT_MAX_MS = 1_000

export const reconnectAfter = (attempt: number): number => Math.min(RECONNECT_MAX_MS, 50 * 2 ** Math.min(attempt, 10))
