/** Which installation a database is: the name under which it keeps things in stores that it may share with others. */
import type { Kysely } from 'kysely'
import type { Database } from './postgres/schema.ts'

/** The id that the database was given when it was made. */
export async function installationOf(db: Kysely<Database>): Promise<string> {
  return (await db.selectFrom('installation').select('id').executeTakeFirstOrThrow()).id
}
