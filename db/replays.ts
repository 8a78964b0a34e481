/** The replays that must play, and their progress. Every process follows them, and a restart continues them. */
import { type Kysely, type Selectable, sql, type Transaction } from 'kysely'
import { present } from '../actors/kernel/assert.ts'
import { type FixtureId, fixtureId, type UserId } from '../actors/kernel/ids.ts'
import { REPLAY_FIXTURES_FROM, REPLAYS_MAX } from '../actors/kernel/limits.ts'
import { type Instant, instant, type World } from '../actors/kernel/world.ts'
import type { Ending } from '../actors/match/messages.ts'
import type { AuditLog } from './audit-log.ts'
import { countIn } from './match-record.ts'
import type { Database } from './postgres/schema.ts'
import type { ReplaysTable } from './postgres/schema/matches.ts'

/** One replay of a recording, in its own match. */
export interface ReplayRun {
  readonly id: string
  /** The name of the recording; for a tournament, whose match is in no recording, the word `tournament`. */
  readonly recording: string
  /** Which of the recording's casts plays: concurrent runs share no players. */
  readonly slot: number
  readonly matchId: FixtureId
  readonly speed: number
  readonly traders: number
  readonly demo: boolean
  /** Whether it plays every frame, late if need be, from the anchors. */
  readonly lossless: boolean
  /** Whether it is traded with practice money. */
  readonly practice: boolean
  /** What the match of a tournament is made from; null for a recording. */
  readonly tournament: { readonly seed: string; readonly startsAt: Instant } | null
  /** How an operator ended it; null while it plays. */
  readonly ending: Ending | null
  readonly startedAt: Instant
  /** The committed progress of its match; null before the first frame. */
  readonly match: { readonly minute: number | null; readonly frames: number; readonly settled: boolean } | null
}

export interface ReplayPlan extends Pick<
  ReplayRun,
  'recording' | 'speed' | 'traders' | 'demo' | 'lossless' | 'practice'
> {
  /** The operator who starts it; null for the demo. */
  readonly by: UserId | null
  /** For the audit log. */
  readonly reason?: string | undefined
}

export class ReplayRuns {
  readonly #db: Kysely<Database>
  readonly #world: World
  readonly #audit: AuditLog

  constructor(db: Kysely<Database>, world: World, audit: AuditLog) {
    this.#db = db
    this.#world = world
    this.#audit = audit
  }

  /** Every run that has not finished, or whose match has not settled, in the order of their start. */
  async unfinished(): Promise<readonly ReplayRun[]> {
    const rows = await this.#rows().where(IS_ON).orderBy('replays.match_id').execute()
    return rows.map(runFrom)
  }

  /** The latest run of the demo, finished or not. */
  async latestDemo(): Promise<ReplayRun | null> {
    const row = await this.#rows()
      .where('demo', '=', true)
      .orderBy('replays.match_id', 'desc')
      .limit(1)
      .executeTakeFirst()
    return row === undefined ? null : runFrom(row)
  }

  /**
   * Records a new run under a fixture number that no provider uses, one higher than that of the last run. Null when
   * REPLAYS_MAX are running, or a demo is requested and one is running. Within `tx` if there is one.
   */
  async begin(plan: ReplayPlan, tx?: Transaction<Database>): Promise<ReplayRun | null> {
    return tx === undefined ? this.#db.transaction().execute((own) => this.#begin(plan, own)) : this.#begin(plan, tx)
  }

  async #begin(plan: ReplayPlan, tx: Transaction<Database>): Promise<ReplayRun | null> {
    const { recording, speed, traders, demo, lossless, practice, by, reason } = plan
    await sql`lock table replays in share row exclusive mode`.execute(tx) // one start at a time
    const running = await tx.selectFrom('replays').select(['recording', 'slot', 'demo']).where(IS_ON).execute()
    if (running.length >= REPLAYS_MAX || (demo && running.some((run) => run.demo))) return null
    const taken = new Set(running.filter((run) => run.recording === recording).map((run) => run.slot))
    const slot = present(
      Array.from({ length: REPLAYS_MAX }, (_, n) => n).find((n) => !taken.has(n)),
      'free cast',
    )
    const { last } = await tx
      .selectFrom('replays')
      .select((row) => row.fn.max<number | null>('match_id').as('last'))
      .executeTakeFirstOrThrow()
    const id = this.#world.newId()
    const matchId = fixtureId((last ?? REPLAY_FIXTURES_FROM) + 1)
    const startedAt = this.#world.now()
    await tx
      .insertInto('replays')
      .values({
        id,
        recording,
        slot,
        match_id: matchId,
        speed,
        traders,
        demo,
        lossless,
        practice,
        state: 'running',
        started_at: new Date(startedAt),
      })
      .execute()
    if (by !== null) {
      const after = { recording, speed, traders, lossless, practice, matchId }
      await this.#audit.record({ actor: by, action: 'replay.start', subject: id, before: null, after, reason }, tx)
    }
    const begun = { id, recording, slot, matchId, speed, traders, demo, lossless, practice, startedAt }
    return { ...begun, tournament: null, ending: null, match: null }
  }

  /**
   * Ends one run, or all with a null id, and returns the ids of those that now end as asked. A run that is already
   * ending keeps its ending, and leaves no second audit entry. `over` if the one run ends otherwise.
   */
  async end(
    id: string | null,
    ending: Ending,
    by: UserId | null,
    reason?: string,
  ): Promise<readonly string[] | 'over'> {
    return this.#db.transaction().execute(async (tx) => {
      const ended = await tx
        .updateTable('replays')
        .set({ ending })
        .where('state', '=', 'running')
        .where('ending', 'is', null)
        .where((eb) => eb.or([eb(ENDS, 'is', null), eb(ENDS, '=', ending)]))
        .$if(id !== null, (query) => query.where('id', '=', id))
        .returning('id')
        .execute()
      const running = await tx
        .selectFrom('replays')
        .select(['id', ENDS.as('ends')])
        .where('state', '=', 'running')
        .$if(id !== null, (query) => query.where('id', '=', id))
        .execute()
      const stopped = running.filter(({ ends }) => ends === ending).map((run) => run.id)
      const isRefused = id !== null && stopped.length === 0
      const isOver = isRefused && running.length > 0
      const outcome = isOver ? 'MATCH_OVER' : isRefused ? 'NOT_FOUND' : 'ok'
      for (const { id: subject } of by === null ? [] : isRefused ? [{ id }] : ended) {
        const action = { actor: by, action: 'replay.stop', subject, before: null, after: { ending }, reason, outcome }
        await this.#audit.record(action, tx)
      }
      return isOver ? 'over' : stopped
    })
  }

  /** Marks a run as finished, unless its match has begun and is not settled. */
  async finish(id: string): Promise<void> {
    await this.#db
      .updateTable('replays')
      .set({ state: 'finished' })
      .where('id', '=', id)
      .where((eb) => eb.not(IS_UNSETTLED))
      .execute()
  }

  #rows() {
    return this.#db
      .selectFrom('replays')
      .leftJoin('matches', 'matches.id', 'replays.match_id')
      .leftJoin('tournaments', 'tournaments.replay_id', 'replays.id')
      .leftJoin('leagues', 'leagues.id', 'tournaments.league_id')
      .selectAll('replays')
      .select(['matches.id as known', 'settled_at', 'tournaments.seed', 'leagues.starts_at'])
      .select([countIn('minute').as('minute'), countIn('feedSeq').as('frames')])
  }
}

/** How a run ends: as its match settles, which may be by itself, or else as an operator has asked. */
const ENDS = sql<Ending | null>`coalesce(
  (select m.info ->> 'settling' from matches m where m.id = replays.match_id), replays.ending)`
const IS_UNSETTLED = sql<boolean>`replays.match_id in (select m.id from matches m where m.settled_at is null)`
/**
 * Another process may have played the first frame of a run when it was already marked as finished. Each half has an
 * index, and is asked for every second; either of the two in one condition reads all replays and all matches.
 */
const IS_ON = sql<boolean>`replays.match_id in (
  select r.match_id from replays r where r.state = 'running'
  union select m.id from matches m where m.settled_at is null and m.id > ${sql.lit(REPLAY_FIXTURES_FROM)})`

type RunRow = Selectable<ReplaysTable> & {
  readonly known: number | null
  readonly settled_at: Date | null
  readonly minute: number | null
  readonly frames: number | null
  readonly seed: string | null
  readonly starts_at: Date | null
}

const runFrom = (row: RunRow): ReplayRun => ({
  id: row.id,
  recording: row.recording,
  slot: row.slot,
  matchId: fixtureId(row.match_id),
  speed: row.speed,
  traders: row.traders,
  demo: row.demo,
  lossless: row.lossless,
  practice: row.practice,
  tournament:
    row.seed === null || row.starts_at === null ? null : { seed: row.seed, startsAt: instant(row.starts_at.getTime()) },
  ending: row.ending,
  startedAt: instant(row.started_at.getTime()),
  match: row.known === null ? null : { minute: row.minute, frames: row.frames ?? 0, settled: row.settled_at !== null },
})
