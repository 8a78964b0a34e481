/** The wallets of new users, one in each purse, filled through the ledger. */
import type { Transaction } from 'kysely'
import type { UserId } from '../actors/kernel/ids.ts'
import { STARTING_BALANCE } from '../actors/kernel/limits.ts'
import { PURSES } from '../actors/kernel/purse.ts'
import type { World } from '../actors/kernel/world.ts'
import type { Database } from './postgres/schema.ts'

/** Gives each of these new users their wallets, each with the starting balance, paid by the house. */
export async function grantStartingBalance(
  tx: Transaction<Database>,
  world: Pick<World, 'now' | 'newId'>,
  users: readonly UserId[],
): Promise<void> {
  if (users.length === 0) return
  const at = new Date(world.now())
  const wallets = users.flatMap((user) => PURSES.map((purse) => ({ user_id: user, purse })))
  const entries = wallets.flatMap(({ user_id: user, purse }) => {
    const entry = { tx: world.newId(), purse, kind: 'grant', reference: user, at } as const
    return [
      { ...entry, account: 'user', user_id: user, amount_micros: STARTING_BALANCE },
      { ...entry, account: 'house', amount_micros: -STARTING_BALANCE },
    ] as const
  })
  await tx
    .insertInto('wallets')
    .values(wallets.map((wallet) => ({ ...wallet, balance_micros: STARTING_BALANCE })))
    .execute()
  await tx.insertInto('ledger_entries').values(entries).execute()
}
