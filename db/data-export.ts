/**
 * Everything that is stored about one user, a page at a time. Each section is a table: its columns as they are, except
 * those that are left out by name. `test/db/data-export.pg.test.ts` compares this list with the schema.
 */
import { type Kysely, type RawBuilder, sql } from 'kysely'
import type { UserId } from '../actors/kernel/ids.ts'
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

const own =
  (table: string, column = 'user_id', where = 'true'): Section['from'] =>
  (user) =>
    sql`${sql.table(table)} t where t.${sql.ref(column)} = ${user}::uuid and ${sql.raw(where)}`

/** By table, in the order of the document. */
export const SECTIONS: readonly Section[] = [
  { name: 'profile', table: 'users', from: own('users', 'id'), by: [['t.id', 'uuid']] },
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
    from: own('sessions'),
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
  { name: 'wallets', table: 'wallets', from: own('wallets'), by: [['t.purse', 'text']], without: ['version'] },
  {
    // Trades have markers, which their index is in the order of. The others are few.
    name: 'ledger',
    table: 'ledger_entries',
    from: own('ledger_entries', 'user_id', 't.marker is not null'),
    by: [['t.marker', 'bigint']],
  },
  {
    name: 'ledgerOther',
    table: 'ledger_entries',
    from: own('ledger_entries', 'user_id', 't.marker is null'),
    by: [
      ['t.purse', 'text'],
      ['t.reference', 'uuid'],
      ['t.kind', 'text'],
    ],
  },
  {
    // Found by the margin that each has cost: positions have no index by user.
    name: 'positions',
    table: 'positions',
    from: (user) =>
      sql`ledger_entries e join all_positions t on t.id = e.reference and t.opened_marker = e.marker
          where e.user_id = ${user}::uuid and e.kind = 'margin' and e.marker is not null`,
    by: [['e.marker', 'bigint']],
    without: ['answer_fingerprint'],
  },
  {
    name: 'voids',
    table: 'position_voids',
    from: (user) => sql`
      ledger_entries e join position_voids t on t.position_id = e.reference
       where e.user_id = ${user}::uuid and e.kind = 'margin' and e.marker is not null`,
    by: [['e.marker', 'bigint']],
    without: ['by_id', 'command_id'],
  },
  { name: 'unpaidCloses', table: 'unpaid_closes', from: own('unpaid_closes'), by: [['t.position_id', 'uuid']] },
  { name: 'accountEvents', table: 'account_events', from: own('account_events'), by: [['t.marker', 'bigint']] },
  { name: 'notifications', table: 'notifications', from: own('notifications'), by: [['t.id', 'bigint']] },
  {
    name: 'browsers',
    table: 'push_subscriptions',
    from: own('push_subscriptions'),
    by: [['t.id', 'uuid']],
    without: ['p256dh', 'auth'],
  },
  { name: 'activity', table: 'activity', from: own('activity'), by: [['t.id', 'bigint']] },
  { name: 'leagues', table: 'league_members', from: own('league_members'), by: [['t.league_id', 'uuid']] },
  { name: 'seasons', table: 'season_entries', from: own('season_entries'), by: [['t.season', 'text']] },
  {
    name: 'ranks',
    table: 'match_ranks',
    from: own('match_ranks'),
    by: [
      ['t.purse', 'text'],
      ['t.match_id', 'bigint'],
    ],
  },
  { name: 'leaguesFounded', table: 'leagues', from: own('leagues', 'founder_id'), by: [['t.id', 'uuid']] },
  { name: 'achievements', table: 'user_badges', from: own('user_badges'), by: [['t.badge', 'text']] },
  { name: 'career', table: 'careers', from: own('careers'), by: [['t.user_id', 'uuid']], without: ['version'] },
  {
    name: 'tradingDays',
    table: 'trade_days',
    from: own('trade_days'),
    by: [
      ['t.day', 'integer'],
      ['t.what', 'text'],
    ],
  },
  {
    name: 'weekScores',
    table: 'week_scores',
    from: (user) => sql`spinner_weeks w join week_scores t on t.week = w.week and t.user_id = ${user}::uuid where true`,
    by: [['t.week', 'text']],
  },
  { name: 'referrals', table: 'referrals', from: own('referrals', 'referrer_id'), by: [['t.id', 'uuid']] },
  {
    name: 'referredBy',
    table: 'referrals',
    from: own('referrals', 'referee_id'),
    by: [['t.id', 'uuid']],
    without: ['name'],
  },
  { name: 'legacyTrades', table: 'legacy_trades', from: own('legacy_trades'), by: [['t.id', 'text']] },
  {
    name: 'audit',
    table: 'audit_log',
    from: (user) => sql`audit_log t where (t.subject = ${user}::text or t.actor_id = ${user}::uuid)`,
    by: [['t.id', 'bigint']],
    without: ['n', 'hash'],
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
  matches: 'football',
  match_leases: 'processes',
  instruments: 'football',
  anchors: 'football',
  ticks: 'prices',
  tape: 'what matches did, public and without names; a proof of an own position is asked for by its id',
  tape_checkpoints: 'signatures over the tapes',
  tape_keys: 'public keys',
  journal: 'what the provider has told of matches',
  recent_trades: 'anonymous trades',
  replays: 'recordings that operators have started; the audit log has who',
  uploads: 'recordings that operators have uploaded; the audit log has who',
  command_results: 'answers kept for retries: the refusals and closes of seven days',
  positions_archive: 'positions of former matches, which are in the section of positions',
  outbox: 'the facts of positions once more, for rebuilding what is derived from them',
  outbox_archive: 'the same, of former matches',
  outbox_cursors: 'work of the server',
  outbox_failures: 'work of the server',
  event_ranges: 'work of the server',
  event_matches: 'work of the server',
  event_head: 'a number',
  webhooks: 'where operators are told what happens; the audit log has who',
  league_matches: 'which matches a league has chosen',
  ranked_matches: 'which matches have been ranked',
  tournaments: 'what is played as a tournament',
  push_outbox: 'work of the server: notifications that are on their way to browsers',
  board_changes: 'work of the server, for a second',
  spinner_weeks: 'public draws; the scores are in weekScores',
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

  constructor(db: Kysely<Database>) {
    this.#db = db
  }

  /** The rows of every section, at most 500 at a time: one page is in memory. No transaction is held. */ // Y1
  async *pages(user: UserId): AsyncGenerator<{ readonly section: string; readonly rows: readonly ExportedRow[] }> {
    for (const section of SECTIONS) {
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
