/**
 * Removes old rows: ticks are thinned and later dropped, and stored answers are dropped when no more retries come.
 *
 * Large tables are swept page by page, a part in each run, because no index finds their old rows cheaply: a btree by
 * time would cost every trade, and a block range index keeps the oldest time that a block ever had, so once room has
 * been used again it finds nearly every block.
 */
import { type Kysely, type RawBuilder, sql } from 'kysely'
import { present } from '../actors/kernel/assert.ts'
import { DAY_MS, HOUR_MS, type World } from '../actors/kernel/world.ts'
import type { Database } from './postgres/schema.ts'

/** How long ticks and journals are kept (settings). */
export interface Limits {
  /** Days for which every tick is kept; after that one per minute and player, plus those of in-game events. */
  readonly fullDays: number
  /** Days after which other ticks and recent trades are dropped. A player's first tick, and last trade, stays. */
  readonly days: number
  /** Days after which the journal and the tape of a match are dropped: it began and was settled before. */
  readonly journalDays: number
}

/** The numbers of rows that a run removed; of `journals` and `tapes` those of matches. */
export type Forgotten = Readonly<Record<SweptName | IndexedName, number>>

type SweptName =
  | 'ticks'
  | 'thinnedTicks'
  | 'recentTrades'
  | 'journals'
  | 'tapes'
  | 'commandResults'
  | 'accountEvents'
  | 'notifications'
  | 'activity'
  | 'matchRanks'

type IndexedName = 'fixtures' | 'singleUse' | 'departed' | 'registrationNetworks'

/** What is removed of a table, whose rows are `t`. */
interface Sweep {
  readonly name: SweptName
  readonly table: string
  readonly keptMs: number
  readonly isOld: RawBuilder<unknown>
  /** Tables that lose all rows of the match of a row that is found, which is the first of its match. */
  readonly whole?: readonly string[]
}

/** Stored refusals and closes are kept 7 days. */
const COMMAND_RESULTS_MS = 7 * DAY_MS
/** A client that returns later gets a snapshot instead of events. */
export const ACCOUNT_EVENTS_MS = 30 * DAY_MS
/** After that someone who was erased begins like anyone else, and their username is free. */
const DEPARTED_MS = 365 * DAY_MS
/** Users do not leaf further back in notifications or activity. */
export const NOTICES_MS = 365 * DAY_MS
/** Fixtures that never became a match. */
const FIXTURES_MS = 7 * DAY_MS
const NETWORKS_MS = 2 * DAY_MS

/** How often `run` is called. */
const RUN_MS = HOUR_MS
/** A table is swept eight times while a row is kept, so rows stay an eighth longer at most. */
const PASSES = 8
/** A small table is swept whole in each run: 1,024 pages are 8 MB. */
const RUN_PAGES_MIN = 1_024
/** Pages per statement, which may hold 10,000 rows: none may delay a commit for long. */
const STEP_PAGES = 128
/** Rows per statement where an index finds them. */
const CHUNK = 10_000

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
   * Removes rows that are too old: in large tables those of some pages, from where the last run stopped, or with
   * `whole` of all. Several processes may run at the same time: of each table one does a part.
   */
  async run({ whole = false }: { readonly whole?: boolean } = {}): Promise<Forgotten> {
    const removed: [SweptName | IndexedName, number][] = []
    for (const sweep of this.#sweeps()) removed.push([sweep.name, await this.#sweep(sweep, whole)])
    removed.push(['fixtures', await this.#drop('fixtures', 'starts_at', FIXTURES_MS)])
    removed.push(['singleUse', await this.#drop('single_use', 'expires_at', 0)])
    removed.push(['departed', await this.#drop('departed', 'left_at', DEPARTED_MS)])
    removed.push(['registrationNetworks', await this.#drop('registration_networks', 'day', NETWORKS_MS)])
    return Object.fromEntries(removed) as Record<SweptName | IndexedName, number>
  }

  #sweeps(): readonly Sweep[] {
    const { fullDays, days, journalDays } = this.#limits()
    const aged = (name: SweptName, table: string, keptMs: number, by = 'at'): Sweep => ({
      name,
      table,
      keptMs,
      isOld: sql`t.${sql.ref(by)} < ${this.#before(keptMs)}`,
    })
    const [full, kept, heard] = [fullDays * DAY_MS, days * DAY_MS, journalDays * DAY_MS]
    /** Whole ones, found by their first row. A match that was void may go on after long. */
    const ofMatches = (name: SweptName, n: string, whole: readonly [string, ...string[]]): Sweep => ({
      name,
      table: whole[0],
      keptMs: heard,
      isOld: sql`t.at < ${this.#before(heard)}
        and not exists (select from ${sql.table(whole[0])} e where e.match_id = t.match_id and e.${sql.ref(n)} < t.${sql.ref(n)})
        and not exists (select from matches m where m.id = t.match_id
                           and (m.settled_at is null or m.settled_at >= ${this.#before(heard)}))`,
      whole,
    })
    return [
      {
        name: 'ticks',
        table: 'ticks',
        keptMs: kept,
        isOld: sql`t.at < ${this.#before(kept)}
          and exists (select from ticks e where e.instrument_id = t.instrument_id and e.at < t.at)`,
      },
      {
        // The first tick of a minute and player stays, and those of in-game events.
        name: 'thinnedTicks',
        table: 'ticks',
        keptMs: full,
        isOld: sql`t.at < ${this.#before(full)} and t.cause in ('match', 'trade')
          and exists (select from ticks e
                       where e.instrument_id = t.instrument_id and e.at >= date_trunc('minute', t.at) and e.at <= t.at
                         and (e.at < t.at or e.ctid < t.ctid))`,
      },
      {
        // A player's newest old one stays: the volume since a moment is the running total less that before it.
        name: 'recentTrades',
        table: 'recent_trades',
        keptMs: kept,
        isOld: sql`t.at < ${this.#before(kept)}
          and exists (select from recent_trades e
                       where e.instrument_id = t.instrument_id and e.at < ${this.#before(kept)}
                         and (e.at, e.traded_micros) > (t.at, t.traded_micros))`,
      },
      // The rest of a recording could not be played again, and that of a tape would prove nothing.
      ofMatches('journals', 'n', ['journal']),
      ofMatches('tapes', 'first_n', ['tape', 'tape_checkpoints']),
      aged('commandResults', 'command_results', COMMAND_RESULTS_MS),
      aged('accountEvents', 'account_events', ACCOUNT_EVENTS_MS),
      aged('notifications', 'notifications', NOTICES_MS, 'created_at'),
      aged('activity', 'activity', NOTICES_MS),
      aged('matchRanks', 'match_ranks', NOTICES_MS, 'settled_at'),
    ]
  }

  #before(ms: number): RawBuilder<Date> {
    return sql<Date>`${new Date(this.#world.now() - ms).toISOString()}::timestamptz`
  }

  async #sweep(sweep: Sweep, whole: boolean): Promise<number> {
    const { rows } = await sql<{ pages: number }>`
      select pg_relation_size(${sweep.table}::text::regclass) / current_setting('block_size')::integer as pages`.execute(
      this.#db,
    )
    const { pages } = present(rows[0], 'size of a table')
    const share = Math.ceil((pages * RUN_MS * PASSES) / sweep.keptMs)
    let left = whole ? pages : Math.min(pages, Math.max(share, RUN_PAGES_MIN))
    let removed = 0
    for (; left > 0; left -= STEP_PAGES) removed += await this.#step(sweep, pages)
    return removed
  }

  /** Sweeps the next pages of a table, unless another process does. Returns how much was removed. */
  #step({ name, table, isOld, whole }: Sweep, pages: number): Promise<number> {
    return this.#db.transaction().execute(async (tx) => {
      await tx
        .insertInto('sweeps')
        .values({ name })
        .onConflict((known) => known.doNothing())
        .execute()
      const place = await tx
        .selectFrom('sweeps')
        .select('page')
        .where('name', '=', name)
        .forUpdate()
        .skipLocked()
        .executeTakeFirst()
      if (place === undefined) return 0
      const from = place.page < pages ? place.page : 0
      const next = from + STEP_PAGES
      const found = sql`t.ctid >= ${`(${from},0)`}::tid and t.ctid < ${`(${next},0)`}::tid and ${isOld}`
      const gone = (whole ?? []).map(
        (each, n) =>
          sql`${sql.ref(`gone_${n}`)} as (delete from ${sql.table(each)} g using old where g.match_id = old.match_id)`,
      )
      const { numAffectedRows, rows } =
        whole === undefined
          ? await sql`delete from ${sql.table(table)} t where ${found}`.execute(tx)
          : await sql`
              with old as (select t.match_id from ${sql.table(table)} t where ${found}), ${sql.join(gone)}
              select from old`.execute(tx)
      await tx
        .updateTable('sweeps')
        .set({ page: next < pages ? next : 0 })
        .where('name', '=', name)
        .execute()
      return whole === undefined ? Number(numAffectedRows ?? 0) : rows.length
    })
  }

  /** For tables with an index that finds old rows: it repeats a bounded removal until that finds less than it may. */
  async #drop(table: string, by: string, keptMs: number): Promise<number> {
    const [name, column] = [sql.table(table), sql.ref(by)]
    for (let removed = 0; ;) {
      const { numAffectedRows } = await sql`
        delete from ${name} where ctid = any (array(
          select ctid from ${name} where ${column} < ${this.#before(keptMs)} limit ${CHUNK}::integer))`.execute(
        this.#db,
      )
      const now = Number(numAffectedRows ?? 0)
      removed += now
      if (now < CHUNK) return removed
    }
  }
}
