/** The ways in which a client can be hostile, and the order that an attacking process gets. */

export const ATTACKS = {
  'never read': 'follow everything and never read',
  'a byte a second': 'follow everything and read a byte a second',
  'no acknowledgement': 'take a seat in the room and never acknowledge the join',
  'a thousand requests': 'ask a thousand times a second, and reconnect when closed',
  pings: 'send pings by the thousand and read no answer',
  'unknown players': 'name unknown instruments, as many and as often as allowed',
  'ten megabytes': 'send messages of 10 MiB',
  garbage: 'send random bytes after the handshake',
  'half-open': 'connect and send nothing',
  'false tokens': 'connect with tokens of another type, altered and made up',
  'slow handshake': 'send the request a byte a second',
  'seats, one user': 'ask for seats in unknown matches on 200 connections, as one user from everywhere',
  'seats, no user': 'ask for seats without a token on 200 connections, from one address',
  'seats, not taken': 'ask for seats in a match in play on 200 connections, and take none',
  probes: 'ask for /ready on 200 connections, from one address',
  'handshakes, one user': 'open sockets with a valid token on 200 connections, as one user from everywhere',
  'keys, made up': 'ask with invented personal keys of the right form on 200 connections, from one address',
  'handshakes, refused': 'open sockets with false tokens on 200 connections, from everywhere',
  'orders, one player': 'order the same player on 200 connections, as a thousand users from everywhere',
  'orders, unpayable': 'order more than any wallet holds on 200 connections, as a thousand users from everywhere',
  'tapes, HEAD': 'ask for the head of every tape on 200 connections, from everywhere',
  'tapes, unread': 'download tapes and lists from everywhere, and read nothing of them',
  'uploads, no user': 'send large recordings without signing in, of no declared length and without an end',
  'sign-ins, slow': 'begin sign-ins from everywhere, and send their bodies a byte a second',
  'push, hanging': 'register browsers whose push service accepts connections and never answers, and lose margins',
} as const
export type Attack = keyof typeof ATTACKS

/** These are made on as many connections, without a pause. */
export const FLOODS: Partial<Record<Attack, number>> = {
  'seats, one user': 200,
  'seats, no user': 200,
  'seats, not taken': 200,
  probes: 200,
  'keys, made up': 200,
  'handshakes, one user': 200,
  'handshakes, refused': 200,
  'orders, one player': 200,
  'orders, unpayable': 200,
  'tapes, HEAD': 200,
}

/** The accounts of all attackers. */
export const ACCOUNTS = 1_000

/** Minimum seconds for these, to reach the deadline at which they are cut off. */
export const LEAST_SECONDS: Partial<Record<Attack, number>> = {
  'half-open': 45,
  'slow handshake': 15,
  'tapes, unread': 15,
  'uploads, no user': 20,
  'sign-ins, slow': 20,
  'push, hanging': 20,
}

export interface AttackOrder {
  readonly url: string
  readonly attack: Attack
  readonly attackers: number
  readonly tokens: readonly string[]
  readonly instrumentIds: readonly string[]
  readonly fixtureId: number
}

/** How often attackers ended in each way: a close code, an HTTP status, or still connected. */
export type Ends = Readonly<Record<string, number>>
