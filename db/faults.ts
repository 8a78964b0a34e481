/** Distinguishes an unavailable store, where a retry may help, from an error in the program. */

/** The socket could not be opened, or broke. */
const SOCKET_CODES = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'ECONNABORTED',
  'EPIPE',
  'ETIMEDOUT',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
])

/**
 * SQLSTATE: connection, insufficient resources, system error (whole classes); shutting down or starting, cancelled by a
 * timeout, deadlock, serialization failure.
 */
const SQL_STATE = /^(08...|53...|58...|57P..|57014|25P03|40001|40P01)$/

/** Messages without a code, from pg and its pool, PGlite, ioredis, and a Redis that is loading, full or read-only. */
const MESSAGES = [
  'Connection terminated',
  'Client has encountered a connection error',
  'timeout exceeded when trying to connect',
  'Query read timeout',
  'Cannot use a pool after calling end on the pool',
  'PGlite is clos',
  "Stream isn't writeable",
  'Connection is closed',
  'Command timed out',
  'Reached the max retries per request',
  'LOADING ',
  'OOM ',
  'READONLY ',
  'MASTERDOWN ',
]

/**
 * Whether an error means that the database or the fast store did not answer, so that the outcome is unknown. Also looks
 * at the causes of the error.
 */
export function isAway(error: unknown): boolean {
  if (!(error instanceof Error)) return false
  const code = 'code' in error && typeof error.code === 'string' ? error.code : ''
  return (
    SOCKET_CODES.has(code) ||
    SQL_STATE.test(code) ||
    MESSAGES.some((message) => error.message.startsWith(message)) ||
    isAway(error.cause)
  )
}
