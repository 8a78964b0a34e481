/**
 * All facts of the outbox in one order, for readers outside the server. The outbox is ordered within a match only, and
 * numbering over all matches would make trades wait for each other. So what has been added to matches is numbered
 * afterwards, in ranges: a position is some rows of one match. Positions have no gaps, and what a reader has passed
 * never changes, so a place in the stream is enough to go on from.
 */
import { type Kysely, type Selectable, sql } from 'kysely'
import { type FixtureId, fixtureId } from '../actors/kernel/ids.ts'
import { type Instant, instant } from '../actors/kernel/world.ts'
import type { CommittedEvent } from '../actors/community/committed-event.ts'
import { readCommittedEvents } from '../actors/community/read-committed-event.ts'
import type { Database } from './postgres/schema.ts'
import type { OutboxTable } from './postgres/schema/reactions.ts'

/** A place between two events: so many events of a row, in the range at a position, have been read. */
export type StreamPlace = readonly [position: number, seq: number, read: number]

/** Whether one place comes after another. */
export const isBeyond = (a: StreamPlace, b: StreamPlace): boolean => {
  const at = a.findIndex((part, n) => part !== b[n])
  return at >= 0 && (a[at] ?? 0) > (b[at] ?? 0)
}

export interface StreamEvent {
  readonly matchId: FixtureId
  /** The number of its commit in the match's outbox, and its own in the commit, from 0. */
  readonly seq: number
  readonly n: number
  readonly at: Instant
  readonly event: CommittedEvent
  /** The place after it. */
  readonly after: StreamPlace
}

/** Rows and ranges of one read, and their stored bytes: the rows of a crowded match have 500 events each. */
const ROWS_MAX = 64
const BYTES_MAX = 16_384
const RANGES_MAX = 64
/** Ranges that are passed at a time where the month of their rows is detached: it takes some 100 ms. */
const GAP_MAX = 100_000
/** Matches that one sweep numbers; the next one continues. */
const MATCHES_MAX = 1_000
/** How often all processes together look for what is new. */
const SWEEP_MS = 400

export class EventStream {
  readonly #db: Kysely<Database>
  readonly #sweepMs: number

  constructor(db: Kysely<Database>, sweepMs = SWEEP_MS) {
    this.#db = db
    this.#sweepMs = sweepMs
  }

  /** Numbers what is new. Does nothing while another process does so, or just has. */
  async sweep(): Promise<void> {
    await this.#db.transaction().execute(async (tx) => {
      const { rows } = await sql<{ position: number }>`
        select position from event_head
         where swept_at <= clock_timestamp() - make_interval(secs => ${this.#sweepMs / 1000}::float8)
            or swept_at > clock_timestamp() -- by a clock that was ahead
           for update skip locked`.execute(tx)
      const [head] = rows
      if (head === undefined) return
      // A statement of its own: it must see what the process has numbered that held the lock before.
      await sql`
        with news as (
          select c.match_id, coalesce(m.seq, 0) as seq, o.last, row_number() over (order by c.match_id) as n
            from outbox_cursors c left join event_matches m on m.match_id = c.match_id
           cross join lateral (select max(seq) as last from outbox where match_id = c.match_id) o
           where (not c.finished or c.seq > coalesce(m.seq, 0)) and o.last > coalesce(m.seq, 0)
           order by c.match_id limit ${MATCHES_MAX}::integer
        ), ranges as (
          insert into event_ranges (position, match_id, from_seq, to_seq)
            select ${head.position}::bigint + n, match_id, seq + 1, last from news
        ), matches as (
          insert into event_matches (match_id, seq) select match_id, last from news
            on conflict (match_id) do update set seq = excluded.seq
        )
        update event_head set position = position + (select count(*) from news), swept_at = clock_timestamp()`.execute(
        tx,
      )
    })
  }

  /** After the last event that is numbered. */
  async end(): Promise<StreamPlace> {
    const { position } = await this.#db.selectFrom('event_head').select('position').executeTakeFirstOrThrow()
    return [position + 1, 0, 0]
  }

  /** Whether a place has not been reached, as one from before a restore. */
  async isAhead(place: StreamPlace): Promise<boolean> {
    return isBeyond(place, await this.end())
  }

  /** The next events, in order, `limit` at most. None: there are none yet, or it goes on beyond a gap. */
  async after(place: StreamPlace, limit: number): Promise<readonly StreamEvent[]> {
    const [position, seq, read] = place
    // By stored sizes, which are known without reading the rows.
    const { rows } = await sql<Selectable<OutboxTable> & { position: number }>`
      select position, match_id, seq, at, events
        from (select n.*, sum(n.size) over (order by n.position, n.seq) - n.size as before
                from (select r.position, o.*, pg_column_size(o.events) as size from (
                        select * from event_ranges where position >= ${position}::bigint
                         order by position limit ${RANGES_MAX}::integer) r
                       cross join lateral (
                        select * from all_outbox
                         where match_id = r.match_id and seq <= r.to_seq
                           and seq >= greatest(r.from_seq, case r.position when ${position}::bigint then ${seq}::bigint end)
                         order by seq limit ${ROWS_MAX}::integer) o
                       order by r.position, o.seq limit ${ROWS_MAX}::integer) n) e
       where before < ${BYTES_MAX}::bigint
       order by position, seq`.execute(this.#db)
    const events = rows.flatMap((row) => {
      const committed = readCommittedEvents(row.events, `match ${row.match_id}, commit ${row.seq}: events`)
      const [matchId, at] = [fixtureId(row.match_id), instant(row.at.getTime())]
      const known = row.position === position && row.seq === seq ? read : 0
      return committed.slice(known).map((event, index): StreamEvent => {
        const n = known + index
        const isLast = n === committed.length - 1
        const after = [row.position, isLast ? row.seq + 1 : row.seq, isLast ? 0 : n + 1] as const
        return { matchId, seq: row.seq, n, at, event, after }
      })
    })
    return events.slice(0, limit)
  }

  /**
   * Where to go on from a place that has no next event: the rows of ranges that follow may be of a detached month. The
   * same place if nothing follows.
   */
  async beyondGap(place: StreamPlace): Promise<StreamPlace> {
    const [position, seq] = place
    const { rows } = await sql<{ next: number | null }>`
      with ranges as (
        select position, match_id, to_seq,
               greatest(from_seq, case position when ${position}::bigint then ${seq}::bigint end) as from_seq
          from event_ranges where position >= ${position}::bigint order by position limit ${GAP_MAX}::integer
      ), ahead as (
        select * from ranges where from_seq <= to_seq
      ), firsts as (
        select a.match_id, o.seq from (select match_id, min(from_seq) as from_seq from ahead group by match_id) a
          left join lateral (select seq from all_outbox where match_id = a.match_id and seq >= a.from_seq
                              order by seq limit 1) o on true
      )
      select coalesce(min(position) filter (where to_seq >= seq), max(position) + 1) as next
        from ahead join firsts using (match_id)`.execute(this.#db)
    const next = rows[0]?.next ?? position
    return next === position ? place : [next, 0, 0]
  }
}
