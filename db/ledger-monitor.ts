/** Samples the books and the backlog, cheaply enough for continuous monitoring. */
import { type Kysely, sql } from 'kysely'
import { present } from '../actors/kernel/assert.ts'
import { HOUR_MS, type Instant, instant, MINUTE_MS, SECOND_MS, type World } from '../actors/kernel/world.ts'
import { LAST_LEDGER_MONTH, MONTHS_AHEAD } from './months.ts'
import type { Database } from './postgres/schema.ts'

export interface BooksSample {
  /** Entries that were checked. */
  readonly entries: number
  /** Their sum over all accounts, in micros. Anything but 0 means that money has appeared or vanished. */
  readonly imbalanceMicros: number
  /** Transactions among them whose own entries do not sum to zero in each purse. */
  readonly unbalancedTransactions: number
  /** Wallets whose balance is not the sum of their entries, among a sample of those concerned. */
  readonly mismatchedWallets: number
}

export interface WorkLeft {
  /** Unsettled matches. */
  readonly unsettled: number
  /** Unsettled matches that kicked off more than four hours ago, without replays. */
  readonly overdue: number
  /** Unsettled matches whose stored state cannot be read, which wait for an operator. */
  readonly quarantined: number
  /** Commits without reactions yet, and the age of the oldest. */
  readonly unreacted: number
  readonly unreactedMs: number
  /** Commits whose reactions failed, which wait for an operator. */
  readonly setAside: number
  /** Closes whose pay would have taken a wallet past its limit, which wait for an operator. */
  readonly unpaid: number
  /** Of the next twelve months those in which no trade could be booked. */
  readonly monthsMissing: number
  /** How long the webhook that has failed longest has failed, disabled ones included; 0 if none fails. */
  readonly webhookFailingMs: number
  /** How long PostgreSQL has archived nothing of its log, while its attempts fail; else 0. */
  readonly archiveFailingMs: number
}

/** Entries carry the time of the decision. They are visible after the longest statement (10 s) and some clock skew. */
const SETTLED_AFTER_MS = 20 * SECOND_MS
/** Longest stretch per sample; after a longer absence several samples catch up. */
const WINDOW_MAX_MS = 5 * MINUTE_MS
const WALLETS_MAX = 20
/** From kick-off, including extra time, penalties and a long interruption. */
const OVERDUE_MS = 4 * HOUR_MS

export class LedgerMonitor {
  readonly #db: Kysely<Database>
  readonly #world: Pick<World, 'now'>
  /** Entries up to here have been checked. */
  #lookedUntil: Instant

  /** Begins with the entries of the last minute. Older ones are left to the audit of the whole ledger. */
  constructor(db: Kysely<Database>, world: Pick<World, 'now'>) {
    this.#db = db
    this.#world = world
    this.#lookedUntil = instant(world.now() - MINUTE_MS)
  }

  /** Adds up the entries since the last sample, each of them once. Must not be called again before it resolves. */
  async books(): Promise<BooksSample> {
    const now = this.#world.now()
    // Entries of a clock that was put back would not be looked at until it is where it was.
    const from = this.#lookedUntil > now ? instant(now - MINUTE_MS) : this.#lookedUntil
    const until = instant(Math.max(from, Math.min(now - SETTLED_AFTER_MS, from + WINDOW_MAX_MS)))
    const { rows } = await sql<BooksSample>`
      with recent as materialized (
        select tx, user_id, purse, amount_micros from ledger_entries
         where at >= ${new Date(from)}::timestamptz and at < ${new Date(until)}::timestamptz
      ), some_wallets as materialized (
        select distinct user_id, purse from recent where user_id is not null limit ${WALLETS_MAX}
      )
      select
        (select count(*) from recent) as entries,
        (select coalesce(sum(amount_micros), 0)::bigint from recent) as "imbalanceMicros",
        (select count(*) from (select from recent group by tx, purse having sum(amount_micros) <> 0) u)
          as "unbalancedTransactions",
        (select count(*) from some_wallets s left join wallets w using (user_id, purse)
          where w.balance_micros is distinct from
                coalesce((select amount_micros from closed_balances c
                           where c.user_id = s.user_id and c.purse = s.purse), 0)
                + coalesce((select sum(amount_micros)::bigint from ledger_entries e
                             where e.user_id = s.user_id and e.purse = s.purse
                               and e.at >= (select until from ledger_closed)), 0))
          as "mismatchedWallets"`.execute(this.#db)
    this.#lookedUntil = until
    return present(rows[0], 'sample')
  }

  async workLeft(): Promise<WorkLeft> {
    const now = this.#world.now()
    const { rows } = await sql<
      Omit<WorkLeft, 'unreactedMs' | 'webhookFailingMs' | 'archiveFailingMs'> &
        Record<'oldest' | 'failing' | 'archived', Date | null>
    >`
      with unreacted as (
        select count(*) as commits, min(o.at) as oldest
          from outbox_cursors c join outbox o on o.match_id = c.match_id and o.seq > c.seq
         where not c.finished
      )
      select (select count(*) from matches where settled_at is null) as unsettled,
             (select count(*) from matches
               where settled_at is null and not replay and starts_at < ${new Date(now - OVERDUE_MS)}::timestamptz
                 -- Put off before its kick-off, a match is played another day.
                 and (info ->> 'state' is distinct from 'POSTPONED' or info ->> 'kickedOffAt' is not null)) as overdue,
             (select count(*) from matches where quarantine is not null and settled_at is null) as quarantined,
             (select count(*) from outbox_failures) as "setAside", (select count(*) from unpaid_closes) as unpaid,
             (select greatest(0, ${MONTHS_AHEAD}::integer
                       - ((extract(year from last) - extract(year from today)) * 12
                          + extract(month from last) - extract(month from today)))
                from (select ${LAST_LEDGER_MONTH} as last,
                             ${new Date(now)}::timestamptz at time zone 'UTC' as today) m)::integer as "monthsMissing",
             commits as unreacted, oldest,
             (select min(failing_since) from webhooks where state <> 'paused') as failing,
             (select coalesce(last_archived_time, stats_reset) from pg_stat_archiver
               where last_failed_time > coalesce(last_archived_time, '-infinity')
                 and current_setting('archive_mode') <> 'off') as archived
        from unreacted`.execute(this.#db)
    const { oldest, failing, archived, ...counts } = present(rows[0], 'work left')
    const since = (at: Date | null): number => (at === null ? 0 : Math.max(0, now - at.getTime()))
    return {
      ...counts,
      unreactedMs: since(oldest),
      webhookFailingMs: since(failing),
      archiveFailingMs: since(archived),
    }
  }
}
