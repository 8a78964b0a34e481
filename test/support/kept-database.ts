/** The embedded database of a worker, which each of its test files gets as it was when it was new. */
import { sql } from 'kysely'
import type { Connection } from '../../db/postgres/connection.ts'

interface Row {
  readonly table: string
  readonly row: unknown
}

export class KeptDatabase {
  readonly #open: () => Promise<Connection>
  #kept: { readonly connection: Connection; readonly schema: string; readonly rows: readonly Row[] } | null = null

  /** `open` makes a migrated one, which takes a second. */
  constructor(open: () => Promise<Connection>) {
    this.#open = open
  }

  /** One file at a time. */
  async take(): Promise<Connection> {
    if (this.#kept === null) {
      const connection = await this.#open()
      const rows = await rowsOf(connection)
      this.#kept = { connection, schema: await schemaOf(connection), rows }
    }
    return this.#kept.connection
  }

  /** Removes what the file has written. One that has changed the schema leaves the next a new database. */
  async giveBack(): Promise<void> {
    if (this.#kept === null) return
    const { connection, schema, rows } = this.#kept
    this.#kept = null
    if ((await schemaOf(connection)) !== schema) return connection.close()
    await connection.db.transaction().execute(async (tx) => {
      // No trigger fires: the logs are append only.
      await sql`set local session_replication_role = replica`.execute(tx)
      const tables = await tablesOf({ db: tx })
      await sql`truncate ${sql.join(tables.map((table) => sql.table(table)))} restart identity cascade`.execute(tx)
      for (const { table, row } of rows) {
        await sql`insert into ${sql.table(table)} overriding system value
          select * from json_populate_record(null::${sql.table(table)}, ${JSON.stringify(row)}::json)`.execute(tx)
      }
    })
    // Its log is kept in memory until then.
    await sql`checkpoint`.execute(connection.db)
    this.#kept = { connection, schema, rows }
  }
}

async function rowsOf({ db }: Connection): Promise<readonly Row[]> {
  const found: Row[] = []
  for (const table of await tablesOf({ db })) {
    const { rows } = await sql<{ row: unknown }>`select to_json(t) as row from ${sql.table(table)} t`.execute(db)
    found.push(...rows.map(({ row }) => ({ table, row })))
  }
  return found
}

async function tablesOf({ db }: Pick<Connection, 'db'>): Promise<readonly string[]> {
  const { rows } = await sql<{ name: string }>`
    select relname as name from pg_class
     where relnamespace = 'public'::regnamespace and relkind in ('r', 'p') and not relispartition
     order by relname`.execute(db)
  return rows.map(({ name }) => name)
}

/** Changes whenever a table, an index, a constraint, a function or a setting of the database does. */
async function schemaOf({ db }: Connection): Promise<string> {
  const { rows } = await sql<{ digest: string }>`
    select md5(concat(
      (select string_agg(concat(oid, relname, relispartition, relnatts), ',' order by oid) from pg_class
        where relnamespace = 'public'::regnamespace),
      (select string_agg(concat(oid, conname), ',' order by oid) from pg_constraint),
      (select string_agg(concat(oid, proname, md5(prosrc)), ',' order by oid) from pg_proc
        where pronamespace = 'public'::regnamespace))) as digest`.execute(db)
  return rows[0]?.digest ?? ''
}
