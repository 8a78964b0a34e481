/**
 * Functions of the database whose text belongs to this code. Each text is created once, under a name that ends in its
 * digest, and a process calls the one it was built with. So two versions side by side, during a release or after a
 * rollback, never run each other's function, and a change of parameters or result needs no care. Two texts are kept:
 * the one of the version that started last and the one of the version that started before it. More than two versions
 * side by side are not supported.
 */
import { createHash } from 'node:crypto'
import { sql, type Transaction } from 'kysely'
import { assert } from '../../actors/kernel/assert.ts'
import type { Database } from './schema.ts'

export interface Repeatable {
  readonly name: string
  readonly digest: string
  /** The function's name in the database. */
  readonly installedAs: string
  readonly statement: string
}

const KEPT = 2

/** The repeatable of a text with exactly one `create function <name>(`. */
export function repeatable(name: string, text: string): Repeatable {
  const digest = createHash('sha256').update(text).digest('hex')
  const installedAs = installedName(name, digest)
  const [before, after, ...more] = text.split(`create function ${name}(`)
  assert(before !== undefined && after !== undefined && more.length === 0, `the text creates ${name} not exactly once`)
  return { name, digest, installedAs, statement: `${before}create function ${installedAs}(${after}` }
}

/** What a function is called in the database that belongs to a text with this digest. */
export const installedName = (name: string, digest: string): string => `${name}_${digest.slice(0, 8)}`

/**
 * Creates those whose text this database does not have, drops what is no longer kept, and returns the created names.
 */
export async function install(
  tx: Transaction<Database>,
  repeatables: readonly Repeatable[],
): Promise<readonly string[]> {
  await sql`
    create table if not exists schema_repeatables (
      name text not null,
      digest text not null,
      started_at timestamptz not null,
      primary key (name, digest)
    )`.execute(tx)
  const created: string[] = []
  for (const one of repeatables) {
    const { rows: known } = await sql`
      update schema_repeatables set started_at = clock_timestamp()
       where name = ${one.name} and digest = ${one.digest} returning name`.execute(tx)
    if (known.length > 0) continue
    await sql.raw(one.statement).execute(tx)
    await sql`
      insert into schema_repeatables (name, digest, started_at)
      values (${one.name}, ${one.digest}, clock_timestamp())`.execute(tx)
    created.push(one.installedAs)
    await dropOthers(tx, one.name)
  }
  return created
}

async function dropOthers(tx: Transaction<Database>, name: string): Promise<void> {
  const { rows } = await sql<{ digest: string }>`
    delete from schema_repeatables where name = ${name} and digest not in (
      select digest from schema_repeatables where name = ${name} order by started_at desc limit ${KEPT})
    returning digest`.execute(tx)
  for (const { digest } of rows) {
    const { rows: functions } = await sql<{ proname: string }>`
      select proname from pg_proc where proname like ${`%${installedName('', digest).replace('_', String.raw`\_`)}`}`.execute(
      tx,
    )
    for (const { proname } of functions) await sql`drop function ${sql.id(proname)}`.execute(tx)
  }
}
