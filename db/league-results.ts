/** Decides leagues that are over: writes the final table, once, and tells their members. */
import { type Kysely, sql, type Transaction } from 'kysely'
import { leagueId } from '../actors/kernel/ids.ts'
import { decimal } from '../actors/kernel/micros.ts'
import { MINUTE_MS, type World } from '../actors/kernel/world.ts'
import { insertNotices, type Notification } from './announcements.ts'
import { tableOf } from './leagues.ts'
import { bigints, integers, uuids } from './postgres/arrays.ts'
import type { Database } from './postgres/schema.ts'

/** Longer than an order can be under way that was let through in time. */
const GRACE_MS = MINUTE_MS
/** Leagues decided in one look. */
const LOOK_MAX = 20

export class LeagueResults {
  readonly #db: Kysely<Database>
  readonly #world: Pick<World, 'now'>

  constructor(db: Kysely<Database>, world: Pick<World, 'now'>) {
    this.#db = db
    this.#world = world
  }

  /**
   * Decides the leagues whose time is over, whose members hold nothing more and whose closes no news can correct any
   * more. Of several processes one decides each. Returns what their members are told.
   */ // G3
  async decide(): Promise<readonly Notification[]> {
    const told: Notification[] = []
    for (let n = 0; n < LOOK_MAX; n++) {
      const one = await this.#db.transaction().execute((tx) => this.#decideNext(tx))
      if (one === null) return told
      told.push(...one)
    }
    return told
  }

  async #decideNext(tx: Transaction<Database>): Promise<readonly Notification[] | null> {
    const now = new Date(this.#world.now())
    const before = new Date(now.getTime() - GRACE_MS)
    const { rows } = await sql<{ id: string; name: string }>`
      select l.id, l.name from leagues l
       where l.decided_at is null and l.ends_at <= ${before}::timestamptz
         and not exists (select from league_members m join wallets w on w.user_id = m.user_id and w.purse = l.id::text
                          where m.league_id = l.id and m.left_at is null
                            and (w.open_positions > 0 or locked(w.locks, ${now.getTime()}::bigint) > 0))
       order by l.ends_at limit 1 for update skip locked`.execute(tx)
    const [row] = rows
    if (row === undefined) return null
    const league = leagueId(row.id)
    const table = await tableOf(tx, league)
    await sql`
      update league_members m set rank = t.rank, result_micros = t.value
        from unnest(${uuids(table.map(({ userId }) => userId))}::uuid[], ${integers(table.map(({ rank }) => rank))}::integer[],
                    ${bigints(table.map(({ value }) => value))}::bigint[]) t (user_id, rank, value)
       where m.league_id = ${league}::uuid and m.user_id = t.user_id`.execute(tx)
    await tx.updateTable('leagues').set({ decided_at: now }).where('id', '=', league).execute()
    const first = table.filter(({ rank }) => rank === 1).map(({ username }) => username)
    return insertNotices(
      tx,
      table.map(({ userId, rank, value }) => ({
        userId,
        type: 'league',
        title: `${row.name}: ${rank === 1 ? 'you have won' : `you are number ${rank} of ${table.length}`}`,
        body: `The league is over. You ended with ${decimal(value).toFixed(2)} units.${
          rank === 1 ? '' : ` ${first.length === 1 ? first[0] : `${first.length} members`} came first.`
        }`,
        data: { league, rank, members: table.length, value: decimal(value) },
        source: `league:${league}:${userId}`,
        at: this.#world.now(),
      })),
    )
  }
}
