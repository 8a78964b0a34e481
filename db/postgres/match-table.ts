/** The SQL of the tables of a match, of all users and of a district, for `migrate`. */
import { readFileSync } from 'node:fs'
import { repeatable } from './repeatable.ts'

const TEXT = readFileSync(new URL('./match-table.sql', import.meta.url), 'utf8')

/** An index serves each scope; a scope that is chosen in the statement would have none. */
const tableOf = (name: string, scope: string) =>
  repeatable(
    name,
    TEXT.replace('create function match_table(', `create function ${name}(`).replaceAll('{SCOPE}', scope),
  )

const OF_ALL = 'p.match_id = of_match and p.shown'

export const MATCH_TABLE = tableOf('match_table', OF_ALL)
export const DISTRICT_TABLE = tableOf('district_table', `${OF_ALL} and p.district_id = of_district`)
