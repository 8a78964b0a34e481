/** A large stock of open positions, inserted directly as if they had been traded. */
import { randomUUID } from 'node:crypto'
import { sql } from 'kysely'
import { present } from '../../actors/kernel/assert.ts'
import { type FixtureId, type InstrumentId, type PositionId, positionId, type UserId } from '../../actors/kernel/ids.ts'
import { lots, type Price } from '../../actors/kernel/micros.ts'
import type { Instrument } from '../../actors/market/instrument.ts'
import { marginFor } from '../../actors/position/position.ts'
import { bigints, smallints, uuids } from '../../db/postgres/arrays.ts'
import type { BenchDatabase } from './bench-database.ts'

export interface Stocked {
  readonly instrumentId: InstrumentId
  readonly sign: 1 | -1
  /** In micros of a lot, of a unit. */
  readonly lots: number
  readonly open: number
  readonly margin: number
  readonly takeProfit: Price | null
}

/** A hundredth of a lot at the published price. */
export function smallPosition({ id, published }: Pick<Instrument, 'id' | 'published'>, sign: 1 | -1): Stocked {
  const size = lots(10_000)
  return { instrumentId: id, sign, lots: size, open: published, margin: marginFor(published, size), takeProfit: null }
}

/** Writes positions of a match without an owner, assigned to the users in turn, with matching wallets and books. */
export async function stock(
  database: BenchDatabase,
  match: FixtureId,
  positions: readonly Stocked[],
  users: readonly UserId[] = database.users,
): Promise<readonly PositionId[]> {
  const tx = randomUUID()
  const ids = positions.map(() => positionId(randomUUID()))
  const owners = positions.map((_, n) => present(users[n % users.length], 'user'))
  await sql`
    with stock as materialized (
      select * from unnest(
        ${uuids(ids)}::uuid[], ${uuids(owners)}::uuid[], ${uuids(positions.map((p) => p.instrumentId))}::uuid[],
        ${smallints(positions.map((p) => p.sign))}::smallint[], ${bigints(positions.map((p) => p.lots))}::bigint[],
        ${bigints(positions.map((p) => p.open))}::bigint[], ${bigints(positions.map((p) => p.margin))}::bigint[],
        ${bigints(positions.map((p) => p.takeProfit))}::bigint[])
        s (id, user_id, instrument, sign, lots, open, margin, take)
    ), numbered as materialized (
      select s.*, w.events + row_number() over (partition by s.user_id) as marker
        from stock s join wallets w on w.user_id = s.user_id and w.purse = 'main'
    ), held as (
      insert into positions (id, user_id, purse, match_id, instrument_id, sign, lots_micros, open_micros,
                             open_base_micros, margin_micros, take_profit_micros, opened_at, closable_at, opened_marker)
        select s.id, s.user_id, 'main', ${match}::bigint, s.instrument, s.sign, s.lots, s.open, s.open, s.margin, s.take,
               now(), now(), s.marker
          from numbered s
    ), paid as (
      update wallets w
         set balance_micros = w.balance_micros - s.margin, margin_micros = w.margin_micros + s.margin,
             open_positions = w.open_positions + s.open, events = w.events + s.open,
             version = w.version + 1
        from (select user_id, sum(margin)::bigint as margin, count(*)::integer as open from stock group by user_id) s
       where w.user_id = s.user_id and w.purse = 'main'
    ), moved as (
      update instruments i set imbalance_micros = i.imbalance_micros + s.exposure
        from (select instrument, sum(sign * lots)::bigint as exposure from stock group by instrument) s
       where i.id = s.instrument
    )
    insert into ledger_entries (tx, account, user_id, purse, amount_micros, kind, reference, at, marker)
      select ${tx}::uuid, 'user', user_id, 'main', -margin, 'margin', id, now(), marker from numbered
      union all
      select ${tx}::uuid, 'house', null, 'main', sum(margin), 'batch', ${tx}::uuid, now(), null from stock`.execute(
    database.connection.db,
  )
  await sql`vacuum analyze positions, wallets, ledger_entries`.execute(database.connection.db)
  await sql`checkpoint`.execute(database.connection.db)
  return ids
}
