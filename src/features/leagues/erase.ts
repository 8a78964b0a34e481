/** Erases a user from the texts that leagues keep. */
import { sql, type Transaction } from 'kysely'
import type { UserId } from '../../../actors/kernel/ids.ts'
import type { Database } from '../../../db/postgres/schema.ts'

/** The name of a league whose founder was erased. */
const NAMELESS = 'League'

/** Replaces the names that they gave their leagues, and their own name in notifications of who came first. */
export async function eraseFromLeagues(tx: Transaction<Database>, user: UserId): Promise<void> {
  // One that is being decided writes notices with these names until it commits.
  await sql`
    select from leagues where decided_at is null and id in (
      select id from leagues where founder_id = ${user}::uuid
      union select league_id from league_members where user_id = ${user}::uuid) order by id for update`.execute(tx)
  await sql`
    update notifications n
       set title = ${NAMELESS}::text || substr(n.title, length(l.name) + 1),
           data = n.data || jsonb_build_object('name', ${NAMELESS}::text)
      from leagues l join league_members m on m.league_id = l.id
     where l.founder_id = ${user}::uuid and n.user_id = m.user_id
       and n.source = 'league:' || l.id || ':' || m.user_id`.execute(tx)
  await sql`
    update notifications n
       set body = replace(n.body, u.username || ' came first', 'Another member came first'), data = n.data - 'winner'
      from users u join league_members own on own.user_id = u.id join league_members m on m.league_id = own.league_id
     where u.id = ${user}::uuid and n.user_id = m.user_id and n.data ->> 'winner' = u.username
       and n.source = 'league:' || m.league_id || ':' || m.user_id`.execute(tx)
  await tx.updateTable('leagues').set({ name: NAMELESS }).where('founder_id', '=', user).execute()
}
