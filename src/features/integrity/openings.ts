/** Reads what the integrity desk looks at: recent openings with their mark-outs, and what connects their owners. */
import { type Kysely, sql } from 'kysely'
import { instrumentId, userId } from '../../../actors/kernel/ids.ts'
import { instant, type World } from '../../../actors/kernel/world.ts'
import type { Connections, Finding, Opening } from '../../../actors/integrity/findings.ts'
import { AuditLog } from '../../../db/audit-log.ts'
import { uuids } from '../../../db/postgres/arrays.ts'
import type { Database } from '../../../db/postgres/schema.ts'

/** Two runs of a cluster are at least this far apart, whichever processes ask. */
const APART = '25 seconds'
/** A match with its breaks, and the openings of a busy one: looking at them takes some 50 ms. */
const SPAN = '3 hours'
const OPENINGS_MAX = 10_000
/** A user is reported once a day for each kind of finding, among the last `ALERTS_MAX` alerts. */
const SILENT = '1 day'
const ALERTS_MAX = 1_000

export class Openings {
  readonly #db: Kysely<Database>
  readonly #world: Pick<World, 'now'>

  constructor(db: Kysely<Database>, world: Pick<World, 'now'>) {
    this.#db = db
    this.#world = world
  }

  /** Claims a run for this process. False while another has just had one, unless by a clock far ahead. */
  async claim(): Promise<boolean> {
    const now = new Date(this.#world.now())
    const { rows } = await sql`
      insert into upkeep as u (task, done_until) values ('integrity', ${now}::timestamptz)
        on conflict (task) do update set done_until = excluded.done_until
         where u.done_until <= excluded.done_until - ${APART}::interval
            or u.done_until > excluded.done_until + ${APART}::interval
        returning 1 as one`.execute(this.#db)
    return rows.length > 0
  }

  /**
   * The latest openings by people in the main purse, oldest first. Simulated traders are left out. Practice and leagues
   * are left out too: many openings there would push those of the main purse out of the limit.
   */
  async recent(): Promise<readonly Opening[]> {
    const now = new Date(this.#world.now())
    const { rows } = await sql<{
      user_id: string
      instrument_id: string
      opened_at: Date
      sign: 1 | -1
      lots_micros: number
      mark_out: number | null
    }>`
      with latest as materialized (
        select l.reference, l.at from ledger_entries l
         where l.at > ${now}::timestamptz - ${SPAN}::interval and l.kind = 'margin' and l.account = 'user'
           and l.purse = 'main'
         order by l.at desc limit ${OPENINGS_MAX}::integer
      )
      select p.user_id, p.instrument_id, p.opened_at, p.sign, p.lots_micros,
             case when p.opened_at + interval '10 seconds' <= ${now}::timestamptz then
               round(p.sign * (coalesce(t.base_micros, p.open_base_micros) - p.open_base_micros)::numeric * 1000000
                     / p.open_base_micros)::integer end as mark_out
        from latest l
        join positions p on p.id = l.reference
        join users u on u.id = p.user_id and not u.synthetic
        left join lateral (
          select base_micros from ticks t
           where t.instrument_id = p.instrument_id and t.at > p.opened_at
             and t.at <= p.opened_at + interval '10 seconds'
           order by t.at desc limit 1) t on true
       order by p.opened_at`.execute(this.#db)
    return rows.map((row) => ({
      userId: userId(row.user_id),
      instrumentId: instrumentId(row.instrument_id),
      at: instant(row.opened_at.getTime()),
      sign: row.sign,
      lots: row.lots_micros,
      markOut: row.mark_out,
    }))
  }

  /** The networks of these users' sessions, and who invited them. Browsers alike are no sign: there are few. */
  async connections(users: readonly Opening['userId'][]): Promise<readonly Connections[]> {
    if (users.length === 0) return []
    const { rows } = await sql<{ id: string; places: string[]; referrer_id: string | null }>`
      select u.id, r.referrer_id,
             array(select distinct s.address_prefix from sessions s 
                    where s.user_id = u.id and s.address_prefix <> '' limit 20) as places
        from unnest(${uuids(users)}::uuid[]) u (id) left join referrals r on r.referee_id = u.id`.execute(this.#db)
    return rows.map((row) => ({
      userId: userId(row.id),
      places: row.places,
      referrerId: row.referrer_id === null ? null : userId(row.referrer_id),
    }))
  }

  /** Records the findings that name a user who was not reported for the same within a day. Returns how many. */
  async report(findings: readonly Finding[]): Promise<number> {
    if (findings.length === 0) return 0
    const { rows } = await sql<{ subject: string; users: string[] | null }>`
      select subject, array(select jsonb_array_elements_text(after -> 'users')) as users
        from (select * from audit_log where action = 'integrity.alert' order by id desc limit ${ALERTS_MAX}::integer) a
       where at > ${new Date(this.#world.now())}::timestamptz - ${SILENT}::interval`.execute(this.#db)
    const reported = new Set(rows.flatMap(({ subject, users }) => (users ?? []).map((user) => `${subject} ${user}`)))
    const fresh = findings.filter(({ kind, users }) => users.some((user) => !reported.has(`${kind} ${user}`)))
    await new AuditLog(this.#db, this.#world).recordAll(
      fresh.map(({ kind, users, chance, openings }) => ({
        actor: null,
        action: 'integrity.alert',
        subject: kind,
        before: null,
        after: { users, chance, openings },
      })),
    )
    return fresh.length
  }
}
