/**
 * The outbox: events of commits, read once and in order. Their effects are written in the transaction that moves the
 * cursor.
 */
import { type Kysely, type RawBuilder, type Selectable, sql, type Transaction } from 'kysely'
import { type FixtureId, fixtureId } from '../actors/kernel/ids.ts'
import { type Instant, instant, type World } from '../actors/kernel/world.ts'
import type { CommittedEvent } from '../actors/community/committed-event.ts'
import { readCommittedEvents } from '../actors/community/read-committed-event.ts'
import type { Notification } from './announcements.ts'
import { ReactionTx } from './reaction-tx.ts'
import { isAway } from './faults.ts'
import { IS_WITHOUT_EVENTS } from './months.ts'
import type { Database } from './postgres/schema.ts'
import type { OutboxTable } from './postgres/schema/reactions.ts'
import type { WalletCache } from './wallet-cache.ts'

/** A row of the outbox: a commit, or a part of a large one. */
export interface Commit {
  readonly matchId: FixtureId
  readonly seq: number
  readonly at: Instant
  readonly events: readonly CommittedEvent[]
}

export type Reaction = (commits: readonly Commit[], effects: ReactionTx) => Promise<void>

export type Reacted =
  | { readonly kind: 'reacted'; readonly commits: number; readonly notifications: readonly Notification[] }
  /** It will be retried, or was set aside. */
  | { readonly kind: 'failed'; readonly matchId: FixtureId; readonly error: unknown; readonly setAside: number | null }

/** A row that was set aside. */
export interface SetAside {
  readonly matchId: FixtureId
  readonly seq: number
  readonly error: string
  readonly attempts: number
  readonly at: Instant
  readonly key: AsideKey
}

/** The place of a row among those that were set aside: its time in µs, its match and its number in it. */
export type AsideKey = readonly [atMicros: number, matchId: number, seq: number]

/**
 * Rows per transaction, and their events, which cost the event loop some 10 ms in all. More at once is hardly faster,
 * and delays trades.
 */
const ROWS_MAX = 16
const EVENTS_MAX = 300
/** A row that has failed this often is set aside, about three seconds after the first attempt. */
const ATTEMPTS_MAX = 5
const RETRY_MS = 100
const ERROR_LENGTH_MAX = 2_000

export class Outbox {
  readonly #db: Kysely<Database>
  readonly #cache: WalletCache
  readonly #world: Pick<World, 'newId' | 'now'>

  constructor(db: Kysely<Database>, cache: WalletCache, world: Pick<World, 'newId' | 'now'>) {
    this.#db = db
    this.#cache = cache
    this.#world = world
  }

  /**
   * Reacts to the next commits of a match that no other process is reacting to. Null when there are none. A process
   * that dies in between has done nothing. A reaction that throws is rolled back, its match goes to the end of the
   * queue, and it is retried a bounded number of times. Throws when the database is unavailable.
   */
  async react(reaction: Reaction): Promise<Reacted | null> {
    let taken: Cursor | null = null
    try {
      const done = await this.#db.transaction().execute(async (tx) => {
        taken = await nextCursor(tx)
        if (taken === null) return null
        await lookUpByIndex(tx)
        // After a failure one row at a time, to find the one that fails.
        const commits = await commitsAfter(tx, taken, taken.attempts === 0 ? ROWS_MAX : 1)
        const effects = new ReactionTx(tx, this.#cache, this.#world)
        await reaction(commits, effects)
        await moveOn(tx, taken, commits)
        return { commits: commits.length, effects }
      })
      return done === null ? null : this.#finish(done)
    } catch (error) {
      if (taken === null) throw error
      if (!isAway(error)) return this.#failed(taken, error)
      // A reaction that breaks its connection each time must not be the first of all for ever.
      await this.#toTheEnd(taken).catch(() => undefined)
      throw error
    }
  }

  /**
   * Reacts to a row that was set aside and removes it from the list. Null when it is not listed. Throws what the
   * reaction throws.
   */
  async retry(matchId: FixtureId, seq: number, reaction: Reaction): Promise<readonly Notification[] | null> {
    const done = await this.#db.transaction().execute(async (tx) => {
      const removed = await tx
        .deleteFrom('outbox_failures')
        .where('match_id', '=', matchId)
        .where('seq', '=', seq)
        .returning('seq')
        .execute()
      if (removed.length === 0) return null
      await lookUpByIndex(tx)
      const commits = await commitsAfter(tx, { matchId, seq: seq - 1 }, 1)
      const effects = new ReactionTx(tx, this.#cache, this.#world)
      await reaction(commits, effects)
      return effects
    })
    if (done === null) return null
    this.#cache.write(done.balances)
    return done.notifications
  }

  /** What follows from no commit but from time. */
  async later(work: (effects: ReactionTx) => Promise<void>): Promise<readonly Notification[]> {
    const effects = await this.#db.transaction().execute(async (tx) => {
      const within = new ReactionTx(tx, this.#cache, this.#world)
      await work(within)
      return within
    })
    this.#cache.write(effects.balances)
    return effects.notifications
  }

  /** The latest rows that were set aside. */
  async setAside(limit: number, after?: AsideKey): Promise<readonly SetAside[]> {
    const atMicros = sql<number>`(extract(epoch from at) * 1000000)::bigint`
    const [at = 0, match = 0, seq = 0] = after ?? []
    const rows = await this.#db
      .selectFrom('outbox_failures')
      .selectAll()
      .select(atMicros.as('at_micros'))
      .$if(after !== undefined, (failures) =>
        failures.where(sql<boolean>`(${atMicros}, match_id, seq) < (${at}::bigint, ${match}::bigint, ${seq}::bigint)`),
      )
      .orderBy('at', 'desc')
      .orderBy('match_id', 'desc')
      .orderBy('seq', 'desc')
      .limit(limit)
      .execute()
    return rows.map((row) => ({
      key: [row.at_micros, row.match_id, row.seq],
      matchId: fixtureId(row.match_id),
      seq: row.seq,
      error: row.error,
      attempts: row.attempts,
      at: instant(row.at.getTime()),
    }))
  }

  /** The number of commits without reactions yet, and the time of the oldest. */
  async lag(): Promise<{ readonly commits: number; readonly oldestAt: Instant | null }> {
    const { rows } = await sql<{ commits: number; oldest: Date | null }>`
      select count(*) as commits, min(o.at) as oldest
        from outbox_cursors c join outbox o on o.match_id = c.match_id and o.seq > c.seq
       where not c.finished`.execute(this.#db)
    const oldest = rows[0]?.oldest ?? null
    return { commits: rows[0]?.commits ?? 0, oldestAt: oldest === null ? null : instant(oldest.getTime()) }
  }

  /**
   * Removes everything that reactions have written, so that reacting again rebuilds it, and moves archived events back
   * for that. No process may react meanwhile, and it may take minutes: see `Connection.withoutTimeout`. Throws while a
   * month is detached.
   */
  async forget(): Promise<void> {
    await this.#db.transaction().execute(async (tx) => {
      const { rows: detached } = await sql<{ month: string }>`
        select month from detached_months d where ${IS_WITHOUT_EVENTS} order by 1`.execute(tx)
      const months = detached.map(({ month }) => month).join(', ')
      if (months !== '') throw new Error(`these months are detached, and their events are needed: attach ${months}`)
      await sql`lock table outbox_cursors in exclusive mode`.execute(tx)
      await sql`truncate week_scores, trade_days, board_changes, outbox_failures`.execute(tx)
      await sql`update users set xp = 0 where xp <> 0`.execute(tx)
      // Versions continue, or boards would ignore what is rebuilt as too old. Credits have been paid and stay.
      await sql`
        update careers c
           set version = version + 1, opened = 0, closed = 0, wins = 0, pnl_micros = 0, base_moves_micros = 0,
               margin_micros = 0, first_trade_at = null, practice_closed = 0, practice_wins = 0, practice_pnl_micros = 0,
               practice_base_moves_micros = 0, practice_margin_micros = 0, practice_first_trade_at = null, won_micros = 0, best_win_micros = 0, largest_lots_micros = 0, short_wins = 0,
               take_profits = 0, stop_losses = 0, washouts = 0, settled = 0, days = 0, close_days = 0, xp = 0,
               referrals = (select count(*) from referrals r
                             where r.referrer_id = c.user_id and r.credited_at is not null)`.execute(tx)
      await sql`
        with back as (delete from outbox_archive returning match_id, seq, at, events)
        insert into outbox (match_id, seq, at, events) select match_id, seq, at, events from back`.execute(tx)
      await sql`update matches set archived_at = null where archived_at is not null`.execute(tx)
      await sql`update outbox_cursors set seq = 0, attempts = 0, retry_at = '-infinity', finished = false`.execute(tx)
    })
  }

  #finish({ commits, effects }: { readonly commits: number; readonly effects: ReactionTx }): Reacted {
    this.#cache.write(effects.balances)
    return { kind: 'reacted', commits, notifications: effects.notifications }
  }

  async #toTheEnd({ matchId }: Cursor): Promise<void> {
    await sql`update outbox_cursors set taken_at = clock_timestamp() where match_id = ${matchId}::bigint`.execute(
      this.#db,
    )
  }

  async #failed({ matchId, seq, attempts }: Cursor, error: unknown): Promise<Reacted> {
    // Attempts are counted for the row after the cursor; a failure of several rows does not count yet.
    const tried = attempts + 1
    if (tried < ATTEMPTS_MAX) {
      await sql`
        update outbox_cursors
           set attempts = ${tried}::integer, taken_at = clock_timestamp(),
               retry_at = clock_timestamp() + make_interval(secs => ${(RETRY_MS * 2 ** tried) / 1000}::float8)
         where match_id = ${matchId}::bigint and seq = ${seq}::bigint`.execute(this.#db)
      return { kind: 'failed', matchId, error, setAside: null }
    }
    const text = textOf(error)
    const { rows } = await sql<{ seq: number }>`
      with moved as (
        update outbox_cursors c
           set seq = seq + 1, attempts = 0, retry_at = '-infinity', taken_at = clock_timestamp(),
               finished = ${isFinishedAt(sql`c.seq + 1`)}
         where match_id = ${matchId}::bigint and seq = ${seq}::bigint
        returning match_id, seq
      )
      insert into outbox_failures (match_id, seq, error, attempts, at)
        select match_id, seq, ${text}::text, ${tried}::integer, clock_timestamp() from moved
        on conflict do nothing returning seq`.execute(this.#db)
    return { kind: 'failed', matchId, error, setAside: rows[0]?.seq ?? null }
  }
}

interface Cursor {
  readonly matchId: FixtureId
  readonly seq: number
  readonly attempts: number
}

/**
 * A reaction looks up a few hundred users among all. A plan that reads a whole table instead is cheaper only while that
 * is in memory and small, and would make the reactions to a large match cost the square of its holders.
 */
async function lookUpByIndex(tx: Transaction<Database>): Promise<void> {
  await sql`
    select set_config(name, 'off', true)
      from unnest(array['enable_seqscan', 'enable_hashjoin', 'enable_mergejoin', 'jit']) name`.execute(tx)
}

/** Locks the cursor of a match with news: of those that are free, the one that has waited longest. */
async function nextCursor(tx: Transaction<Database>): Promise<Cursor | null> {
  const { rows } = await sql<{ match_id: number; seq: number; attempts: number }>`
    select c.match_id, c.seq, c.attempts from outbox_cursors c
     where not c.finished and c.retry_at <= clock_timestamp()
       and exists (select from outbox o where o.match_id = c.match_id and o.seq > c.seq)
     order by c.taken_at limit 1
       for update skip locked`.execute(tx)
  const [row] = rows
  return row === undefined ? null : { matchId: fixtureId(row.match_id), seq: row.seq, attempts: row.attempts }
}

async function commitsAfter(
  tx: Transaction<Database>,
  { matchId, seq }: Pick<Cursor, 'matchId' | 'seq'>,
  limit: number,
): Promise<readonly Commit[]> {
  const { rows } = await sql<Selectable<OutboxTable>>`
    select seq, at, events
      from (select o.*, sum(json_array_length(o.events)) over (order by o.seq) - json_array_length(o.events) as before
              from (select * from outbox where match_id = ${matchId}::bigint and seq > ${seq}::bigint
                     order by seq limit ${limit}::integer) o) o
     where before < ${EVENTS_MAX}::bigint
     order by seq`.execute(tx)
  return rows.map((row) => ({
    matchId,
    seq: row.seq,
    at: instant(row.at.getTime()),
    events: readCommittedEvents(row.events, `match ${matchId}, commit ${row.seq}: events`),
  }))
}

/** PostgreSQL stores no NUL in a text, and an error that cannot be stored would stop its match. */
const textOf = (error: unknown): string =>
  (error instanceof Error ? `${error.name}: ${error.message}` : String(error))
    .replaceAll('\0', '')
    .slice(0, ERROR_LENGTH_MAX)

/**
 * Whether the match of a cursor `c` is settled and has nothing after a row. A void after the end adds one, and a
 * fixture that comes back is settled no more.
 */
const isFinishedAt = (seq: RawBuilder<unknown>) => sql<boolean>`(
  exists (select from matches m where m.id = c.match_id and m.settled_at is not null)
  and not exists (select from outbox o where o.match_id = c.match_id and o.seq > ${seq}))`

async function moveOn(tx: Transaction<Database>, cursor: Cursor, commits: readonly Commit[]): Promise<void> {
  const last = commits.at(-1)?.seq ?? cursor.seq
  await sql`
    update outbox_cursors c
       set seq = ${last}::bigint, attempts = 0, retry_at = '-infinity', taken_at = clock_timestamp(),
           finished = ${isFinishedAt(sql`${last}::bigint`)}
     where match_id = ${cursor.matchId}::bigint`.execute(tx)
}
