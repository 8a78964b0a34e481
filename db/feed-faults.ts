/** What of the provider's data came to nothing, for operators: one row for each reason and fixture. */
import { type Kysely, sql } from 'kysely'
import { oneOf, type Reader } from '../actors/kernel/read.ts'
import { type Instant, instant } from '../actors/kernel/world.ts'
import type { Database } from './postgres/schema.ts'

interface FeedFault<Reason extends string> {
  readonly reason: Reason
  /** The fixture that was skipped; null where the fault concerns no single one. */
  readonly matchId: number | null
  readonly detail: string
}

/** A fault, and how often it came. */
export interface CountedFault<Reason extends string> extends FeedFault<Reason> {
  readonly times: number
  readonly firstAt: Instant
  readonly lastAt: Instant
}

/** A match that is not settled, and when the feed last said something new about it. */
export interface FedMatch {
  readonly matchId: number
  readonly name: string
  readonly phase: string
  readonly startsAt: Instant
  /** Null before its first update. */
  readonly updatedAt: Instant | null
}

const FED_MAX = 50
/** Matches that kick off later are of no interest yet. */
const AHEAD_HOURS = 24

/** Older rows are forgotten. */
const KEPT_DAYS = 7
const RECENT_MAX = 100
const DETAIL_MAX = 500

export class FeedFaults<Reason extends string> {
  readonly #db: Kysely<Database>
  readonly #readReason: Reader<Reason>

  constructor(db: Kysely<Database>, reasons: readonly Reason[]) {
    this.#db = db
    this.#readReason = oneOf(reasons)
  }

  /** Adds faults to those of the same reason and fixture, of which the newest detail is shown. */
  async note(faults: readonly FeedFault<Reason>[]): Promise<void> {
    const rows = new Map<string, FeedFault<Reason> & { times: number }>()
    for (const { reason, matchId, detail } of faults) {
      const key = `${reason} ${matchId}`
      const times = (rows.get(key)?.times ?? 0) + 1
      rows.set(key, { reason, matchId, detail: storable(detail), times })
    }
    await sql`
      with old as (delete from feed_faults where last_at < clock_timestamp() - make_interval(days => ${KEPT_DAYS}::integer))
      insert into feed_faults (reason, match_id, detail, times, first_at, last_at)
        select f.reason, coalesce(f."matchId", 0), f.detail, f.times, clock_timestamp(), clock_timestamp()
          from jsonb_to_recordset(${JSON.stringify([...rows.values()])}::jsonb)
            f (reason text, "matchId" bigint, detail text, times bigint)
        on conflict (reason, match_id) do update
           set detail = excluded.detail, times = feed_faults.times + excluded.times, last_at = excluded.last_at`.execute(
      this.#db,
    )
  }

  /** The live matches that are not settled, in the order of their kick-off: 50 at most. */
  async matches(): Promise<readonly FedMatch[]> {
    const { rows } = await sql<{
      id: number
      name: string | null
      phase: string
      starts_at: Date
      updated: Date | null
    }>`
      select id, info ->> 'name' as name, phase, starts_at,
             case when info ->> 'sourceAt' ~ '^[0-9]{1,15}$'
                  then to_timestamp((info ->> 'sourceAt')::bigint / 1000.0) end as updated
        from matches
       where settled_at is null and not replay
         and starts_at < clock_timestamp() + make_interval(hours => ${AHEAD_HOURS}::integer)
       order by starts_at, id limit ${FED_MAX}::integer`.execute(this.#db)
    return rows.map(({ id, name, phase, starts_at: startsAt, updated }) => ({
      matchId: id,
      name: name ?? `match ${id}`,
      phase,
      startsAt: instant(startsAt.getTime()),
      updatedAt: updated === null ? null : instant(updated.getTime()),
    }))
  }

  /** The faults of the last days, newest first: 100 at most. */
  async recent(): Promise<readonly CountedFault<Reason>[]> {
    const rows = await this.#db
      .selectFrom('feed_faults')
      .selectAll()
      .orderBy('last_at', 'desc')
      .orderBy('reason')
      .orderBy('match_id')
      .limit(RECENT_MAX)
      .execute()
    return rows.map((row) => ({
      reason: this.#readReason(row.reason, 'feed_faults.reason'),
      matchId: row.match_id === 0 ? null : row.match_id,
      detail: row.detail,
      times: row.times,
      firstAt: instant(row.first_at.getTime()),
      lastAt: instant(row.last_at.getTime()),
    }))
  }
}

/** Text of a provider as the database takes it: without U+0000 and halves of surrogate pairs. */
const storable = (text: string): string => text.replaceAll('\0', '').slice(0, DETAIL_MAX).toWellFormed()
