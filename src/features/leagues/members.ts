/** Membership of a league: a wallet that the house fills once. */
import type { Transaction } from 'kysely'
import type { LeagueId, UserId } from '../../../actors/kernel/ids.ts'
import type { Money } from '../../../actors/kernel/micros.ts'
import { readLimits } from '../../../actors/kernel/own-limits.ts'
import type { World } from '../../../actors/kernel/world.ts'
import { limitsOf } from '../../../db/own-limits.ts'
import type { Database } from '../../../db/postgres/schema.ts'

/**
 * Makes a user a member, and gives them a wallet. They must never have been one. The caller has locked the user, so
 * that no freeze and no limit of theirs misses the wallet, then the league, and has checked that it has room.
 */ // G1
export async function admit(
  tx: Transaction<Database>,
  world: Pick<World, 'now' | 'newId'>,
  user: UserId,
  { id, starting }: { readonly id: LeagueId; readonly starting: Money },
): Promise<void> {
  const at = new Date(world.now())
  const {
    limits,
    status,
    erased_at: erased,
  } = await tx
    .selectFrom('users')
    .select(['limits', 'status', 'erased_at'])
    .where('id', '=', user)
    .executeTakeFirstOrThrow()
  await tx.insertInto('league_members').values({ league_id: id, user_id: user, joined_at: at }).execute()
  await tx
    .updateTable('leagues')
    .set(({ eb }) => ({ members: eb('members', '+', 1) }))
    .where('id', '=', id)
    .execute()
  await tx
    .insertInto('wallets')
    .values({
      user_id: user,
      purse: id,
      balance_micros: starting,
      frozen: status === 'frozen' || erased !== null,
      limits: limits === null ? null : limitsOf(id, readLimits(limits, 'limits')),
    })
    .execute()
  const entry = { tx: world.newId(), purse: id, kind: 'grant', reference: user, at } as const
  await tx
    .insertInto('ledger_entries')
    .values([
      { ...entry, account: 'user', user_id: user, amount_micros: starting },
      { ...entry, account: 'house', amount_micros: -starting },
    ])
    .execute()
}
