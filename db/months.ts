/**
 * The partitions by month (UTC): making those of the ledger that will be needed, and detaching old ones. A detached
 * month is a table of its own, which can be dumped and dropped, or attached again.
 */
import { type Kysely, type RawBuilder, sql } from 'kysely'
import { assert, present } from '../actors/kernel/assert.ts'
import { HOUR_MS, type World } from '../actors/kernel/world.ts'
import type { Database } from './postgres/schema.ts'

/** Made in advance, so that there is most of a year to notice that none are made: trades could not be booked. */
export const MONTHS_AHEAD = 12
/** A match that begins so soon after a month may have been traded in it. */
const SOON_MS = 8 * 24 * HOUR_MS

/** What has partitions. */
const PARENTS = ['ledger_trades', 'positions_archive', 'outbox_archive'] as const
type Parent = (typeof PARENTS)[number]

/** Such as `2026-12`. What the ledger had before it had months is one table, which stays. */
export type Month = string

export interface MonthSize {
  readonly table: string
  readonly rows: number
  readonly bytes: number
}

/** The newest month of the ledger, as a date. */
export const LAST_LEDGER_MONTH = sql`(
  select to_date(right(max(c.relname::text), 7), 'YYYY_MM') from pg_inherits i join pg_class c on c.oid = i.inhrelid
   where i.inhparent = 'ledger_trades'::regclass and c.relname ~ '_\\d{4}_\\d{2}$')`

/** Of a row `d` with a `month`: whether that month of the ledger is detached now, or being detached. */
export const IS_DETACHED = sql<boolean>`not exists (
  select from pg_inherits i where i.inhparent = 'ledger_trades'::regclass and not i.inhdetachpending
     and i.inhrelid = to_regclass('ledger_trades_' || replace(d.month, '-', '_')))`

/** Of a month of an archive, such as `2026_12`: whether it is detached now, or being detached. */
function isApart(parent: Parent, month: string): RawBuilder<boolean> {
  const table = sql.raw(`to_regclass('${parent}_' || ${month})`)
  return sql<boolean>`(${table} is not null and not exists (
    select from pg_inherits i where i.inhrelid = ${table} and not i.inhdetachpending))`
}

/** Of a time of a row of an archive: whether the month that it belongs to is detached now, or being detached. */
export const isAway = (parent: Parent, at: string): RawBuilder<boolean> =>
  isApart(parent, `to_char(${at} at time zone 'UTC', 'YYYY_MM')`)

/** Of a row `d` with a `month`: whether its events are not among all others. They go first and come back last. */
export const IS_WITHOUT_EVENTS = sql<boolean>`(${IS_DETACHED} or ${isApart('outbox_archive', "replace(d.month, '-', '_')")})`

export class Months {
  readonly #db: Kysely<Database>
  readonly #world: Pick<World, 'now'>

  constructor(db: Kysely<Database>, world: Pick<World, 'now'>) {
    this.#db = db
    this.#world = world
  }

  /** Makes the ledger's partitions of the next twelve months, as far as they are missing. Returns how many. */
  async make(): Promise<number> {
    const { rows } = await sql<{ made: number }>`
      select count(*) filter (where add_month('ledger_trades', month::date)) as made
        from generate_series(${LAST_LEDGER_MONTH} + interval '1 month',
                             date_trunc('month', ${new Date(this.#world.now())}::timestamptz at time zone 'UTC')
                               + make_interval(months => ${MONTHS_AHEAD}::integer), interval '1 month') month`.execute(
      this.#db,
    )
    return present(rows[0], 'months of the ledger').made
  }

  /** All partitions that are attached, by name, with about as many rows as they have. */
  async list(): Promise<readonly MonthSize[]> {
    const { rows } = await sql<MonthSize>`
      select c.relname::text as table, greatest(0, c.reltuples)::bigint as rows,
             pg_total_relation_size(c.oid)::bigint as bytes
        from pg_inherits i join pg_class c on c.oid = i.inhrelid join pg_class p on p.oid = i.inhparent
       where p.relname = any(${sql.lit(`{${PARENTS.join(',')}}`)}::text[]) order by 1`.execute(this.#db)
    return rows
  }

  /**
   * Why a month cannot be detached yet; null if it can. It must be closed in the ledger, and all matches of it must be
   * history.
   */
  async obstacle(month: Month): Promise<string | null> {
    if (!(await this.#isAttached('ledger_trades', month))) return `there is no month ${month} in the ledger`
    const { rows: ends } = await sql<{ until: Date | null }>`
      select substring(pg_get_expr(c.relpartbound, c.oid) from 'TO \\(''([^'']+)''')::timestamptz as until
        from pg_class c where c.oid = to_regclass(${tableOf('ledger_trades', month)})`.execute(this.#db)
    const until = present(ends[0]?.until ?? undefined, 'end of the month')
    const { rows } = await sql<{ closed: boolean; matches: number }>`
      select (select l.until >= ${until}::timestamptz from ledger_closed l) as closed,
             (select count(*) from matches m
               where m.archived_at is null
                 -- Of an unsettled one nothing is archived: its positions say whether it has been traded.
                 and (m.settled_at is not null and least(m.starts_at, m.settled_at)
                        < ${until}::timestamptz + ${SOON_MS}::integer * interval '1 millisecond'
                      or exists (select from positions p where p.match_id = m.id and p.opened_at < ${until}::timestamptz)))
               as matches`.execute(this.#db)
    const { closed, matches } = present(rows[0], 'state of the month')
    if (!closed) return `the ledger is not closed up to ${until.toISOString()}`
    return matches === 0 ? null : `${matches} matches up to eight days after ${until.toISOString()} are not archived`
  }

  /**
   * Detaches a month: its rows stay in tables of their own, and what is added up from the ledger takes their sums. An
   * attempt that was interrupted is continued. It takes no lock that trading waits for, but waits itself for every
   * statement that reads the same history. Throws if there is an obstacle.
   */ // D20
  async detach(month: Month): Promise<readonly string[]> {
    const obstacle = await this.obstacle(month)
    assert(obstacle === null, obstacle ?? '')
    await this.#keepSums(month)
    const detached: string[] = []
    // The ledger last: while it is attached, an attempt can be made again.
    for (const parent of PARENTS.toReversed()) {
      if (!(await this.#isAttached(parent, month))) continue
      const [whole, part] = [sql.table(parent), sql.table(tableOf(parent, month))]
      const isPending = await this.#isPending(parent, month)
      await sql`alter table ${whole} detach partition ${part} ${sql.raw(isPending ? 'finalize' : 'concurrently')}`.execute(
        this.#db,
      )
      detached.push(tableOf(parent, month))
    }
    return detached
  }

  /**
   * Attaches a month that was detached, even if that was interrupted. Returns its tables. Throws if that of the ledger
   * is missing: the sums that are kept instead would be lost.
   */
  async attach(month: Month): Promise<readonly string[]> {
    const ledger = tableOf('ledger_trades', month)
    assert(await this.#exists(ledger), `there is no table ${ledger}: if it was dumped, restore it first`)
    const attached: string[] = []
    for (const parent of PARENTS) {
      const name = tableOf(parent, month)
      const inherits = await this.#inheritance(parent, month)
      if (!(await this.#exists(name)) || inherits?.pending === false) continue
      if (inherits !== undefined) {
        await sql`alter table ${sql.table(parent)} detach partition ${sql.table(name)} finalize`.execute(this.#db)
      }
      if (parent === 'positions_archive') await this.#eraseNotes(name)
      const from = `${month}-01 00:00:00+00`
      const next = new Date(`${month}-01T00:00:00Z`)
      next.setUTCMonth(next.getUTCMonth() + 1)
      await sql`alter table ${sql.table(parent)} attach partition ${sql.table(name)}
                  for values from (${sql.lit(from)}) to (${sql.lit(next.toISOString())})`.execute(this.#db)
      attached.push(name)
    }
    await sql`delete from detached_balances where month = ${month}`.execute(this.#db)
    await sql`delete from detached_months where month = ${month}`.execute(this.#db)
    return attached
  }

  /** Of voids, where the user has been erased since. */ // Y3
  async #eraseNotes(table: string): Promise<void> {
    await sql`update ${sql.table(table)} p set void_note = null from users u
               where p.void_note is not null and u.id = p.user_id and u.erased_at is not null`.execute(this.#db)
  }

  /** The sums of a month, which count as soon as it is detached. */
  async #keepSums(month: Month): Promise<void> {
    const part = sql.table(tableOf('ledger_trades', month))
    await this.#db.transaction().execute(async (tx) => {
      await sql`delete from detached_balances where month = ${month}`.execute(tx)
      await sql`delete from detached_months where month = ${month}`.execute(tx)
      await sql`
        insert into detached_balances (month, user_id, purse, amount_micros)
          select ${month}, user_id, purse, sum(amount_micros) from ${part} where user_id is not null group by 2, 3`.execute(
        tx,
      )
      await sql`
        insert into detached_months (month, unbalanced, main_micros, practice_micros, leagues_micros)
          select ${month},
                 (select count(*) from (select from ${part} group by tx, purse having sum(amount_micros) <> 0) u),
                 coalesce(sum(amount_micros) filter (where purse = 'main'), 0),
                 coalesce(sum(amount_micros) filter (where purse = 'practice'), 0),
                 coalesce(sum(amount_micros) filter (where purse not in ('main', 'practice')), 0)
            from ${part}`.execute(tx)
    })
  }

  async #exists(table: string): Promise<boolean> {
    const { rows } = await sql<{ exists: boolean }>`select to_regclass(${table}) is not null as exists`.execute(
      this.#db,
    )
    return rows[0]?.exists === true
  }

  async #isAttached(parent: Parent, month: Month): Promise<boolean> {
    return (await this.#inheritance(parent, month)) !== undefined
  }

  /** Whether a detaching was interrupted. */
  async #isPending(parent: Parent, month: Month): Promise<boolean> {
    return (await this.#inheritance(parent, month))?.pending === true
  }

  async #inheritance(parent: Parent, month: Month): Promise<{ readonly pending: boolean } | undefined> {
    const { rows } = await sql<{ pending: boolean }>`
      select inhdetachpending as pending from pg_inherits
       where inhparent = ${parent}::text::regclass and inhrelid = to_regclass(${tableOf(parent, month)})`.execute(
      this.#db,
    )
    return rows[0]
  }
}

function tableOf(parent: Parent, month: Month): string {
  assert(/^\d{4}-\d{2}$/.test(month), `not a month such as 2026-12: ${month}`)
  return `${parent}_${month.replace('-', '_')}`
}
