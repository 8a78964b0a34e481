/** Decides leagues that have ended: writes the final table and tells the members. */
import { type Kysely, type RawBuilder, sql, type Transaction } from 'kysely'
import { type LeagueId, leagueId } from '../../../actors/kernel/ids.ts'
import { decimal, type Money, money } from '../../../actors/kernel/micros.ts'
import { MINUTE_MS, type World } from '../../../actors/kernel/world.ts'
import { insertNotices, type Notification } from '../../../db/announcements.ts'
import { type League, type LeaguePlace, tableOf } from './store.ts'
import { bigints, integers, uuids } from '../../../db/postgres/arrays.ts'
import type { Database } from '../../../db/postgres/schema.ts'

/** Longer than an order can be under way that was let through in time. */
const GRACE_MS = MINUTE_MS
/** Leagues decided in one look. */
const LOOK_MAX = 20

/** A league that is over, with its final table. */
export interface Decided {
  readonly league: LeagueId
  /** Of a season. */
  readonly division: number | null
  readonly starting: Money
  readonly places: readonly LeaguePlace[]
}

/** What a member is told in addition to their rank. */
export interface Ahead {
  readonly words: string
  readonly data: Readonly<Record<string, unknown>>
}

/** What differs between kinds of leagues. */
export interface LeagueKind {
  readonly name: League['kind']
  /** Whether a league `l` is over before its time. */
  readonly isOverEarly?: RawBuilder<boolean>
  /** Whether a league `l` has been played at all. */
  readonly isPlayed?: RawBuilder<boolean>
  /** Acts on a decision, in its transaction. */
  readonly follow?: (tx: Transaction<Database>, decided: Decided) => Promise<void>
  readonly ahead?: (decided: Decided, place: LeaguePlace) => Ahead
}

export const PRIVATE: LeagueKind = { name: 'private' }

interface Over {
  readonly id: string
  readonly name: string
  readonly division: number | null
  readonly starting_micros: number
  readonly played: boolean
}

export class LeagueResults {
  readonly #db: Kysely<Database>
  readonly #world: Pick<World, 'now'>
  readonly #kind: LeagueKind

  constructor(db: Kysely<Database>, world: Pick<World, 'now'>, kind: LeagueKind) {
    this.#db = db
    this.#world = world
    this.#kind = kind
  }

  /**
   * Decides the leagues of the kind that are over, and whose members hold nothing more. Of several processes one
   * decides each. Returns what their members are told.
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
      select l.id, l.name, l.division, l.starting_micros, ${this.#kind.isPlayed ?? sql`true`} as played from leagues l
       where l.decided_at is null
         and l.kind = ${this.#kind.name} and (l.ends_at <= ${before}::timestamptz or ${this.#kind.isOverEarly ?? sql`false`})
         and not exists (select from league_members m join wallets w on w.user_id = m.user_id and w.purse = l.id::text
                          where m.league_id = l.id and m.left_at is null
                            and w.open_positions > 0)
         and not exists (select from league_members m join positions p on p.user_id = m.user_id and p.purse = l.id::text
                          where m.league_id = l.id and p.movable_until > ${now}::timestamptz)
       order by l.ends_at limit 1 for update of l skip locked`.execute(tx)
    const [row] = rows
    if (row === undefined) return null
    const league = leagueId(row.id)
    const places = await tableOf(tx, league)
    const ranked = row.played ? places : []
    await sql`
      update league_members m set rank = t.rank, result_micros = t.value
        from unnest(${uuids(ranked.map(({ userId }) => userId))}::uuid[], ${integers(ranked.map(({ rank }) => rank))}::integer[],
                    ${bigints(ranked.map(({ value }) => value))}::bigint[]) t (user_id, rank, value)
       where m.league_id = ${league}::uuid and m.user_id = t.user_id`.execute(tx)
    await tx
      .updateTable('leagues')
      .set((old) => ({ decided_at: now, ends_at: old.fn('least', ['ends_at', old.val(now)]) }))
      .where('id', '=', league)
      .execute()
    const decided = { league, division: row.division, starting: money(row.starting_micros), places }
    await this.#kind.follow?.(tx, decided)
    return insertNotices(
      tx,
      (row.played ? this.#notices(row.name, decided) : this.#unplayed(row.name, decided)).map((notice) => {
        return { ...notice, source: `league:${league}:${notice.userId}`, at: this.#world.now() }
      }),
    )
  }

  #unplayed(name: string, { league, places }: Decided) {
    const body = 'It could not begin before its end. Your other purses are as they were.'
    return places.map(({ userId }) => {
      return {
        userId,
        type: 'league' as const,
        title: `${name} was not played`,
        body,
        data: { league, name, outcome: 'unplayed' },
      }
    })
  }

  /** What each member is told. */
  #notices(name: string, decided: Decided) {
    const { league, places } = decided
    const first = places.filter(({ rank }) => rank === 1)
    const winner = first.length === 1 && first[0]?.isOff === false ? first[0].username : undefined
    const winners = winner ?? (first.length === 1 ? 'Another member' : `${first.length} members`)
    return places.map((place) => {
      const { userId, rank, value } = place
      const ahead = this.#kind.ahead?.(decided, place)
      const isAlone = rank === 1 && first.length === 1
      return {
        userId,
        type: 'league' as const,
        title: `${name}: ${isAlone ? 'you have won' : `you are number ${rank} of ${places.length}`}`,
        body: `It is over. You ended with ${decimal(value).toFixed(2)} units.${
          isAlone ? '' : ` ${winners} came first.`
        }${ahead?.words ?? ''}`,
        data: {
          league,
          name,
          rank,
          members: places.length,
          value: decimal(value),
          ...(rank === 1 || winner === undefined ? {} : { winner }),
          ...(rank === 1 && !isAlone ? { tied: first.length } : {}),
          ...ahead?.data,
        },
      }
    })
  }
}
