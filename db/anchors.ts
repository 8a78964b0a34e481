/** Anchors: what players are worth over a season, independent of a single match. */
import { type Kysely, sql } from 'kysely'
import type { InstrumentId } from '../actors/kernel/ids.ts'
import type { Price } from '../actors/kernel/micros.ts'
import { bigints, uuids } from './postgres/arrays.ts'
import type { Database } from './postgres/schema.ts'

/** Sets or replaces anchors. They count from the next match in which a player is listed. */
export async function setAnchors(db: Kysely<Database>, anchors: ReadonlyMap<InstrumentId, Price>): Promise<void> {
  await sql`
    insert into anchors (instrument_id, price_micros)
    select * from unnest(${uuids([...anchors.keys()])}::uuid[], ${bigints([...anchors.values()])}::bigint[])
    on conflict (instrument_id) do update set price_micros = excluded.price_micros`.execute(db)
}
