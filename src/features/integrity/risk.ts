/** Reads the house's risk for operators: what is open, who wins and loses today, and who opens ahead of moves. */
import { type Kysely, sql } from 'kysely'
import {
  type FixtureId,
  fixtureId,
  type InstrumentId,
  instrumentId,
  type UserId,
  userId,
} from '../../../actors/kernel/ids.ts'
import { type Lots, lots, type Money, money } from '../../../actors/kernel/micros.ts'
import { type Instant, instant, type World } from '../../../actors/kernel/world.ts'
import type { Database } from '../../../db/postgres/schema.ts'

/** Open positions of the main purse in one player of one match. */
export interface Exposure {
  readonly matchId: FixtureId
  readonly instrumentId: InstrumentId
  readonly name: string
  readonly positions: number
  readonly long: Lots
  readonly short: Lots
  readonly margin: Money
  /** What the house has earned today with positions in this player that have closed. */
  readonly houseToday: Money
}

export interface DayResult {
  readonly userId: UserId
  readonly username: string
  readonly pnl: Money
  readonly closes: number
}

/** How far the base has moved in a user's favour after their openings, on average, in millionths. */
export interface MarkOut {
  readonly userId: UserId
  readonly username: string
  readonly openings: number
  readonly after10s: number
  readonly after60s: number
}

export interface SuspectGroup {
  readonly at: Instant
  readonly finding: string
  readonly users: readonly { readonly userId: UserId; readonly username: string }[]
}

export interface Risk {
  readonly asOf: Instant
  /** All of them, so that their sums are true: the largest first, by what is open of either side together. */
  readonly exposures: readonly Exposure[]
  readonly houseToday: Money
  readonly winners: readonly DayResult[]
  readonly losers: readonly DayResult[]
  /** The farthest ahead first. */
  readonly markOuts: readonly MarkOut[]
  /** Named together by an alert of the last week. */
  readonly groups: readonly SuspectGroup[]
}

const RANKED_MAX = 20
const GROUPS_MAX = 50
/** The latest closes of the day, and openings of three hours, that are read: some hundred milliseconds. */
const CLOSES_MAX = 50_000
const OPENINGS_MAX = 10_000
/** Fewer openings show nothing. */
const OPENINGS_MIN = 5

export class RiskReader {
  readonly #db: Kysely<Database>
  readonly #world: Pick<World, 'now'>

  constructor(db: Kysely<Database>, world: Pick<World, 'now'>) {
    this.#db = db
    this.#world = world
  }

  async read(): Promise<Risk> {
    const asOf = this.#world.now()
    const [closes, exposures, markOuts, groups] = await Promise.all([
      this.#closesOfTheDay(asOf),
      this.#exposures(),
      this.#markOuts(asOf),
      this.#groups(asOf),
    ])
    const houseBy = new Map(closes.players.map((row) => [`${row.match_id} ${row.instrument_id}`, row.house]))
    return {
      asOf,
      exposures: exposures.map((row) => ({
        matchId: fixtureId(row.match_id),
        instrumentId: instrumentId(row.instrument_id),
        name: row.name,
        positions: row.positions,
        long: lots(row.long),
        short: lots(row.short),
        margin: money(row.margin),
        houseToday: money(houseBy.get(`${row.match_id} ${row.instrument_id}`) ?? 0),
      })),
      houseToday: money(closes.players.reduce((sum, { house }) => sum + house, 0)),
      winners: closes.winners,
      losers: closes.losers,
      markOuts,
      groups,
    }
  }

  async #exposures() {
    const { rows } = await sql<{
      match_id: number
      instrument_id: string
      name: string
      positions: number
      long: number
      short: number
      margin: number
    }>`
      select p.match_id, p.instrument_id, i.name, count(*)::bigint as positions,
             coalesce(sum(p.lots_micros) filter (where p.sign = 1), 0)::bigint as long,
             coalesce(sum(p.lots_micros) filter (where p.sign = -1), 0)::bigint as short,
             sum(p.margin_micros)::bigint as margin
        from positions p join instruments i on i.id = p.instrument_id
       where p.closed_at is null and p.purse = 'main'
       group by 1, 2, 3
       order by sum(p.lots_micros) desc, p.match_id, p.instrument_id`.execute(this.#db)
    return rows
  }

  /** Of positions that count: void ones are nobody's win. Corrections and voids of the day are in their results. */
  async #closesOfTheDay(now: Instant) {
    const { rows } = await sql<{
      user_id: string
      username: string
      match_id: number
      instrument_id: string
      pnl: number
      closes: number
    }>`
      with latest as materialized (
        select reference from ledger_entries
         where at >= date_trunc('day', ${new Date(now)}::timestamptz at time zone 'UTC') at time zone 'UTC'
           and kind = 'release' and account = 'user' and purse = 'main'
         order by at desc limit ${CLOSES_MAX}::integer
      )
      select p.user_id, u.username, p.match_id, p.instrument_id, sum(p.pnl_micros)::bigint as pnl,
             count(distinct coalesce(p.part_of, p.id))::bigint as closes
        from latest l join positions p on p.id = l.reference join users u on u.id = p.user_id
       where p.closed_by <> 'void'
       group by 1, 2, 3, 4`.execute(this.#db)
    const users = new Map<string, { username: string; pnl: number; closes: number }>()
    const players = new Map<string, { match_id: number; instrument_id: string; house: number }>()
    for (const row of rows) {
      const user = users.get(row.user_id) ?? { username: row.username, pnl: 0, closes: 0 }
      users.set(row.user_id, { ...user, pnl: user.pnl + row.pnl, closes: user.closes + row.closes })
      const key = `${row.match_id} ${row.instrument_id}`
      const player = players.get(key) ?? { match_id: row.match_id, instrument_id: row.instrument_id, house: 0 }
      players.set(key, { ...player, house: player.house - row.pnl })
    }
    const results = [...users]
      .map(([id, user]): DayResult => ({ userId: userId(id), ...user, pnl: money(user.pnl) }))
      .toSorted((a, b) => b.pnl - a.pnl || (a.userId < b.userId ? -1 : 1))
    return {
      players: [...players.values()],
      winners: results.filter(({ pnl }) => pnl > 0).slice(0, RANKED_MAX),
      losers: results
        .filter(({ pnl }) => pnl < 0)
        .toReversed()
        .slice(0, RANKED_MAX),
    }
  }

  async #markOuts(now: Instant): Promise<readonly MarkOut[]> {
    const at = new Date(now)
    const { rows } = await sql<{
      user_id: string
      username: string
      openings: number
      after10s: number
      after60s: number
    }>`
      with latest as materialized (
        select reference from ledger_entries
         where at > ${at}::timestamptz - interval '3 hours' and kind = 'margin' and account = 'user' and purse = 'main'
         order by at desc limit ${OPENINGS_MAX}::integer
      ), moved as (
        select p.user_id,
               p.sign * (coalesce(ten.base_micros, p.open_base_micros) - p.open_base_micros)::numeric * 1000000
                 / p.open_base_micros as after10s,
               p.sign * (coalesce(sixty.base_micros, p.open_base_micros) - p.open_base_micros)::numeric * 1000000
                 / p.open_base_micros as after60s
          from latest l join positions p on p.id = l.reference
          left join lateral (
            select base_micros from ticks t where t.instrument_id = p.instrument_id
               and t.at > p.opened_at and t.at <= p.opened_at + interval '10 seconds'
             order by t.at desc limit 1) ten on true
          left join lateral (
            select base_micros from ticks t where t.instrument_id = p.instrument_id
               and t.at > p.opened_at and t.at <= p.opened_at + interval '60 seconds'
             order by t.at desc limit 1) sixty on true
         where p.opened_at + interval '60 seconds' <= ${at}::timestamptz
      )
      select m.user_id, u.username, count(*)::bigint as openings, round(avg(after10s))::bigint as after10s,
             round(avg(after60s))::bigint as after60s
        from moved m join users u on u.id = m.user_id and not u.synthetic
       group by 1, 2 having count(*) >= ${OPENINGS_MIN}::integer
       order by avg(after10s) desc, m.user_id limit ${RANKED_MAX}::integer`.execute(this.#db)
    return rows.map(({ user_id, ...row }) => ({ userId: userId(user_id), ...row }))
  }

  async #groups(now: Instant): Promise<readonly SuspectGroup[]> {
    const { rows } = await sql<{ at: Date; subject: string; users: { userId: UserId; username: string }[] }>`
      select a.at, a.subject,
             (select coalesce(json_agg(json_build_object('userId', u.id, 'username', u.username) order by u.id), '[]')
                from users u
               where u.id in (select e::uuid from jsonb_array_elements_text(a.after -> 'users') e)) as users
        from audit_log a
       where a.action = 'integrity.alert' and a.at > ${new Date(now)}::timestamptz - interval '7 days'
       order by a.id desc limit ${GROUPS_MAX}::integer`.execute(this.#db)
    return rows.map(({ at, subject, users }) => ({
      at: instant(at.getTime()),
      finding: subject,
      users: users.map((user) => ({ userId: userId(user.userId), username: user.username })),
    }))
  }
}
