/**
 * The settings of a database session that the program relies on, whatever the database, the role or the machine say.
 * Where they cannot be set, as behind a pooler, another value stops the start.
 */
import { type Kysely, sql } from 'kysely'
import type { Database } from './schema.ts'

/** What is set, and what else does as well. Nothing here depends on `lc_…`: no number or time is formatted by SQL. */
const SETTINGS: Readonly<Record<string, readonly [set: string, fits: RegExp]>> = {
  // How values are written: they are read back.
  datestyle: ['ISO', /^ISO\b/],
  intervalstyle: ['postgres', /^postgres$/],
  timezone: ['UTC', /^(Etc\/)?(UTC|UCT|GMT|Universal|Zulu)$/i],
  bytea_output: ['hex', /^hex$/],
  extra_float_digits: ['1', /^[1-3]$/],
  standard_conforming_strings: ['on', /^on$/],
  // Each step of `commit_batch` must see what was committed before it.
  default_transaction_isolation: ['read committed', /^read committed$/],
  default_transaction_deferrable: ['off', /^off$/],
}

/** Sets them when a connection is made, before any default of the database or the role. */
export const SESSION_OPTIONS = Object.entries(SETTINGS)
  .map(([name, [value]]) => `-c ${name}=${value.replaceAll(' ', '\\ ')}`)
  .join(' ')

/** A session has a setting under which the program would read or write something else. */
class SessionRefused extends Error {
  override name = 'SessionRefused'
}

/** Throws when a session has another setting, or would look for the tables elsewhere than in the schema `public`. */
export async function checkSession(db: Kysely<Database>): Promise<void> {
  const names = Object.keys(SETTINGS)
  const { rows } = await sql<{ name: string; value: string | null }>`
    select name, current_setting(name) as value from unnest(${sql.val(`{${names.join(',')}}`)}::text[]) n (name)
    union all select 'search_path', current_schema()`.execute(db)
  const wanted: typeof SETTINGS = { ...SETTINGS, search_path: ['public', /^public$/] }
  const wrong = rows.filter(({ name, value }) => wanted[name]?.[1].test(value ?? '') !== true)
  if (wrong.length === 0) return
  const said = wrong.map(({ name, value }) => `${name} is ${value ?? 'empty'}, not ${wanted[name]?.[0]}`).join('; ')
  throw new SessionRefused(`the settings of the database do not fit (${said}): set them for the role`)
}
