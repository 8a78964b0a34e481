/** Reads whose results one answer puts side by side. */
import type { Kysely, Transaction } from 'kysely'
import type { Database } from './schema.ts'

/** Reads in one snapshot: no commit falls between two of the reads, so what they return agrees. */
export function inSnapshot<T>(db: Kysely<Database>, read: (snapshot: Transaction<Database>) => Promise<T>): Promise<T> {
  return db.transaction().setIsolationLevel('repeatable read').setAccessMode('read only').execute(read)
}
