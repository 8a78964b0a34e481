/** The rows of seasons. */
import type { Kysely } from 'kysely'
import type { Database } from '../../../db/postgres/schema.ts'

export interface SeasonEntriesTable {
  season: string
  user_id: string
  league_id: string
}

/** The database with the tables of seasons. */
export const withSeasons = (db: Kysely<Database>) => db.withTables<{ season_entries: SeasonEntriesTable }>()
