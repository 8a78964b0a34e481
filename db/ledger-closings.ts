/**
 * Closes the ledger behind the present, so that an audit adds up what came since and not every entry there ever was.
 * What is closed is kept as a sum for each wallet. Nothing is removed: the whole ledger can still be added up.
 */
import { type Kysely, sql } from 'kysely'
import { present } from '../actors/kernel/assert.ts'
import { HOUR_MS, MINUTE_MS } from '../actors/kernel/world.ts'
import type { Database } from './postgres/schema.ts'

/** Entries carry the time of the decision. A commit never takes this long, so none this old can still arrive. */
const OPEN_MS = HOUR_MS
/** One statement closes this much, so that none grows with the ledger. */
const STRETCH_MS = 5 * MINUTE_MS

export class LedgerClosings {
  readonly #db: Kysely<Database>

  constructor(db: Kysely<Database>) {
    this.#db = db
  }

  /**
   * Closes the next whole stretch in one transaction. Returns the number of its entries, or null when none is old
   * enough or another process is closing one.
   */
  closeNext(): Promise<number | null> {
    return this.#db.transaction().execute(async (tx) => {
      const { rows } = await sql<{ since: Date; until: Date }>`
        with closed as (select until from ledger_closed for update skip locked),
             old as (select now() - ${OPEN_MS}::integer * interval '1 millisecond' as until),
             first as (
               select case when isfinite(c.until) then c.until
                           else (select min(at) from ledger_entries) end as since
                 from closed c
             )
        select since, since + ${STRETCH_MS}::integer * interval '1 millisecond' as until
          from first, old o where since + ${STRETCH_MS}::integer * interval '1 millisecond' <= o.until`.execute(tx)
      const [stretch] = rows
      if (stretch === undefined) return null
      const { rows: sums } = await sql<{ entries: number }>`
        with part as materialized (
          select tx, user_id, purse, amount_micros, purse_group(purse) as purses from ledger_entries
           where at < ${stretch.until}::timestamptz and at >= coalesce(
             (select until from ledger_closed where isfinite(until)), ${stretch.since}::timestamptz)
        ), wallets_of as (
          insert into closed_balances (user_id, purse, amount_micros)
          select user_id, purse, sum(amount_micros) from part where user_id is not null group by 1, 2
          on conflict (user_id, purse) do update
             set amount_micros = closed_balances.amount_micros + excluded.amount_micros
        )
        update ledger_closed set
          until = case when (select count(*) from part) > 0 then ${stretch.until}::timestamptz
                       else greatest(${stretch.until}::timestamptz, coalesce(
                         (select min(at) from ledger_entries where at >= ${stretch.until}::timestamptz
                             and at < now() - ${OPEN_MS}::integer * interval '1 millisecond'),
                         now() - ${OPEN_MS}::integer * interval '1 millisecond')) end,
          entries = entries + (select count(*) from part),
          unbalanced = unbalanced
            + (select count(*) from (select from part group by tx, purse having sum(amount_micros) <> 0) u),
          main_micros = main_micros + coalesce((select sum(amount_micros) from part where purses = 'main'), 0),
          practice_micros = practice_micros
            + coalesce((select sum(amount_micros) from part where purses = 'practice'), 0),
          leagues_micros = leagues_micros + coalesce((select sum(amount_micros) from part where purses = 'leagues'), 0)
        returning (select count(*) from part) as entries`.execute(tx)
      return present(sums[0], 'the closed stretch').entries
    })
  }

  /** Closes up to `most` stretches, as far as they are old enough. Returns the number of entries closed. */
  async closeAll(most: number): Promise<number> {
    let entries = 0
    for (let n = 0; n < most; n++) {
      const more = await this.closeNext()
      if (more === null) break
      entries += more
    }
    return entries
  }
}
