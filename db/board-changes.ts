/** Changes whether users are on the boards. */
import type { Kysely, Transaction } from 'kysely'
import type { UserId } from '../actors/kernel/ids.ts'
import type { Database } from './postgres/schema.ts'

/** Makes the tables in which a user has a place rank again, in the transaction that takes or gives it. */
export type Reranker = (tx: Transaction<Database>, user: UserId) => Promise<void>

/**
 * Gives the user's standing a new version. To be called first in a transaction that then changes whether they are on
 * the boards: careers are locked before users and wallets.
 */
export async function markBoardsChanged(tx: Transaction<Database>, user: UserId): Promise<void> {
  const career = await tx
    .updateTable('careers')
    .set((eb) => ({ version: eb('version', '+', 1) }))
    .where('user_id', '=', user)
    .returning('version')
    .executeTakeFirst()
  if (career === undefined) return
  await tx
    .insertInto('board_changes')
    .values({ user_id: user, version: career.version })
    .onConflict((on) => on.column('user_id').doUpdateSet({ version: career.version }))
    .execute()
}

/** Takes a user off the boards and the activity, or puts them back; false for an unknown user. */ // Y6
export function hideFromBoards(
  db: Kysely<Database>,
  user: UserId,
  hidden: boolean,
  rerankers: readonly Reranker[] = [],
): Promise<boolean> {
  return db.transaction().execute(async (tx) => {
    await markBoardsChanged(tx, user)
    const { numUpdatedRows } = await tx
      .updateTable('users')
      .set({ hidden_from_boards: hidden })
      .where('id', '=', user)
      .where('erased_at', 'is', null)
      .executeTakeFirstOrThrow()
    for (const rerank of rerankers) await rerank(tx, user)
    return numUpdatedRows > 0n
  })
}
