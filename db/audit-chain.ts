/**
 * The chain of the audit log. An entry is appended without a place in it, so that writers never wait for one another.
 * Sealing gives committed entries the next numbers, without a gap, and each a hash over its number, its text and the
 * hash before it. An entry that is altered, missing or moved later breaks the chain there. A chain that was rewritten
 * as a whole, or cut at its end, is found by comparing it with a hash noted elsewhere. The server logs the last hash
 * whenever it seals.
 */
import { createHash } from 'node:crypto'
import { type Kysely, sql } from 'kysely'
import { type Instant, instant } from '../actors/kernel/world.ts'
import { bigints, texts } from './postgres/arrays.ts'
import type { Database } from './postgres/schema.ts'

/** The last entry of the chain at some time. */
export interface ChainHead {
  readonly n: number
  readonly hash: string
}

export interface SealedEntry {
  readonly action: string
  readonly subject: string
  /** As JSON. */
  readonly after: string | null
  readonly outcome: string
}

export interface Sealed {
  readonly entries: readonly SealedEntry[]
  /** Null if nothing was sealed. */
  readonly head: ChainHead | null
}

export interface ChainReport {
  /** The last entry that holds; null if there is none. */
  readonly head: ChainHead | null
  /** The first thing that does not hold; null if the chain is whole. */
  readonly broken: string | null
  /** Entries that wait to be sealed, and since when; null for none. */
  readonly unsealed: { readonly entries: number; readonly since: Instant } | null
}

/** Entries per transaction, and per page of a check. */
const PAGE = 1_000
/** What the first entry continues. */
const GENESIS = '0'.repeat(64)

export class AuditChain {
  readonly #db: Kysely<Database>

  constructor(db: Kysely<Database>) {
    this.#db = db
  }

  /**
   * Seals up to a thousand committed entries in the order of their ids. Of several processes one seals at a time, the
   * others find nothing to do, so each entry is returned once. An entry that commits after later ones comes after them.
   */
  async seal(): Promise<Sealed> {
    return this.#db.transaction().execute(async (tx) => {
      const { rows: locked } = await sql<{ mine: boolean }>`
        select pg_try_advisory_xact_lock(hashtextextended('touchline audit chain', 0)) as mine`.execute(tx)
      if (locked[0]?.mine !== true) return NOTHING
      const rows = await entries(tx).where('n', 'is', null).orderBy('id').limit(PAGE).execute()
      if (rows.length === 0) return NOTHING
      const last = await tx
        .selectFrom('audit_log')
        .select(['n', 'hash'])
        .where('n', 'is not', null)
        .orderBy('n', 'desc')
        .limit(1)
        .executeTakeFirst()
      let [n, hash] = [last?.n ?? 0, last?.hash ?? GENESIS]
      const hashes = rows.map((row) => (hash = hashOf(row, ++n, hash)))
      await sql`
        update audit_log a set n = ${n - rows.length}::bigint + s.place, hash = s.hash
          from unnest(${bigints(rows.map(({ id }) => id))}::bigint[], ${texts(hashes)}::text[])
               with ordinality s (id, hash, place)
         where a.id = s.id`.execute(tx)
      return { entries: rows, head: { n, hash } }
    })
  }

  /** Reads the whole chain. `noted` are heads that were written down before: each must still be in it. */
  async check(noted: readonly ChainHead[] = []): Promise<ChainReport> {
    const expected = Map.groupBy(noted, ({ n }) => n)
    let head: ChainHead = { n: 0, hash: GENESIS }
    let broken: string | null = null
    for (;;) {
      const rows = await entries(this.#db)
        .select(['n', 'hash'])
        .where('n', '>', head.n)
        .orderBy('n')
        .limit(PAGE)
        .execute()
      for (const row of rows) {
        broken = wrongWith(row, head, expected.get(head.n + 1))
        if (broken !== null) break
        head = { n: head.n + 1, hash: row.hash ?? GENESIS }
      }
      if (broken !== null || rows.length < PAGE) break
    }
    const cut = noted.find(({ n }) => n > head.n)
    if (broken === null && cut !== undefined)
      broken = `the chain ends at entry ${head.n}, before the noted entry ${cut.n}`
    return { head: head.n === 0 ? null : head, broken, unsealed: await this.#unsealed() }
  }

  async #unsealed(): Promise<ChainReport['unsealed']> {
    const { count, since } = await this.#db
      .selectFrom('audit_log')
      .where('n', 'is', null)
      .select((eb) => [eb.fn.countAll<number>().as('count'), eb.fn.min('at').as('since')])
      .executeTakeFirstOrThrow()
    return since === null ? null : { entries: count, since: instant(new Date(since).getTime()) }
  }
}

const NOTHING: Sealed = { entries: [], head: null }

/** Entries as the text that is hashed: what PostgreSQL prints for each column, the instant in microseconds. */
const entries = (db: Kysely<Database>) =>
  db
    .selectFrom('audit_log')
    .select(['id', 'action', 'subject', 'outcome'])
    .select([
      sql<string>`(extract(epoch from at) * 1000000)::bigint::text`.as('micros'),
      sql<string | null>`actor_id::text`.as('actor'),
      sql<string | null>`before::text`.as('before'),
      sql<string | null>`after::text`.as('after'),
    ])

interface EntryText extends SealedEntry {
  readonly id: number
  readonly micros: string
  readonly actor: string | null
  readonly before: string | null
}

function hashOf(entry: EntryText, n: number, previous: string): string {
  const { id, micros, actor, action, subject, before, after, outcome } = entry
  const line = JSON.stringify([n, previous, id, micros, actor, action, subject, before, after, outcome])
  return createHash('sha256').update(line).digest('hex')
}

type Placed = EntryText & { readonly n: number | null; readonly hash: string | null }

function wrongWith(row: Placed, { n, hash }: ChainHead, noted: readonly ChainHead[] = []): string | null {
  if (row.n !== n + 1) return `entry ${n + 1} is missing`
  if (row.hash !== hashOf(row, row.n, hash)) return `entry ${row.n} (id ${row.id}) was altered or moved`
  if (noted.some((head) => head.hash !== row.hash)) return `entry ${row.n} has another hash than the one noted`
  return null
}
