/**
 * Purses. A user has one wallet in each: with a balance, a limit of open positions, ledger accounts and boards of its
 * own. No money passes from one purse to another.
 */
import { type LeagueId, leagueId } from './ids.ts'
import { type Reader, text, Unreadable } from './read.ts'

/** `main`: the game. `practice`: recordings, whose outcome users may know. Every user has both. */
export const PURSES = ['main', 'practice'] as const
export type CommonPurse = (typeof PURSES)[number]

/** A league's purse has the id of the league. Its members have a wallet in it. */
export type Purse = CommonPurse | LeagueId

export const isCommon = (purse: Purse): purse is CommonPurse => purse === 'main' || purse === 'practice'

/** A purse by its name: `main`, `practice`, or the UUID of a league in lower case; null for anything else. */
export function purseNamed(name: string): Purse | null {
  const common = PURSES.find((one) => one === name)
  if (common !== undefined) return common
  return LEAGUE_PATTERN.test(name) ? leagueId(name) : null
}

const LEAGUE_PATTERN = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/

/** Reads a purse that was stored or sent. */
export const readPurse: Reader<Purse> = (value, path) => {
  const name = text(value, path)
  const purse = purseNamed(name)
  if (purse === null) throw new Unreadable(path, name, 'a purse')
  return purse
}

/** A wallet: one user's part of one purse. */
export interface WalletKey<User> {
  readonly userId: User
  readonly purse: Purse
}
