/** The processes of the installation that run now, as each of them says once a second. The database's clock decides. */
import { type Kysely, sql } from 'kysely'
import { present } from '../actors/kernel/assert.ts'
import { type FixtureId, fixtureId } from '../actors/kernel/ids.ts'
import { bigintsFrom } from './postgres/arrays.ts'
import type { Database } from './postgres/schema.ts'

export interface OtherProcess {
  readonly id: string
  readonly runsMatches: boolean
}

/** What has become of a process that another found gone. */
export interface Missed {
  /** How many processes say so; 0 if it has left. */
  readonly witnesses: number
  /** Its matches whose leases have expired now. */
  readonly matches: readonly FixtureId[]
}

/** A process that has not been seen for so long is not counted among the others. */
const SEEN_WITHIN_SECS = 3
/** Two processes that miss a third within this time are right. */
const MISSED_WITHIN_SECS = 2
/** Rows of processes that were killed are forgotten. */
const FORGOTTEN_AFTER_SECS = 60

export class Processes {
  readonly #db: Kysely<Database>
  readonly #self: OtherProcess

  constructor(db: Kysely<Database>, self: OtherProcess) {
    this.#db = db
    this.#self = self
  }

  /** Says that this process runs, and whether it hears the others. Returns the others that run and hear. */
  async seen(hears: boolean): Promise<readonly OtherProcess[]> {
    const { id, runsMatches } = this.#self
    const { rows } = await sql<{ id: string; runs_matches: boolean }>`
      with self as (
        insert into processes (id, runs_matches, hears, seen_at)
          values (${id}, ${runsMatches}::boolean, ${hears}::boolean, clock_timestamp())
          on conflict (id) do update set hears = excluded.hears, seen_at = excluded.seen_at
      ), dead as (
        delete from processes
         where id <> ${id} and seen_at < clock_timestamp() - make_interval(secs => ${FORGOTTEN_AFTER_SECS})
      )
      select id, runs_matches from processes
       where id <> ${id} and hears and seen_at > clock_timestamp() - make_interval(secs => ${SEEN_WITHIN_SECS})
       order by id`.execute(this.#db)
    return rows.map((row) => ({ id: row.id, runsMatches: row.runs_matches }))
  }

  /**
   * Says that this process found another gone. When so many processes have, the leases of that process expire, and
   * its matches are returned. If it lives after all, its next commit or renewal finds out, as with any lost lease.
   */
  async missed(process: string, witnesses: 1 | 2): Promise<Missed> {
    const { rows } = await sql<{ witnesses: number; matches: string }>`
      with suspect as (
        update processes
           set missed_by = case
                 when missed_at > clock_timestamp() - make_interval(secs => ${MISSED_WITHIN_SECS})
                 then array_append(array_remove(missed_by, ${this.#self.id}::text), ${this.#self.id}::text)
                 else array[${this.#self.id}::text] end,
               missed_at = clock_timestamp()
         where id = ${process}
        returning id, cardinality(missed_by) as witnesses
      ), released as (
        update match_leases l set expires_at = '-infinity'
          from suspect s
         where l.owner = s.id and s.witnesses >= ${witnesses}::integer and l.expires_at > clock_timestamp()
        returning l.match_id
      )
      select witnesses, array(select match_id from released)::text as matches from suspect`.execute(this.#db)
    const [row] = rows
    return row === undefined
      ? { witnesses: 0, matches: [] }
      : { witnesses: row.witnesses, matches: bigintsFrom(row.matches).map((id) => fixtureId(present(id, 'match'))) }
  }

  /** This process stops. */
  async left(): Promise<void> {
    await this.#db.deleteFrom('processes').where('id', '=', this.#self.id).execute()
  }
}
