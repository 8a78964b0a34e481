/** The text of `league_table` for `migrate`. */
import { readFileSync } from 'node:fs'
import { repeatable } from './repeatable.ts'
import { withRules } from './rules.ts'

export const LEAGUE_TABLE = repeatable(
  'league_table',
  withRules(readFileSync(new URL('./league-table.sql', import.meta.url), 'utf8')),
)
