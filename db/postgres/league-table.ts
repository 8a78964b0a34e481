/** The text of `league_table` for `migrate`. */
import { readFileSync } from 'node:fs'
import { repeatable } from './repeatable.ts'

export const LEAGUE_TABLE = repeatable(
  'league_table',
  readFileSync(new URL('./league-table.sql', import.meta.url), 'utf8'),
)
