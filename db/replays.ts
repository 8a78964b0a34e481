/** Which replays have been played and how far they are: what a restart needs to go on with them. */
import { type Kysely, sql } from 'kysely'
import { present } from '../actors/kernel/assert.ts'
import { type FixtureId, fixtureId } from '../actors/kernel/ids.ts'
import { REPLAY_FIXTURES_FROM } from '../actors/kernel/limits.ts'
import type { World } from '../actors/kernel/world.ts'
import type { Database } from './schema.ts'

/** One playing of a recording, into a match of its own. */
export interface ReplayRun {
  readonly script: string
  readonly matchId: FixtureId
  readonly speed: number
  readonly traders: number
}

export class ReplayRuns {
  readonly #db: Kysely<Database>
  readonly #world: World

  constructor(db: Kysely<Database>, world: World) {
    this.#db = db
    this.#world = world
  }

  /** The run of this recording that has not ended, or null. */
  async unfinished(script: string): Promise<ReplayRun | null> {
    const row = await this.#db
      .selectFrom('replays')
      .select(['script', 'match_id', 'speed', 'traders'])
      .where('script', '=', script)
      .where('state', '=', 'running')
      .orderBy('match_id', 'desc')
      .executeTakeFirst()
    if (row === undefined) return null
    return { script: row.script, matchId: fixtureId(row.match_id), speed: row.speed, traders: row.traders }
  }

  /** Records a new run under a fixture number that no provider uses, one higher than that of the last run. */
  async begin(run: Omit<ReplayRun, 'matchId'>): Promise<ReplayRun> {
    const startedAt = new Date(this.#world.now())
    const { rows } = await sql<{ match_id: number }>`
      insert into replays (id, script, match_id, speed, traders, state, started_at)
      select ${this.#world.newId()}::uuid, ${run.script}::text, coalesce(max(match_id), ${REPLAY_FIXTURES_FROM}::bigint) + 1,
             ${run.speed}::float8, ${run.traders}::integer, 'running', ${startedAt.toISOString()}::timestamptz
        from replays
      returning match_id`.execute(this.#db)
    return { ...run, matchId: fixtureId(present(rows[0], 'new run').match_id) }
  }

  async finish(matchId: FixtureId): Promise<void> {
    await this.#db.updateTable('replays').set({ state: 'finished' }).where('match_id', '=', matchId).execute()
  }
}
