/** The calendar: the provider's fixtures that no process runs yet, as last described. */
import { type Kysely, sql } from 'kysely'
import { type FixtureId, fixtureId } from '../actors/kernel/ids.ts'
import type { Instant } from '../actors/kernel/world.ts'
import type { Phase } from '../actors/market/phase.ts'
import type { MatchInfo } from '../actors/match/messages.ts'
import { countIn, phaseFrom } from './match-record.ts'
import { bigints, instants, jsonLines } from './postgres/arrays.ts'
import type { Database } from './postgres/schema.ts'

/** What the poller needs to know about a match. */
export interface RunningMatch {
  readonly matchId: FixtureId
  readonly phase: Phase
  /** The last accepted update. */
  readonly feedSeq: number
}

export class Fixtures {
  readonly #db: Kysely<Database>

  constructor(db: Kysely<Database>) {
    this.#db = db
  }

  /** Stores these fixtures, replacing earlier descriptions. */
  async note(fixtures: readonly MatchInfo[]): Promise<void> {
    if (fixtures.length > 0) await upsert(this.#db, fixtures)
  }

  /** Stores these fixtures and removes all others with a kick-off between the two instants. All or nothing. */
  async replace(from: Instant, to: Instant, fixtures: readonly MatchInfo[]): Promise<void> {
    await this.#db.transaction().execute(async (tx) => {
      await sql`
        delete from fixtures
         where starts_at between ${new Date(from).toISOString()}::timestamptz and ${new Date(to).toISOString()}::timestamptz
           and id <> all (${bigints(fixtures.map((f) => f.matchId))}::bigint[])`.execute(tx)
      if (fixtures.length > 0) await upsert(tx, fixtures)
    })
  }

  /** The provider's matches that run and are not settled, in any process. */
  async running(): Promise<readonly RunningMatch[]> {
    const rows = await this.#db
      .selectFrom('matches')
      .select(['id', 'phase', countIn('feedSeq').as('feedSeq')])
      .where('settled_at', 'is', null)
      .where('replay', '=', false)
      .orderBy('id')
      .execute()
    return rows.map((row) => ({
      matchId: fixtureId(row.id),
      phase: phaseFrom(row.phase),
      feedSeq: row.feedSeq ?? 0,
    }))
  }
}

async function upsert(db: Kysely<Database>, fixtures: readonly MatchInfo[]): Promise<void> {
  // An answer may name a fixture twice; the last one counts. Two answers may come at once: one order for both.
  const byId = new Map(fixtures.map((fixture) => [fixture.matchId, fixture]))
  const once = [...byId.values()].toSorted((a, b) => a.matchId - b.matchId)
  await sql`
    insert into fixtures (id, starts_at, info)
    select f.id, f.starts_at, f.info::jsonb
      from (select unnest(${bigints(once.map((f) => f.matchId))}::bigint[]) as id,
                   unnest(${instants(once.map((f) => f.startsAt))}::timestamptz[]) as starts_at,
                   unnest(string_to_array(${jsonLines(once)}::text, E'\\n')) as info) f
    on conflict (id) do update set starts_at = excluded.starts_at, info = excluded.info
     where fixtures.info <> excluded.info`.execute(db)
}
