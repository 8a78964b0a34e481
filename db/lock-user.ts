import { sql, type Transaction } from 'kysely'
import type { UserId } from '../actors/kernel/ids.ts'
import type { Database } from './postgres/schema.ts'

/** The account was erased while its last request was on its way, or never existed. */
export class UserGone extends Error {
  override name = 'UserGone'

  constructor() {
    super('the account is gone')
  }
}

/**
 * Locks a user until the transaction ends: their changes come one after the other, and none after their erasure.
 * Throws `UserGone`. Not `for update`: notices refer to users, and must not wait.
 */
export async function lockUser(tx: Transaction<Database>, user: UserId): Promise<void> {
  const { rows } = await sql`
    select 1 from users where id = ${user}::uuid and erased_at is null for no key update`.execute(tx)
  if (rows.length === 0) throw new UserGone()
}
