/** Reads the closes of a match that late news may reach. Only a match's commit writes them. */
import { type Kysely, sql } from 'kysely'
import type { FixtureId } from '../actors/kernel/ids.ts'
import { LATE_REACH_MAX_MS } from '../actors/kernel/limits.ts'
import { money } from '../actors/kernel/micros.ts'
import { as, boolean, fieldsOf, integer, listOf, type Reader } from '../actors/kernel/read.ts'
import { instant, SECOND_MS } from '../actors/kernel/world.ts'
import { isCorrectable, type RecentClose } from '../actors/position/recent-close.ts'
import { isImpossible, POSITION_COLUMNS, positionFrom, type PositionRow } from './positions.ts'
import type { Database } from './postgres/schema.ts'

/** The columns of a row `p` of positions. */
const COLUMNS = sql.join(POSITION_COLUMNS.map((column) => sql.ref(column.replace('positions.', 'p.'))))

/** What the column `late` holds: all of a recent close but the position. */
type Late = Omit<RecentClose, 'position'>

/** The column `late`; null for a close that no news has found. */
export const lateOf = ({ awaited, corrections }: Late): string | null =>
  awaited || corrections.length > 0 ? JSON.stringify({ awaited, corrections }) : null

const readLate: Reader<Late> = (value, path) => {
  const field = fieldsOf(value, path)
  return { awaited: field('awaited', boolean), corrections: field('corrections', listOf(readCorrection)) }
}

const readCorrection: Reader<Late['corrections'][number]> = (value, path) => {
  const field = fieldsOf(value, path)
  return {
    eventIds: field('eventIds', listOf(integer)),
    shift: field('shift', integer),
    amount: field('amount', as(integer, money)),
    lockedUntil: field('lockedUntil', as(integer, instant)),
  }
}

/** What late news has booked of a close, as the column `late` holds it. */
export const correctionsOf = (late: unknown, path: string): Late['corrections'] =>
  late === null ? [] : readLate(late, path).corrections

/**
 * The closes of the minutes before the match's last commit, and those that news has found. The outbox is in order of
 * commits, so its end is found without an index of closes, which would cost every close. A row that no trade can have
 * written is left out: it must not keep its match from starting.
 */
export async function recentClosesOf(db: Kysely<Database>, matchId: FixtureId): Promise<RecentClose[]> {
  const reach = `${LATE_REACH_MAX_MS / SECOND_MS} seconds`
  const { rows } = await sql<PositionRow>`
    with last as (
      select at from outbox where match_id = ${matchId} order by seq desc limit 1
    ), before as (
      select seq from outbox where match_id = ${matchId} and at < (select at from last) - ${reach}::interval
       order by seq desc limit 1
    ), recent as (
      select (e ->> 'positionId')::uuid as id
        from outbox o cross join lateral json_array_elements(o.events) e
       where o.match_id = ${matchId} and o.seq > coalesce((select seq from before), 0) and e ->> 'kind' = 'closed'
    )
    select ${COLUMNS} from positions p
     where id in (select id from recent) and match_id = ${matchId} and not ${isImpossible}
    union all
    select ${COLUMNS} from positions p
     where match_id = ${matchId} and late is not null and id not in (select id from recent) and not ${isImpossible}
     order by closed_at, id`.execute(db)
  return rows.flatMap((row): RecentClose[] => {
    const position = positionFrom(row)
    const { close } = position
    if (close === null || !isCorrectable(close.by)) return []
    const found = row.late === null ? null : readLate(row.late, `late news of ${row.id}`)
    return [{ position: { ...position, close }, awaited: false, corrections: [], ...found }]
  })
}
