/** The purse of an order that names none: that of the tournament which plays the match. */
import { type Kysely, sql } from 'kysely'
import { type InstrumentId, type LeagueId, leagueId, type UserId } from '../../../actors/kernel/ids.ts'
import type { Database } from '../../../db/postgres/schema.ts'

const REMEMBERED_MAX = 20_000

export class UnnamedPurses {
  readonly #db: Kysely<Database>
  /** Instruments of no tournament, so that most orders cost no look. Those of a tournament are in no other match. */
  readonly #elsewhere = new Set<InstrumentId>()

  constructor(db: Kysely<Database>) {
    this.#db = db
  }

  /**
   * The tournament of the match of an instrument, if the user has entered it; or null. Also once it is over: an order
   * that is late must not be paid with other money.
   */ // G4
  async of(user: UserId, instrument: InstrumentId): Promise<LeagueId | null> {
    if (this.#elsewhere.has(instrument)) return null
    const { rows } = await sql<{ league_id: string | null; is_in: boolean }>`
      select t.league_id, m.user_id is not null as is_in
        from instruments i
        left join replays r on r.match_id = i.match_id
        left join tournaments t on t.replay_id = r.id
        left join league_members m on m.league_id = t.league_id and m.user_id = ${user}::uuid
                                    and m.left_at is null
       where i.id = ${instrument}::uuid`.execute(this.#db)
    const [row] = rows
    if (row === undefined) return null
    if (row.league_id !== null) return row.is_in ? leagueId(row.league_id) : null
    if (this.#elsewhere.size === REMEMBERED_MAX) this.#elsewhere.clear()
    this.#elsewhere.add(instrument)
    return null
  }
}
