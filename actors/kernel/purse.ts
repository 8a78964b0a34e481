/**
 * Purses. A user has one wallet in each: with a balance, a limit of open positions, ledger accounts and boards of its
 * own. No money passes from one purse to another.
 */

/** `main`: the game. `practice`: recordings, whose outcome anybody may know. */
export const PURSES = ['main', 'practice'] as const
export type Purse = (typeof PURSES)[number]

/** A wallet: one user's part of one purse. */
export interface WalletKey<User> {
  readonly userId: User
  readonly purse: Purse
}
