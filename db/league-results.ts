/** Decides leagues that have ended: writes the final table, tells the members, and places them in the next season. */
import { type Kysely, sql, type Transaction } from 'kysely'
import { outcomeOf } from '../actors/community/seasons.ts'
import { leagueId } from '../actors/kernel/ids.ts'
import { decimal, type Money, money } from '../actors/kernel/micros.ts'
import { MINUTE_MS, type World } from '../actors/kernel/world.ts'
import { insertNotices, type Notification } from './announcements.ts'
import { type LeaguePlace, tableOf } from './leagues.ts'
import { bigints, integers, uuids } from './postgres/arrays.ts'
import type { Database } from './postgres/schema.ts'
import { placeAll } from './seasons.ts'

/** Longer than an order can be under way that was let through in time. */
const GRACE_MS = MINUTE_MS
/** Leagues decided in one look. */
const LOOK_MAX = 20

interface Over {
  readonly id: string
  readonly name: string
  readonly division: number | null
  readonly starting_micros: number
}

export class LeagueResults {
  readonly #db: Kysely<Database>
  readonly #world: Pick<World, 'now' | 'newId' | 'secret'>

  constructor(db: Kysely<Database>, world: Pick<World, 'now' | 'newId' | 'secret'>) {
    this.#db = db
    this.#world = world
  }

  /**
   * Decides the leagues whose time is over, or whose tournament's match is, whose members hold nothing more and whose
   * closes no news can correct any more. Of several processes one decides each. Returns what their members are told.
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
    const { rows } = await sql<Over>`
      select l.id, l.name, l.division, l.starting_micros from leagues l
       where l.decided_at is null
         and (l.ends_at <= ${before}::timestamptz
              or (l.kind = 'tournament'
                  and exists (select from tournaments t join replays r on r.id = t.replay_id
                              join matches on matches.id = r.match_id
                              where t.league_id = l.id and matches.settled_at is not null)))
         and not exists (select from league_members m join wallets w on w.user_id = m.user_id and w.purse = l.id::text
                          where m.league_id = l.id and m.left_at is null
                            and (w.open_positions > 0 or locked(w.locks, ${now.getTime()}::bigint) > 0))
       order by l.ends_at limit 1 for update of l skip locked`.execute(tx)
    const [row] = rows
    if (row === undefined) return null
    const league = leagueId(row.id)
    const places = await tableOf(tx, league)
    await sql`
      update league_members m set rank = t.rank, result_micros = t.value
        from unnest(${uuids(places.map(({ userId }) => userId))}::uuid[], ${integers(places.map(({ rank }) => rank))}::integer[],
                    ${bigints(places.map(({ value }) => value))}::bigint[]) t (user_id, rank, value)
       where m.league_id = ${league}::uuid and m.user_id = t.user_id`.execute(tx)
    await tx
      .updateTable('leagues')
      .set((old) => ({ decided_at: now, ends_at: old.fn('least', ['ends_at', old.val(now)]) }))
      .where('id', '=', league)
      .execute()
    const starting = money(row.starting_micros)
    if (row.division !== null) await placeAll(tx, this.#world, league, { division: row.division, starting, places })
    return insertNotices(
      tx,
      noticesOf({ ...row, starting, places }).map((notice) => {
        return { ...notice, source: `league:${league}:${notice.userId}`, at: this.#world.now() }
      }),
    )
  }
}

type Decided = Over & { readonly starting: Money; readonly places: readonly LeaguePlace[] }

/** What each member is told. */
function noticesOf({ id, name, division, starting, places }: Decided) {
  const first = places.filter(({ rank }) => rank === 1).map(({ username }) => username)
  const winner = first.length === 1 ? first[0] : undefined
  const winners = winner ?? `${first.length} members`
  const aheadOf = (place: LeaguePlace) => {
    if (division === null) return null
    const outcome = outcomeOf({ ...place, division, starting, members: places.length })
    const next = { promoted: division - 1, relegated: division + 1, stays: division }[outcome]
    const way = { promoted: 'You go up to', relegated: 'You go down to', stays: 'You stay in' }[outcome]
    return { outcome, division: next, words: ` ${way} division ${next}.` }
  }
  return places.map((place) => {
    const { userId, rank, value } = place
    const ahead = aheadOf(place)
    return {
      userId,
      type: 'league' as const,
      title: `${name}: ${rank === 1 ? 'you have won' : `you are number ${rank} of ${places.length}`}`,
      body: `It is over. You ended with ${decimal(value).toFixed(2)} units.${
        rank === 1 ? '' : ` ${winners} came first.`
      }${ahead?.words ?? ''}`,
      data: {
        league: id,
        name,
        rank,
        members: places.length,
        value: decimal(value),
        ...(rank === 1 || winner === undefined ? {} : { winner }),
        ...(ahead === null ? {} : { outcome: ahead.outcome, division: ahead.division }),
      },
    }
  })
}
