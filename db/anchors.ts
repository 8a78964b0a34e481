/** Anchors: what players are worth over a season, independent of a single match. */
import { type Kysely, sql } from 'kysely'
import type { InstrumentId, PlayerId, UserId } from '../actors/kernel/ids.ts'
import { decimal, type Price, price } from '../actors/kernel/micros.ts'
import type { AuditLog } from './audit-log.ts'
import { bigints, uuids } from './postgres/arrays.ts'
import type { Database } from './postgres/schema.ts'

/** Sets or replaces anchors. They count from the next match in which a player is listed. */
export async function setAnchors(db: Kysely<Database>, anchors: ReadonlyMap<InstrumentId, Price>): Promise<void> {
  await sql`
    insert into anchors (instrument_id, price_micros)
    select * from unnest(${uuids([...anchors.keys()])}::uuid[], ${bigints([...anchors.values()])}::bigint[])
    on conflict (instrument_id) do update set price_micros = excluded.price_micros`.execute(db)
}

export interface AnchorsParts {
  readonly db: Kysely<Database>
  readonly audit: AuditLog
  readonly instrumentIdOf: (player: PlayerId) => InstrumentId
}

/** The anchors of real players, as an operator sets them. */
export class Anchors {
  readonly #parts: AnchorsParts

  constructor(parts: AnchorsParts) {
    this.#parts = parts
  }

  /** Sets them all or none, with one audit row that names every changed player's value before and after. */
  async set(anchors: ReadonlyMap<PlayerId, Price>, by: UserId): Promise<void> {
    const { db, audit, instrumentIdOf } = this.#parts
    const byInstrument = new Map([...anchors].map(([player, value]) => [instrumentIdOf(player), value]))
    await db.transaction().execute(async (tx) => {
      await sql`lock table anchors in share row exclusive mode`.execute(tx) // one at a time
      const rows = await tx
        .selectFrom('anchors')
        .select(['instrument_id', 'price_micros'])
        .where('instrument_id', 'in', [...byInstrument.keys()])
        .execute()
      const known = new Map<string, Price>(rows.map((row) => [row.instrument_id, price(row.price_micros)]))
      await setAnchors(tx, byInstrument)
      const before = [...anchors.keys()].flatMap((player) => {
        const value = known.get(instrumentIdOf(player))
        return value === undefined ? [] : [[player, decimal(value)] as const]
      })
      const after = [...anchors].map(([player, value]) => [player, decimal(value)] as const)
      await audit.record(
        {
          actor: by,
          action: 'anchors.set',
          subject: 'anchors',
          before: Object.fromEntries(before),
          after: Object.fromEntries(after),
        },
        tx,
      )
    })
  }
}
