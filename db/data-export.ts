/**
 * Everything that is stored about one user, a page at a time. Each section is a table: its columns as they are, except
 * those that are left out by name. `test/db/data-export.pg.test.ts` compares this list with the schema.
 */
import { type Kysely, type RawBuilder, sql } from 'kysely'
import type { UserId } from '../actors/kernel/ids.ts'
import { isPlaceOf } from './parts.ts'
import type { Database } from './postgres/schema.ts'

/** Rows in one query and in memory. */
const PAGE = 500

/** A row as stored, with camel-case names and decimals for micros. */
export type ExportedRow = Readonly<Record<string, unknown>>

export interface Section {
  readonly name: string
  readonly table: string
  /** The rows of a user: `t` is the table. */
  readonly from: (user: UserId) => RawBuilder<unknown>
  /** What orders the rows of a user, and differs between any two of them. */
  readonly by: readonly (readonly [expression: string, type: string])[]
  /** Columns that say nothing about the user. */
  readonly without?: readonly string[]
}

/** Rows of a user, by the column that names them. */
export const ownRows =
  (table: string, column = 'user_id', where = 'true'): Section['from'] =>
  (user) =>
    sql`${sql.table(table)} t where t.${sql.ref(column)} = ${user}::uuid and ${sql.raw(where)}`

/** By table, in the order of the document. */
export const SECTIONS: readonly Section[] = [
  { name: 'profile', table: 'users', from: ownRows('users', 'id'), by: [['t.id', 'uuid']] },
  {
    name: 'registration',
    table: 'email_codes',
    from: (user) => sql`email_codes t where t.subject = (select google_sub from users where id = ${user}::uuid)`,
    by: [['t.subject', 'text']],
    without: ['code_id', 'digest', 'guesses'],
  },
  {
    name: 'sessions',
    table: 'sessions',
    from: ownRows('sessions'),
    by: [['t.id', 'uuid']],
    without: ['generation', 'rotation_key'],
  },
  {
    name: 'keys',
    table: 'personal_keys',
    from: (user) => sql`personal_keys t join sessions s on s.id = t.id where s.user_id = ${user}::uuid`,
    by: [['t.id', 'uuid']],
    without: ['digest'],
  },
  { name: 'wallets', table: 'wallets', from: ownRows('wallets'), by: [['t.purse', 'text']], without: ['version'] },
  {
    // Trades have markers, which their index is in the order of. The others are few.
    name: 'ledger',
    table: 'ledger_entries',
    from: ownRows('ledger_entries', 'user_id', 't.marker is not null'),
    by: [['t.marker', 'bigint']],
  },
  {
    name: 'ledgerOther',
    table: 'ledger_entries',
    from: ownRows('ledger_entries', 'user_id', 't.marker is null'),
    by: [
      ['t.purse', 'text'],
      ['t.reference', 'uuid'],
      ['t.kind', 'text'],
    ],
  },
  {
    // Found by the margin that each has cost, and parts by its release: positions have no index by user.
    name: 'positions',
    table: 'positions',
    from: (user) =>
      sql`ledger_entries e join all_positions t on t.id = e.reference and ${isPlaceOf('e', 't')}
          where e.user_id = ${user}::uuid and e.marker is not null`,
    by: [['e.marker', 'bigint']],
    without: ['answer_fingerprint'],
  },
  {
    name: 'voids',
    table: 'position_voids',
    from: (user) => sql`
      ledger_entries e join all_positions p on p.id = e.reference and ${isPlaceOf('e', 'p')}
        join position_voids t on t.position_id = p.id and p.closed_by = 'void'
       where e.user_id = ${user}::uuid and e.marker is not null`,
    by: [['e.marker', 'bigint']],
    without: ['by_id', 'command_id'],
  },
  { name: 'unpaidCloses', table: 'unpaid_closes', from: ownRows('unpaid_closes'), by: [['t.position_id', 'uuid']] },
  { name: 'accountEvents', table: 'account_events', from: ownRows('account_events'), by: [['t.marker', 'bigint']] },
  { name: 'notifications', table: 'notifications', from: ownRows('notifications'), by: [['t.id', 'bigint']] },
  { name: 'activity', table: 'activity', from: ownRows('activity'), by: [['t.id', 'bigint']] },
  { name: 'achievements', table: 'user_badges', from: ownRows('user_badges'), by: [['t.badge', 'text']] },
  { name: 'career', table: 'careers', from: ownRows('careers'), by: [['t.user_id', 'uuid']], without: ['version'] },
  {
    name: 'tradingDays',
    table: 'trade_days',
    from: ownRows('trade_days'),
    by: [
      ['t.day', 'integer'],
      ['t.what', 'text'],
    ],
  },
  { name: 'referrals', table: 'referrals', from: ownRows('referrals', 'referrer_id'), by: [['t.id', 'uuid']] },
  {
    name: 'referredBy',
    table: 'referrals',
    from: ownRows('referrals', 'referee_id'),
    by: [['t.id', 'uuid']],
    without: ['name'],
  },
  {
    name: 'audit',
    table: 'audit_log',
    from: (user) => sql`audit_log t where (t.subject = ${user}::text or t.actor_id = ${user}::uuid)`,
    by: [['t.id', 'bigint']],
    without: ['n', 'hash'],
  },
  {
    name: 'auditWords',
    table: 'audit_words',
    from: ownRows('audit_words', 'about'),
    by: [['t.digest', 'text']],
    without: ['salt'],
  },
]

/** Tables without a section, and why. */
export const NOT_EXPORTED: Readonly<Record<string, string>> = {
  districts: 'names of districts',
  ledger_closed: 'sums of the ledger',
  closed_balances: 'sums of ledger entries, which are in a section',
  detached_months: 'sums of the ledger',
  detached_balances: 'sums of ledger entries of months that were archived elsewhere',
  single_use: 'digests of used tokens, without a user, for minutes',
  departed: 'keyed digests of erased users, which lead to no user',
  registration_networks: 'counts by network and day',
  fixtures: 'football',
  feed_faults: 'what of the provider came to nothing',
  matches: 'football',
  match_leases: 'processes',
  instruments: 'football',
  anchors: 'football',
  ticks: 'prices',
  tape: 'what matches did, public and without names; a proof of an own position is asked for by its id',
  journal: 'what the provider has told of matches',
  recent_trades: 'anonymous trades',
  replays: 'recordings that operators have started; the audit log has who',
  command_results: 'answers kept for retries: the refusals and closes of seven days',
  positions_archive: 'positions of former matches, which are in the section of positions',
  outbox: 'the facts of positions once more, for rebuilding what is derived from them',
  outbox_archive: 'the same, of former matches',
  outbox_cursors: 'work of the server',
  outbox_failures: 'work of the server',
  event_ranges: 'work of the server',
  event_matches: 'work of the server',
  event_head: 'a number',
  board_changes: 'work of the server, for a second',
  settings: 'of the platform; the audit log has who',
  settings_version: 'a number',
  upkeep: 'work of the server',
  sweeps: 'work of the server',
  installation: 'a number',
  schema_migrations: 'work of the server',
  schema_repeatables: 'work of the server',
  processes: 'work of the server',
}

export class DataExport {
  readonly #db: Kysely<Database>
  readonly #sections: readonly Section[]

  /** `own` are the sections of features. */
  constructor(db: Kysely<Database>, own: readonly Section[]) {
    this.#db = db
    this.#sections = [...SECTIONS, ...own]
  }

  /** The rows of every section, at most 500 at a time: one page is in memory. No transaction is held. */ // Y1
  async *pages(user: UserId): AsyncGenerator<{ readonly section: string; readonly rows: readonly ExportedRow[] }> {
    for (const section of this.#sections) {
      let after: readonly unknown[] | null = null
      do {
        const page: Page = await this.#page(section, user, after)
        after = page.after
        yield { section: section.name, rows: page.rows }
      } while (after !== null)
    }
  }

  async #page(section: Section, user: UserId, after: readonly unknown[] | null): Promise<Page> {
    const keys = sql.join(section.by.map(([expression]) => sql.raw(expression)))
    const beyond =
      after === null
        ? sql``
        : sql`and (${keys}) > (${sql.join(
            after.map((value, n) => sql`${value}::${sql.raw(section.by[n]?.[1] ?? 'text')}`),
          )})`
    const { rows } = await sql<{ row: Record<string, unknown>; key: readonly unknown[] }>`
      select to_jsonb(t) as row, jsonb_build_array(${keys}) as key from ${section.from(user)} ${beyond}
       order by ${keys} limit ${PAGE}::integer`.execute(this.#db)
    return {
      rows: rows.map(({ row }) => exported(row, section.without ?? [])),
      after: rows.length < PAGE ? null : (rows.at(-1)?.key ?? null),
    }
  }
}

interface Page {
  readonly rows: readonly ExportedRow[]
  readonly after: readonly unknown[] | null
}

const MICROS = 1_000_000

function exported(row: Record<string, unknown>, without: readonly string[]): ExportedRow {
  const entries = Object.entries(row).filter(([column]) => !without.includes(column))
  return Object.fromEntries(
    entries.map(([column, value]) => {
      const isMicros = column.endsWith('_micros') && typeof value === 'number'
      const name = column.replace(/_micros$/, '').replaceAll(/_([a-z])/g, (_, letter: string) => letter.toUpperCase())
      return [name, isMicros ? value / MICROS : value]
    }),
  )
}
