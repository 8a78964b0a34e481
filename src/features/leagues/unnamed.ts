/** The purse of an order that names none: that of the tournament which plays the match. */
import { type Kysely, sql } from 'kysely'
import { type InstrumentId, type LeagueId, leagueId, type UserId } from '../../../actors/kernel/ids.ts'
import type { World } from '../../../actors/kernel/world.ts'
import type { Database } from '../../../db/postgres/schema.ts'

const REMEMBERED_MAX = 20_000

export class UnnamedPurses {
  readonly #db: Kysely<Database>
  readonly #world: Pick<World, 'now'>
  /** Instruments of no tournament, so that most orders cost no look. Those of a tournament are in no other match. */
  readonly #elsewhere = new Set<InstrumentId>()

  constructor(db: Kysely<Database>, world: Pick<World, 'now'>) {
    this.#db = db
    this.#world = world
  }

  /** The tournament of the match of an instrument, if the user may open positions in it now; or null. */ // G4
  async of(user: UserId, instrument: InstrumentId): Promise<LeagueId | null> {
    if (this.#elsewhere.has(instrument)) return null
    const now = new Date(this.#world.now())
    const { rows } = await sql<{ league_id: string | null; is_open: boolean | null }>`
      select l.id as league_id, m.left_at is null and m.user_id is not null and l.starts_at <= ${now}::timestamptz
                                and l.ends_at > ${now}::timestamptz as is_open
        from instruments i
        left join replays r on r.match_id = i.match_id
        left join tournaments t on t.replay_id = r.id
        left join leagues l on l.id = t.league_id
        left join league_members m on m.league_id = l.id and m.user_id = ${user}::uuid
       where i.id = ${instrument}::uuid`.execute(this.#db)
    const [row] = rows
    if (row === undefined) return null
    if (row.league_id !== null) return row.is_open === true ? leagueId(row.league_id) : null
    if (this.#elsewhere.size === REMEMBERED_MAX) this.#elsewhere.clear()
    this.#elsewhere.add(instrument)
    return null
  }
}
