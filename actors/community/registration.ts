/** The rules of registration: valid usernames, and one-time codes. */

const LENGTH_MIN = 3
const LENGTH_MAX = 20
/** Names that could impersonate the operator or clash with addresses. */
const RESERVED: ReadonlySet<string> = new Set([
  'admin',
  'administrator',
  'anonymous',
  'api',
  'everyone',
  'game',
  'help',
  'house',
  'mod',
  'moderator',
  'null',
  'official',
  'root',
  'security',
  'staff',
  'support',
  'system',
  'team',
  'touchline',
  'undefined',
])

/**
 * Names that would be taken for us: with one of these words anywhere, with one at the end of a part (`sysadmins`), at
 * its beginning (`staffteam`; `supporter` and `stafford` are other words), or as a part (`ada_support`).
 */
const IMPERSONATING = [
  /touchline|administrator|moderator/,
  /admins?[0-9]*(_|$)/,
  /(^|_)(admin|official|security|staff(?!ord)|support(?!er|ing|ive))/,
  /(^|_)(deleted|root|system|team)s?[0-9]*(_|$)/,
]

export type UsernameFlaw = 'too_short' | 'too_long' | 'characters' | 'reserved'

/** Why this username is invalid, or null. Valid: 3 to 20 of a–z, 0–9 and _, first a letter, and not reserved. */
export function usernameFlaw(username: string): UsernameFlaw | null {
  if (!/^[a-z][a-z0-9_]*$/.test(username)) return username === '' ? 'too_short' : 'characters'
  if (username.length < LENGTH_MIN) return 'too_short'
  if (username.length > LENGTH_MAX) return 'too_long'
  return isReserved(username) ? 'reserved' : null
}

const isReserved = (username: string): boolean =>
  RESERVED.has(username) ||
  RESERVED.has(username.replace(/s$/, '')) ||
  IMPERSONATING.some((form) => form.test(username))

/**
 * An e-mail address as it is compared: only A to Z are lowered. Unicode lowers the Kelvin sign to a k, which would make
 * the addresses of two owners equal.
 */
export const emailKey = (email: string): string => email.replaceAll(/[A-Z]/g, (letter) => letter.toLowerCase())

const CODES = 1_000_000n
const DIGITS = 6

/** Six digits from unpredictable hex. With eight bytes all codes are equally likely, to one part in 10¹³. */
export function oneTimeCode(secret: string): string {
  return (BigInt(`0x${secret}`) % CODES).toString().padStart(DIGITS, '0')
}
