/** The id of an installation, under which it keeps keys in stores that it shares with others. */
import type { Kysely } from 'kysely'
import type { Database } from './postgres/schema.ts'

/** The id that the database was given when it was created. */
export async function installationOf(db: Kysely<Database>): Promise<string> {
  return (await db.selectFrom('installation').select('id').executeTakeFirstOrThrow()).id
}
