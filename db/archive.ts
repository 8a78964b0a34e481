/**
 * Moves the positions and events of matches that are history to archives, which are partitioned by months. So the
 * tables that trading writes to hold some weeks, however long a game has been on, and an old month can be detached
 * without a lock that trading would feel.
 */
import { type Kysely, sql, type Transaction } from 'kysely'
import { DAY_MS, type World } from '../actors/kernel/world.ts'
import { isAway } from './months.ts'
import { uuids } from './postgres/arrays.ts'
import { POSITION_COLUMNS } from './positions.ts'
import type { Database } from './postgres/schema.ts'

/** Rows of the outbox per transaction, which hold up to 500 events each: it takes some 50 ms. */
const ROWS = 4

/** Rows that were moved. */
export interface Moved {
  readonly positions: number
  readonly events: number
}

/** A row of the outbox, with the positions whose closes it has. */
interface EventRow {
  readonly seq: number
  readonly closed: readonly string[]
}

export class Archive {
  readonly #db: Kysely<Database>
  readonly #world: Pick<World, 'now'>
  readonly #days: () => number

  /** A match is history this many days after its settlement. */
  constructor(db: Kysely<Database>, world: Pick<World, 'now'>, days: () => number) {
    this.#db = db
    this.#world = world
    this.#days = days
  }

  /**
   * Moves what is history, in at most `most` transactions. Several processes may do so at the same time: each takes
   * another match.
   */
  async run(most: number): Promise<Moved> {
    const all = { positions: 0, events: 0 }
    for (let n = 0; n < most; n++) {
      const moved = await this.#next()
      if (moved === null) break
      all.positions += moved.positions
      all.events += moved.events
    }
    return all
  }

  /** Moves the next part of a match. Null when no match is left, or other processes have the rest. */
  #next(): Promise<Moved | null> {
    const now = this.#world.now()
    return this.#db.transaction().execute(async (tx) => {
      const { rows: matches } = await sql<{ id: number }>`
        select m.id from matches m
         where m.settled_at < ${new Date(now - this.#days() * DAY_MS)}::timestamptz and m.archived_at is null
           and exists (select from outbox_cursors c where c.match_id = m.id and not exists (
                 select from outbox o where o.match_id = m.id and o.seq > c.seq))
           and not exists (select from outbox_failures f where f.match_id = m.id)
         order by m.settled_at limit 1 for no key update skip locked`.execute(tx)
      const [match] = matches
      if (match === undefined) return null
      const { rows } = await sql<EventRow>`
        select seq, array(select e ->> 'positionId' from json_array_elements(events) e
                           where e ->> 'kind' = 'closed') as closed
          from (select * from outbox o where match_id = ${match.id}::bigint and not ${isAway('outbox_archive', 'o.at')}
                 order by seq limit ${ROWS}::integer) o`.execute(tx)
      const positions = await movePositions(
        tx,
        rows.flatMap(({ closed }) => closed),
      )
      const events = await moveEvents(tx, match.id, rows.at(-1)?.seq ?? 0)
      if (rows.length < ROWS) {
        await tx
          .updateTable('matches')
          .set({ archived_at: new Date(now) })
          .where('id', '=', match.id)
          .execute()
      }
      return { positions, events }
    })
  }
}

/** One whose pay waits for an operator stays where it is, and so does one of a month that is detached. */
async function movePositions(tx: Transaction<Database>, ids: readonly string[]): Promise<number> {
  if (ids.length === 0) return 0
  const columns = sql.raw(COLUMNS.join(', '))
  await sql`
    select add_month('positions_archive', month)
      from (select distinct date_trunc('month', opened_at at time zone 'UTC')::date as month
              from positions where id = any(${uuids(ids)}::uuid[])) months`.execute(tx)
  const { numAffectedRows } = await sql`
    with moved as (
      delete from positions p where p.id = any(${uuids(ids)}::uuid[]) and p.closed_at is not null
         and not exists (select from unpaid_closes u where u.position_id = p.id)
         and not ${isAway('positions_archive', 'p.opened_at')}
      returning ${columns}
    )
    insert into positions_archive (${columns}) select ${columns} from moved`.execute(tx)
  return Number(numAffectedRows ?? 0)
}

/** The last row of a match stays, because it numbers the next: an operator may still void a position. */
async function moveEvents(tx: Transaction<Database>, matchId: number, upTo: number): Promise<number> {
  const those = sql`match_id = ${matchId}::bigint and seq <= ${upTo}::bigint
    and seq < (select max(seq) from outbox where match_id = ${matchId}::bigint)
    and not ${isAway('outbox_archive', 'outbox.at')}`
  await sql`
    select add_month('outbox_archive', month)
      from (select distinct date_trunc('month', at at time zone 'UTC')::date as month from outbox where ${those}) months`.execute(
    tx,
  )
  const { numAffectedRows } = await sql`
    with moved as (delete from outbox where ${those} returning match_id, seq, at, events)
    insert into outbox_archive (match_id, seq, at, events) select match_id, seq, at, events from moved`.execute(tx)
  return Number(numAffectedRows ?? 0)
}

/** Everything of a position but the stored answer to its opening. */
const COLUMNS = [
  ...POSITION_COLUMNS.map((column) => column.replace('positions.', '')),
  'opened_marker',
  'closed_marker',
  'opened_stop_micros',
  'opened_take_micros',
]
