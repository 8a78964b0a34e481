/** Positions that were closed in parts: what the parts came to, and where lists find them. */
import { type Kysely, type RawBuilder, sql } from 'kysely'
import { type FixtureId, type PositionId, positionId } from '../actors/kernel/ids.ts'
import { lots, money } from '../actors/kernel/micros.ts'
import type { Parted, Position } from '../actors/position/position.ts'
import { uuids } from './postgres/arrays.ts'
import type { Database } from './postgres/schema.ts'

/** Of a row of positions: what the match alone made of it (actors/position/position.ts). */
export const BASE_MOVE = sql.raw(`greatest(-margin_micros,
  floor(sign * (close_base_micros - open_base_micros)::numeric * lots_micros * 0.000005))`)

/**
 * Whether an entry of the ledger is the one under which lists find a position: the margin of an opening, and of a part
 * its release. Each user's are in the order of their markers.
 */
export const isPlaceOf = (entry: string, position: string): RawBuilder<boolean> =>
  sql.raw(`(case when ${position}.part_of is null then ${entry}.kind = 'margin' and ${entry}.marker = ${position}.opened_marker
                 else ${entry}.kind = 'release' and ${entry}.marker = ${position}.closed_marker end)`)

/** An opening is booked when the position begins, give or take; archives are searched no further back for it. */
const BOOKED_WITHIN = '8 days'

/**
 * Always true of an entry and its position: it tells in which months the position was opened. A part has the opening of
 * its whole, which may be long ago: a match can be suspended for weeks.
 */
export const wasOpenBy = (entry: string, position: string): RawBuilder<boolean> =>
  sql.raw(`(${position}.opened_at <= ${entry}.at and ${position}.opened_at > case ${entry}.kind
             when 'margin' then ${entry}.at - interval '${BOOKED_WITHIN}' else '-infinity' end)`)

/** What positions of a match have closed in parts, of all of them or of some. */
export async function partedOf(
  db: Kysely<Database>,
  match: FixtureId,
  of: readonly PositionId[] | 'all',
): Promise<ReadonlyMap<PositionId, Parted>> {
  const { rows } = await sql<{ id: string; lots: number; margin: number; pnl: number; move: number }>`
    select part_of as id, sum(lots_micros)::bigint as lots, sum(margin_micros)::bigint as margin,
           sum(pnl_micros)::bigint as pnl, sum(${BASE_MOVE})::bigint as move
      from positions
     where match_id = ${match}::bigint and part_of is not null
       and (${of === 'all'}::boolean or part_of = any(${uuids(of === 'all' ? [] : of)}::uuid[]))
     group by part_of`.execute(db)
  return new Map(
    rows.map((row) => [
      positionId(row.id),
      { lots: lots(row.lots), margin: money(row.margin), pnl: money(row.pnl), baseMove: money(row.move) },
    ]),
  )
}

/** A position with the parts that it has closed. */
export function withParts(position: Position, parts: ReadonlyMap<PositionId, Parted>): Position {
  const parted = parts.get(position.id)
  return parted === undefined ? position : { ...position, parted }
}

/** A position as it was before these parts were closed. */
export function withoutParts(position: Position, parted: Pick<Parted, 'lots' | 'margin'> | undefined): Position {
  if (parted === undefined) return position
  return {
    ...position,
    lots: lots(position.lots + parted.lots),
    margin: money(position.margin + parted.margin),
  }
}
