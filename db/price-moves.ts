/** The largest moves of a price within a stretch of time, each with its reason. */
import { type Kysely, sql } from 'kysely'
import type { InstrumentId } from '../actors/kernel/ids.ts'
import { type Price, price } from '../actors/kernel/micros.ts'
import { oneOf } from '../actors/kernel/read.ts'
import { type Instant, instant } from '../actors/kernel/world.ts'
import { type Cause, CAUSES } from '../actors/market/instrument.ts'
import { type MoveReason, readReason } from '../actors/market/move-reason.ts'
import { type TickReason, tickReason } from '../actors/market/reason-words.ts'
import type { Database } from './postgres/schema.ts'

/** From one stored tick to the next. */
export interface PriceMove {
  readonly at: Instant
  readonly from: Price
  readonly to: Price
  readonly cause: Cause
  readonly reason: TickReason
  /** What moved the base, in micros of price; null where it stood, or rules moved it. */
  readonly parts: MoveReason | null
  /** What orders have moved. */
  readonly crowd: number
}

export interface MovesQuery {
  /** A move at this time or earlier is left out. */
  readonly after: Instant
  /** A move at this time is in the answer however small it is; null without an end. */
  readonly until: Instant | null
  readonly limit: number
}

/** The newest ticks that are looked at: two and a half hours of one a second. */
const TICKS_MAX = 9_000

interface MoveRow {
  readonly at: Date
  readonly price_micros: number
  readonly base_micros: number
  readonly cause: string
  readonly why: string | null
  readonly from_price: number
  readonly from_base: number
}

export class PriceMoves {
  readonly #db: Kysely<Database>

  constructor(db: Kysely<Database>) {
    this.#db = db
  }

  /** The largest moves of a stretch, oldest first. */
  async largest(id: InstrumentId, { after, until, limit }: MovesQuery): Promise<readonly PriceMove[]> {
    const [from, to] = [new Date(after).toISOString(), until === null ? null : new Date(until).toISOString()]
    const { rows } = await sql<MoveRow>`
      with looked_at as (
        select at, price_micros, base_micros, cause, why from ticks
         where instrument_id = ${id}::uuid and at <= coalesce(${to}::timestamptz, 'infinity')
           and at >= coalesce((select t.at from ticks t where t.instrument_id = ${id}::uuid
                                and t.at <= ${from}::timestamptz order by t.at desc limit 1), ${from}::timestamptz)
         order by at desc limit ${TICKS_MAX}::integer
      ), moves as (
        select looked_at.*, lag(price_micros) over (order by at) as from_price, lag(base_micros) over (order by at) as from_base
          from looked_at
      )
      select at, price_micros, base_micros, cause, why, from_price, from_base from moves
       where at > ${from}::timestamptz and from_price is not null
         and (price_micros <> from_price or at = ${to}::timestamptz)
       order by at is not distinct from ${to}::timestamptz desc, abs(price_micros - from_price) desc, at
       limit ${limit}::integer`.execute(this.#db)
    return rows.map(moveFrom).toSorted((a, b) => a.at - b.at)
  }
}

const readCause = oneOf(CAUSES)

function moveFrom(row: MoveRow): PriceMove {
  const cause = readCause(row.cause, 'the cause of a tick')
  const parts = row.why === null ? null : readReason(row.why, 'the reason of a tick')
  const crowd = row.price_micros - row.from_price - (row.base_micros - row.from_base)
  return {
    at: instant(row.at.getTime()),
    from: price(row.from_price),
    to: price(row.price_micros),
    cause,
    reason: tickReason(cause, parts, crowd),
    parts,
    crowd,
  }
}
