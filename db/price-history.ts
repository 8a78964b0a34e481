/** A player's price history: the ticks of a period, thinned. Takes milliseconds for any number of ticks. */
import { type Kysely, sql } from 'kysely'
import { present } from '../actors/kernel/assert.ts'
import type { InstrumentId } from '../actors/kernel/ids.ts'
import { type Lots, lots, type Price, price } from '../actors/kernel/micros.ts'
import { oneOf } from '../actors/kernel/read.ts'
import { type Instant, instant } from '../actors/kernel/world.ts'
import { type Cause, CAUSES } from '../actors/market/instrument.ts'
import { readReason } from '../actors/market/move-reason.ts'
import { SEVERAL, type TickReason, tickReason } from '../actors/market/reason-words.ts'
import { instants } from './postgres/arrays.ts'
import type { Database } from './postgres/schema.ts'
import { volumeSince } from './recent-trades.ts'

export interface Tick {
  readonly at: Instant
  readonly price: Price
  readonly cause: Cause
  /** The provider's event that caused it, or null. */
  readonly eventId: number | null
  readonly reason: TickReason
}

export interface History {
  /** Oldest first, at most HISTORY_TICKS_MAX. */
  readonly ticks: readonly Tick[]
  /** Lots opened and closed in the period. */
  readonly volume: Lots
  /** The player's first tick ever, or null. */
  readonly firstTickAt: Instant | null
}

/** Most ticks of one answer (specification 8). */
export const HISTORY_TICKS_MAX = 500
/** Up to this many ticks are counted and thinned exactly. Counting more would take too long for a chart. */
const COUNTED_MAX = 10_000
/** At most this many ticks that tell of something are kept, the latest: enough for a season's goals and cards. */
const TOLD_MAX = 120
/** With more ticks, time without any is skipped in steps of this fraction of the whole. */
const SLICES = 1_000

/** From one tick to another, in milliseconds since 1970. */
interface Stretch {
  readonly first: number
  readonly last: number
}

interface TickRow {
  readonly at: Date
  readonly price_micros: number
  readonly cause: string
  readonly provider_event_id: number
  readonly why: string | null
  /** It ends a step over ticks of which none moved more than the others together. */
  readonly is_several: boolean
}

/** Ticks that are never thinned away: of an event, and the first and the last of a match. */
const TELLS = sql`(t.provider_event_id <> 0 or t.cause in ('listing', 'settlement'))`

export class PriceHistory {
  readonly #db: Kysely<Database>

  constructor(db: Kysely<Database>) {
    this.#db = db
  }

  /**
   * The history of a player since `from`, or since the first tick. It begins with the price that stood at `from`, so
   * that a quiet player's has one. Empty for an unknown player.
   */
  async of(id: InstrumentId, from: Instant | null): Promise<History> {
    const since = new Date(from ?? 0).toISOString()
    const [ticks, standing, volume, firstTickAt] = await Promise.all([
      this.#ticks(id, since),
      from === null ? null : this.#standingAt(id, from),
      this.#volume(id, since),
      this.#firstTickAt(id),
    ])
    const within = ticks.map(tickFrom)
    const carried = standing === null || within[0]?.at === from || within.length === HISTORY_TICKS_MAX ? [] : [standing]
    return { ticks: [...carried, ...within], volume, firstTickAt }
  }

  /** What the last tick before an instant left the price at, as of that instant. What moved it then is not told. */
  async #standingAt(id: InstrumentId, at: Instant): Promise<Tick | null> {
    const row = await this.#db
      .selectFrom('ticks')
      .select(['price_micros', 'cause'])
      .where('instrument_id', '=', id)
      .where('at', '<', new Date(at))
      .orderBy('at', 'desc')
      .limit(1)
      .executeTakeFirst()
    if (row === undefined) return null
    return tickFrom({ ...row, at: new Date(at), provider_event_id: 0, why: null, is_several: true })
  }

  async #ticks(id: InstrumentId, since: string): Promise<readonly TickRow[]> {
    const { rows } = await sql`
      select from ticks where instrument_id = ${id}::uuid and at >= ${since}::timestamptz
       order by at offset ${COUNTED_MAX}::integer limit 1`.execute(this.#db)
    return rows.length === 0 ? this.#thinned(id, since) : this.#sampled(id, since)
  }

  /**
   * All ticks; or those that tell of something, and as many at equal distances between the first and the last as an
   * answer still holds. A step over several ticks has the reason of its largest if that moved more than the others.
   */
  async #thinned(id: InstrumentId, since: string): Promise<readonly TickRow[]> {
    const { rows } = await sql<TickRow>`
      with held as (
        select at, price_micros, cause, provider_event_id, why, row_number() over by_time - 1 as n, count(*) over () as total,
               coalesce(price_micros - lag(price_micros) over by_time, 0) as moved, ${TELLS} as tells
          from ticks t where instrument_id = ${id}::uuid and at >= ${since}::timestamptz
        window by_time as (order by at)
      ), counted as (
        select *, tells and row_number() over (partition by tells order by n desc) <= ${TOLD_MAX}::integer as is_told from held
      ), paired as (
        -- The tick before one that tells of something stays, too: so the step between them is its move alone.
        select *, is_told or coalesce(lead(is_told) over by_n, false) as is_marked from counted window by_n as (order by n)
      ), ranked as (
        select *, row_number() over (partition by is_marked order by n) - 1 as rank,
               greatest(1, count(*) filter (where not is_marked) over () - 1) as last,
               ${HISTORY_TICKS_MAX - 1}::integer - count(*) filter (where is_marked) over () as steps from paired
      ), chosen as (
        select *, total <= ${HISTORY_TICKS_MAX}::integer or is_marked or rank = 0
                  or rank * steps / last > (rank - 1) * steps / last as is_kept from ranked
      ), stepped as (
        select *, count(*) filter (where is_kept) over (order by n desc) as step from chosen
      ), weighed as (
        select *, sum(moved) over of_step as all_moved, count(*) over of_step as ticks,
               first_value(moved) over largest as most, first_value(why) over largest as most_why,
               first_value(cause) over largest as most_cause
          from stepped window of_step as (partition by step), largest as (partition by step order by abs(moved) desc, n desc)
      )
      select at, price_micros, provider_event_id,
             ticks > 1 and (sign(most) <> sign(all_moved) or abs(most) * 2 < abs(all_moved)) as is_several,
             case when ticks > 1 then most_cause else cause end as cause,
             case when ticks > 1 then most_why else why end as why
        from weighed where is_kept order by n`.execute(this.#db)
    return rows
  }

  /**
   * The ticks at even distances over the time in which there were any: a season's matches, without the days between
   * them; and the latest that tell of something, each with the tick before it. Each period and each moment takes a step
   * or two into an index.
   */
  async #sampled(id: InstrumentId, since: string): Promise<readonly TickRow[]> {
    const told = await this.#told(id, since)
    const moments = spread(await this.#stretches(id, since), HISTORY_TICKS_MAX - 2 * told.length)
    const { rows } = await sql<TickRow>`
      with moments as (
        select unnest(${instants(moments)}::timestamptz[]) as at, false as tells
        union all select unnest(${instants(told)}::timestamptz[]), true
        union all select unnest(${instants(told)}::timestamptz[]) - interval '1 microsecond', false
      )
      select distinct on (tick.at) tick.at, tick.price_micros, tick.cause, tick.provider_event_id, tick.why, not m.tells as is_several
        from moments m, lateral (
          select t.at, t.price_micros, t.cause, t.provider_event_id, t.why from ticks t
           where t.instrument_id = ${id}::uuid and t.at <= m.at and t.at >= ${since}::timestamptz
           order by t.at desc limit 1) tick
       order by tick.at, m.tells desc`.execute(this.#db)
    return rows
  }

  async #told(id: InstrumentId, since: string): Promise<readonly Instant[]> {
    const { rows } = await sql<{ at: Date }>`
      select distinct at from ticks t where instrument_id = ${id}::uuid and at >= ${since}::timestamptz and ${TELLS}
       order by at desc limit ${TOLD_MAX}::integer`.execute(this.#db)
    return rows.map(({ at }) => instant(at.getTime()))
  }

  /** The periods in which there are ticks, in order; none is longer than a slice. */
  async #stretches(id: InstrumentId, since: string): Promise<readonly Stretch[]> {
    const { rows } = await sql<{ first: Date; last: Date }>`
      with recursive bounds as (
        select min(at) as first, (max(at) - min(at)) / ${SLICES}::integer + interval '1 millisecond' as slice
          from ticks where instrument_id = ${id}::uuid and at >= ${since}::timestamptz
      ), stretches (first, until) as (
        select first, first + slice from bounds
        union all
        select next.at, next.at + b.slice
          from stretches s, bounds b, lateral (
            select t.at from ticks t where t.instrument_id = ${id}::uuid and t.at >= s.until order by t.at limit 1) next
      )
      select s.first, last.at as last
        from stretches s, lateral (
          select t.at from ticks t where t.instrument_id = ${id}::uuid and t.at < s.until order by t.at desc limit 1) last
       order by s.first`.execute(this.#db)
    return rows.map(({ first, last }) => ({ first: first.getTime(), last: last.getTime() }))
  }

  async #volume(id: InstrumentId, since: string): Promise<Lots> {
    const { rows } = await sql<{ volume: number }>`
      select ${volumeSince(sql`${id}::uuid`, sql`${since}::timestamptz`)} as volume`.execute(this.#db)
    return lots(present(rows[0], 'volume').volume)
  }

  async #firstTickAt(id: InstrumentId): Promise<Instant | null> {
    const row = await this.#db
      .selectFrom('ticks')
      .select('at')
      .where('instrument_id', '=', id)
      .orderBy('at')
      .limit(1)
      .executeTakeFirst()
    return row === undefined ? null : instant(row.at.getTime())
  }
}

/** Moments at equal distances over all periods, from the very first to the very last. */
function spread(stretches: readonly Stretch[], count: number): readonly Instant[] {
  const total = stretches.reduce((sum, { first, last }) => sum + last - first, 0)
  const moments: Instant[] = []
  let passed = 0
  for (const { first, last } of stretches) {
    while (moments.length < count) {
      const due = first + (moments.length / (count - 1)) * total - passed
      if (due > last) break
      moments.push(instant(due))
    }
    passed += last - first
  }
  return moments
}

const readCause = oneOf(CAUSES)

function tickFrom(row: TickRow): Tick {
  const cause = readCause(row.cause, 'the cause of a tick')
  const parts = row.why === null ? null : readReason(row.why, 'the reason of a tick')
  return {
    at: instant(row.at.getTime()),
    price: price(row.price_micros),
    cause,
    eventId: row.provider_event_id === 0 ? null : row.provider_event_id,
    reason: row.is_several ? SEVERAL : tickReason(cause, parts),
  }
}
