/** What registering asks for: usernames that can be had, and one-time codes. */

const LENGTH_MIN = 3
const LENGTH_MAX = 20
/** Names that would speak for us, or mean something in an address. */
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

export type UsernameFlaw = 'too_short' | 'too_long' | 'characters' | 'reserved'

/** Why nobody can have this username, or null: 3 to 20 of a–z, 0–9 and _, beginning with a letter, and not reserved. */
export function usernameFlaw(username: string): UsernameFlaw | null {
  if (!/^[a-z][a-z0-9_]*$/.test(username)) return username === '' ? 'too_short' : 'characters'
  if (username.length < LENGTH_MIN) return 'too_short'
  if (username.length > LENGTH_MAX) return 'too_long'
  return RESERVED.has(username) ? 'reserved' : null
}

const CODES = 1_000_000n
const DIGITS = 6

/** The six digits that unpredictable hex stands for. Eight bytes make every code as likely, to one part in 10¹³. */
export function oneTimeCode(secret: string): string {
  return (BigInt(`0x${secret}`) % CODES).toString().padStart(DIGITS, '0')
}
