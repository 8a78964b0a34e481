/** The wallets of new users, one in each purse, filled through the ledger. */
import type { Transaction } from 'kysely'
import type { UserId } from '../actors/kernel/ids.ts'
import { STARTING_BALANCE } from '../actors/kernel/limits.ts'
import { PURSES } from '../actors/kernel/purse.ts'
import type { World } from '../actors/kernel/world.ts'
import type { Carried } from './departed.ts'
import { limitsOf } from './own-limits.ts'
import type { Database } from './postgres/schema.ts'

/**
 * Gives each of these new users their wallets, each with the starting balance, paid by the house. Those who are back
 * after an erasure are frozen and limited as they were.
 */
export async function grantStartingBalance(
  tx: Transaction<Database>,
  world: Pick<World, 'now' | 'newId'>,
  users: readonly UserId[],
  carried: ReadonlyMap<UserId, Carried> = new Map(),
): Promise<void> {
  if (users.length === 0) return
  const at = new Date(world.now())
  const wallets = users.flatMap((user) => {
    const { frozen = false, limits = null } = carried.get(user) ?? {}
    return PURSES.map((purse) => ({
      user_id: user,
      purse,
      balance_micros: STARTING_BALANCE,
      frozen,
      limits: limits === null ? null : limitsOf(purse, limits),
    }))
  })
  const entries = wallets.flatMap(({ user_id: user, purse, balance_micros: amount }) => {
    const entry = { tx: world.newId(), purse, kind: 'grant', reference: user, at } as const
    return [
      { ...entry, account: 'user', user_id: user, amount_micros: amount },
      { ...entry, account: 'house', amount_micros: -amount },
    ] as const
  })
  await tx.insertInto('wallets').values(wallets).execute()
  await tx.insertInto('ledger_entries').values(entries).execute()
}
