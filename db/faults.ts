/**
 * Distinguishes a store that did not answer, and one that may answer the same question later, from a program's error.
 */

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
 * SQLSTATE of a connection that could not be made or was lost, and of a server that starts or stops. 08P01 is not among
 * them: a server that is away does not complain about a message.
 */
const CONNECTION = /^(0800[013467]|57P0[1-5])$/

/**
 * SQLSTATE of what a server refuses now and may accept later: insufficient resources, system error (whole classes),
 * cancelled by a timeout, a lock not available, deadlock, serialization failure.
 */
const TRANSIENT = /^(53...|58...|57014|25P03|40001|40P01|55P03)$/

/**
 * Messages without a code, from pg and its pool, PGlite, ioredis, and a Redis that is loading, full or read-only, or a
 * cluster of which a part is missing.
 */
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
  'CLUSTERDOWN ',
  'TRYAGAIN ',
  'Too many Cluster redirections',
  'None of startup nodes is available',
  'Failed to refresh slots cache',
  'Cluster is ended',
]

/**
 * Whether an error means that the database or the fast store did not answer, whatever it was asked. Also looks at the
 * causes of the error.
 */
export function isAway(error: unknown): boolean {
  return anyCause(
    error,
    (one) =>
      SOCKET_CODES.has(codeOf(one)) ||
      CONNECTION.test(codeOf(one)) ||
      MESSAGES.some((message) => one.message.startsWith(message)),
  )
}

/**
 * Whether an error may be temporary, so that a retry may help: the store is unavailable, or it is overloaded, short of
 * something, or another transaction was in the way. What was asked may be the reason, too: bound the attempts.
 */
export const isTransient = (error: unknown): boolean =>
  isAway(error) || anyCause(error, (one) => TRANSIENT.test(codeOf(one)))

const codeOf = (error: Error): string => ('code' in error && typeof error.code === 'string' ? error.code : '')

const anyCause = (error: unknown, is: (one: Error) => boolean): boolean =>
  error instanceof Error && (is(error) || anyCause(error.cause, is))
