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
 * cancelled by a timeout, a lock not available, deadlock, serialization failure; and a write that a read-only server
 * refuses, as during a switchover: no transaction of ours that writes is read-only.
 */
const TRANSIENT = /^(53...|58...|57014|25006|25P03|40001|40P01|55P03)$/

/** Messages without a code, from pg and its pool, PGlite, ioredis, and the fast store in memory when it is full. */
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
  'OOM ',
  'Too many Cluster redirections',
  'None of startup nodes is available',
  'Failed to refresh slots cache',
  'Cluster is ended',
]

/** Redis 6.2 puts what was refused inside a script behind this; later versions say it as elsewhere. */
const IN_SCRIPT = /^ERR Error running script \(call to \w+\): @user_script:\d+: @user_script: ?\d+: -?/

/** Redis objects to the script or command itself: a mistake of this program. */
const OWN_MISTAKE =
  /^ERR (Error (compiling|running) script|user_script:|wrong number of arguments|syntax error|value is not|invalid expire|Write commands are not allowed)/

/**
 * Anything else that Redis answers with an error is a refusal, whatever its words: it is full, loading, read-only,
 * short of replicas, forbids the command or wants a password. The words differ between versions and proxies.
 */
const isRedisRefusal = ({ name, message }: Error): boolean =>
  REDIS_ERRORS.has(name) && !OWN_MISTAKE.test(message.replace(IN_SCRIPT, ''))

/** `ParserError`: what answers does not speak the protocol. `AbortError`: the connection broke before the answer. */
const REDIS_ERRORS = new Set(['ReplyError', 'ParserError', 'AbortError', 'InterruptError'])

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
      isRedisRefusal(one) ||
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
