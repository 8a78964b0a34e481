/** Removes old rows: ticks are thinned and later dropped, and stored answers are dropped when no more retries come. */
import { type Kysely, sql } from 'kysely'
import { HOUR_MS, MINUTE_MS, type World } from '../actors/kernel/world.ts'
import type { Database } from './postgres/schema.ts'

/** How long ticks and journals are kept (settings). */
export interface Limits {
  /** Days for which every tick is kept; after that one per minute and player, plus those of in-game events. */
  readonly fullDays: number
  /** Days after which the other ticks are dropped. A player's first tick is kept for ever. */
  readonly days: number
  /** Days after which a row of a journal is dropped, and the tape of a match that began before. */
  readonly journalDays: number
}

/** The numbers of rows that a run removed. */
export interface Forgotten {
  readonly thinnedTicks: number
  readonly ticks: number
  readonly recentTrades: number
  readonly journal: number
  /** Matches whose tapes and checkpoints were dropped. */
  readonly tapes: number
  readonly commandResults: number
  readonly accountEvents: number
  readonly notifications: number
  readonly activity: number
  readonly fixtures: number
  readonly singleUse: number
  readonly departed: number
  readonly matchRanks: number
  readonly registrationNetworks: number
}

const DAY_MS = 24 * HOUR_MS
/** Stored refusals and closes are kept 7 days, openings for ever. */
const COMMAND_RESULTS_MS = 7 * DAY_MS
/** A client that returns later gets a snapshot instead of events. */
const ACCOUNT_EVENTS_MS = 30 * DAY_MS
/** After that someone who was erased begins like anyone else, and their username is free. */
const DEPARTED_MS = 365 * DAY_MS
/** Nobody leafs further back in notifications or activity. */
const NOTICES_MS = 365 * DAY_MS
/** Fixtures that never became a match. */
const FIXTURES_MS = 7 * DAY_MS
/** Rows and ticks per statement: none may delay a commit for long. */
const CHUNK = 10_000
const WINDOW_MS = 10 * MINUTE_MS
/** A run thins at most a week's windows; the next run continues. */
const WINDOWS_MAX = 1_008

type Aged =
  | 'recent_trades'
  | 'journal'
  | 'command_results'
  | 'account_events'
  | 'notifications'
  | 'activity'
  | 'single_use'
  | 'departed'
  | 'match_ranks'
  | 'registration_networks'

export class Retention {
  readonly #db: Kysely<Database>
  readonly #world: Pick<World, 'now'>
  readonly #limits: () => Limits

  constructor(db: Kysely<Database>, world: Pick<World, 'now'>, limits: () => Limits) {
    this.#db = db
    this.#world = world
    this.#limits = limits
  }

  /**
   * Removes rows that are too old. Several processes may do so at the same time: each finds only what is left.
   */
  async run(): Promise<Forgotten> {
    const { fullDays, days, journalDays } = this.#limits()
    return {
      ticks: await this.#dropTicks(this.#before(days * DAY_MS)),
      thinnedTicks: await this.#thinTicks(this.#before(fullDays * DAY_MS)),
      recentTrades: await this.#drop('recent_trades', this.#before(days * DAY_MS)),
      journal: await this.#drop('journal', this.#before(journalDays * DAY_MS)),
      tapes: await this.#dropTapes(this.#before(journalDays * DAY_MS)),
      commandResults: await this.#drop('command_results', this.#before(COMMAND_RESULTS_MS)),
      accountEvents: await this.#drop('account_events', this.#before(ACCOUNT_EVENTS_MS)),
      notifications: await this.#drop('notifications', this.#before(NOTICES_MS), 'created_at'),
      activity: await this.#drop('activity', this.#before(NOTICES_MS)),
      fixtures: await this.#dropFixtures(this.#before(FIXTURES_MS)),
      singleUse: await this.#drop('single_use', this.#before(0), 'expires_at'),
      departed: await this.#drop('departed', this.#before(DEPARTED_MS), 'left_at'),
      matchRanks: await this.#drop('match_ranks', this.#before(NOTICES_MS), 'settled_at'),
      registrationNetworks: await this.#drop('registration_networks', this.#before(2 * DAY_MS), 'day'),
    }
  }

  #before(ms: number): Date {
    return new Date(this.#world.now() - ms)
  }

  #drop(
    table: Aged,
    before: Date,
    by: 'at' | 'created_at' | 'expires_at' | 'left_at' | 'settled_at' | 'day' = 'at',
  ): Promise<number> {
    const [name, column] = [sql.table(table), sql.ref(by)]
    return inChunks(async () => {
      const { numAffectedRows } = await sql`
        delete from ${name} where ctid = any (array(
          select ctid from ${name} where ${column} < ${before.toISOString()}::timestamptz limit ${CHUNK}::integer))`.execute(
        this.#db,
      )
      return Number(numAffectedRows ?? 0)
    })
  }

  #dropTicks(before: Date): Promise<number> {
    return inChunks(async () => {
      const { numAffectedRows } = await sql`
        delete from ticks where ctid = any (array(
          select t.ctid from ticks t
           where t.at < ${before.toISOString()}::timestamptz
             and exists (select from ticks e where e.instrument_id = t.instrument_id and e.at < t.at)
           limit ${CHUNK}::integer))`.execute(this.#db)
      return Number(numAffectedRows ?? 0)
    })
  }

  /** Whole ones, a match at a time: the rest of a tape would prove nothing. */
  async #dropTapes(before: Date): Promise<number> {
    for (let dropped = 0; ; dropped++) {
      const { rows } = await sql`
        with old as (
          select match_id from tape where first_n = 1 and at < ${before.toISOString()}::timestamptz limit 1
        ), signed as (
          delete from tape_checkpoints c using old where c.match_id = old.match_id
        ), lines as (
          delete from tape t using old where t.match_id = old.match_id
        )
        select from old`.execute(this.#db)
      if (rows.length === 0) return dropped
    }
  }

  async #dropFixtures(before: Date): Promise<number> {
    const { numDeletedRows } = await this.#db
      .deleteFrom('fixtures')
      .where('starts_at', '<', before)
      .executeTakeFirstOrThrow()
    return Number(numDeletedRows)
  }

  /** Continues where the last run stopped, one window at a time, up to `before`. */
  async #thinTicks(before: Date): Promise<number> {
    let thinned = 0
    for (let windows = 0; windows < WINDOWS_MAX; windows++) {
      const removed = await this.#thinNext(before)
      if (removed === null) break
      thinned += removed
    }
    return thinned
  }

  /** Keeps the first tick of each minute and player in the next window. Null when no window is old enough. */
  async #thinNext(before: Date): Promise<number | null> {
    return this.#db.transaction().execute(async (tx) => {
      const from = await thinnedUntil(tx)
      if (from === null) return null
      const to = windowAfter(from)
      if (to > before) return null
      const { numAffectedRows } = await sql`
        delete from ticks t using (
          select ctid, row_number() over (partition by instrument_id, date_trunc('minute', at) order by at, ctid) as n
            from ticks where at >= ${from.toISOString()}::timestamptz and at < ${to.toISOString()}::timestamptz
        ) ranked
         where t.ctid = ranked.ctid and ranked.n > 1 and t.cause in ('match', 'trade')`.execute(tx)
      const thinned = Number(numAffectedRows ?? 0)
      const until = thinned === 0 ? await emptyUntil(tx, to, before) : to
      await tx
        .insertInto('upkeep')
        .values({ task: THINNING, done_until: until })
        .onConflict((conflict) => conflict.column('task').doUpdateSet({ done_until: until }))
        .execute()
      return thinned
    })
  }
}

const THINNING = 'thin ticks'

/** The end of the window that contains an instant. */
const windowAfter = (from: Date): Date => new Date(Math.floor(from.getTime() / WINDOW_MS) * WINDOW_MS + WINDOW_MS)

/** Skips to the window of the next ticks, at most a day ahead: most of a day has no match. */
async function emptyUntil(tx: Kysely<Database>, from: Date, before: Date): Promise<Date> {
  const end = new Date(Math.min(from.getTime() + DAY_MS, windowAfter(before).getTime() - WINDOW_MS))
  if (end <= from) return from
  const { first } = await tx
    .selectFrom('ticks')
    .select(({ fn }) => fn.min('at').as('first'))
    .where('at', '>=', from)
    .where('at', '<', end)
    .executeTakeFirstOrThrow()
  return first === null ? end : new Date(windowAfter(first).getTime() - WINDOW_MS)
}

/**
 * The instant at which thinning stopped, or that of the first tick. Finding the first tick reads the whole table, once.
 */
async function thinnedUntil(tx: Kysely<Database>): Promise<Date | null> {
  const done = await tx
    .selectFrom('upkeep')
    .select('done_until')
    .where('task', '=', THINNING)
    .forUpdate()
    .executeTakeFirst()
  if (done !== undefined) return done.done_until
  const { first } = await tx
    .selectFrom('ticks')
    .select(({ fn }) => fn.min('at').as('first'))
    .executeTakeFirstOrThrow()
  return first
}

/** Repeats a bounded removal until it finds less than it may. */
async function inChunks(remove: () => Promise<number>): Promise<number> {
  let removed = 0
  for (;;) {
    const now = await remove()
    removed += now
    if (now < CHUNK) return removed
  }
}
