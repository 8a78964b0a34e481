/** What voids of closed positions take back, in the transaction of the reaction. */
import { sql, type Transaction } from 'kysely'
import { type PositionId, positionId, type UserId, userId } from '../actors/kernel/ids.ts'
import { DRAW_PLAYERS_MAX } from '../actors/kernel/limits.ts'
import { lots, money } from '../actors/kernel/micros.ts'
import { instant } from '../actors/kernel/world.ts'
import type { Records } from '../actors/community/career.ts'
import type { VoidedEvent } from '../actors/community/committed-event.ts'
import { weekOf } from '../actors/kernel/calendar.ts'
import { IS_DETACHED } from './months.ts'
import { isPlaceOf } from './parts.ts'
import { texts, uuids } from './postgres/arrays.ts'
import type { Database } from './postgres/schema.ts'

/** Of a row `p` of positions: it is closed and not void, and the position that it is a part of is closed. */
const isCounted = sql`(p.closed_by <> 'void'
  and (p.part_of is null or not exists (select from positions w where w.id = p.part_of and w.closed_at is null)))`

export class VoidReactions {
  readonly #tx: Transaction<Database>

  constructor(tx: Transaction<Database>) {
    this.#tx = tx
  }

  /**
   * The maxima and minima over all that these users have closed and that is not void. Voids are rare: it reads all.
   * Throws while a month is detached in which one of them has traded: what was best there would be lost.
   */
  async records(users: readonly UserId[]): Promise<ReadonlyMap<UserId, Records>> {
    if (users.length === 0) return new Map()
    const { rows: detached } = await sql<{ month: string }>`
      select distinct month from detached_balances d
       where user_id = any(${uuids(users)}::uuid[]) and ${IS_DETACHED} order by 1`.execute(this.#tx)
    const months = detached.map(({ month }) => month).join(', ')
    if (months !== '')
      throw new Error(`a void takes back a record, and months of its owner are detached: attach ${months}`)
    const { rows } = await sql<{
      id: string
      best: number | null
      largest: number | null
      first: Date | null
      practice: Date | null
    }>`
    select u.id, max(w.pnl) filter (where w.purse = 'main') as best,
           max(w.lots) filter (where w.purse = 'main') as largest,
           min(w.opened_at) filter (where w.purse = 'main') as first,
           min(w.opened_at) filter (where w.purse = 'practice') as practice
      from unnest(${uuids([...new Set(users)])}::uuid[]) u (id)
      left join lateral (
        select p.purse, sum(p.pnl_micros)::bigint as pnl, sum(p.lots_micros)::bigint as lots, min(p.opened_at) as opened_at
          from ledger_entries l join all_positions p on p.id = l.reference and ${isPlaceOf('l', 'p')}
         where l.user_id = u.id and l.marker is not null and ${isCounted}
         group by p.purse, coalesce(p.part_of, p.id)) w on true
     group by u.id`.execute(this.#tx)
    return new Map(
      rows.map((row) => [
        userId(row.id),
        {
          bestWin: money(Math.max(0, row.best ?? 0)),
          largestLots: lots(row.largest ?? 0),
          firstTradeAt: row.first === null ? null : instant(row.first.getTime()),
          practiceFirstTradeAt: row.practice === null ? null : instant(row.practice.getTime()),
        },
      ]),
    )
  }

  /**
   * Takes back the players of their weeks, and their headlines. Careers must be locked.
   */
  async takeBack(voided: readonly VoidedEvent[]): Promise<void> {
    if (voided.length === 0) return
    const tx = this.#tx
    for (const { userId: user, openedAt } of voided) {
      const week = weekOf(openedAt)
      await sql`
      update week_scores s
         set players = array(
               select distinct p.instrument_id
                 from ledger_entries l join all_positions p on p.id = l.reference and ${isPlaceOf('l', 'p')}
                where l.user_id = ${user}::uuid and p.purse = 'main' and ${isCounted}
                  and p.opened_at >= ${new Date(week.startsAt)}::timestamptz
                  and p.opened_at < ${new Date(week.endsAt)}::timestamptz
                order by 1 limit ${DRAW_PLAYERS_MAX}::integer)
       where s.week = ${week.name}::text and s.user_id = ${user}::uuid`.execute(tx)
      await sql`
      delete from week_scores
       where week = ${week.name}::text and user_id = ${user}::uuid and closed = 0`.execute(tx)
    }
    await sql`
    delete from activity
     where source = any(${texts(voided.map(({ positionId: id, partOf }) => `closed:${partOf ?? id}`))}::text[])`.execute(
      tx,
    )
  }

  /** What operators told the owners of positions that they have voided. */
  async reasons(of: readonly { readonly positionId: PositionId }[]): Promise<ReadonlyMap<PositionId, string>> {
    if (of.length === 0) return new Map()
    const { rows } = await sql<{ position_id: string; reason: string }>`
    select position_id, reason from position_voids where position_id = any(${uuids(of.map((one) => one.positionId))}::uuid[])`.execute(
      this.#tx,
    )
    return new Map(rows.map((row) => [positionId(row.position_id), row.reason]))
  }
}
