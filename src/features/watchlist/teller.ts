/**
 * Tells followers what happens to their players, and users that a price is reached. It reads what matches have
 * committed, beside all reactions. Any process takes the next part of the work; each part is a transaction of its own.
 */
import { type Kysely, sql } from 'kysely'
import { type FixtureId, fixtureId, instrumentId, userId } from '../../../actors/kernel/ids.ts'
import { decimal, price } from '../../../actors/kernel/micros.ts'
import { HOUR_MS, instant, MINUTE_MS, type World } from '../../../actors/kernel/world.ts'
import { insertNotices, type Notification } from '../../../db/announcements.ts'
import { infoFrom, MATCH_COLUMNS } from '../../../db/match-record.ts'
import { bigints, instants, integers, uuids } from '../../../db/postgres/arrays.ts'
import type { Database } from '../../../db/postgres/schema.ts'
import type { Move } from './moves.ts'
import { type Follower, KINDS, type Kind, newsOf, noticeOf, priceNotice, readNews, readSeen } from './news.ts'

/** Users that are told in one transaction: some milliseconds, after which those who trade have as many. */
const USERS_MAX = 100
const ALERTS_MAX = 500
/** The last update of a match is read this long after its settlement. */
const SETTLED_MS = MINUTE_MS
/** News of this age are of no interest. */
const STALE_MS = HOUR_MS

export type Tell = (notifications: readonly Notification[]) => void

/** Resolves when this time has passed. */
type Rest = (ms: number) => Promise<unknown>

export class Teller {
  readonly #db: Kysely<Database>
  readonly #world: Pick<World, 'now' | 'steady'>
  readonly #tell: Tell
  readonly #rest: Rest

  /** @param tell Called with notifications once they are durable. */
  constructor(db: Kysely<Database>, world: Pick<World, 'now' | 'steady'>, tell: Tell, rest: Rest) {
    this.#db = db
    this.#world = world
    this.#tell = tell
    this.#rest = rest
  }

  /** Notices what is new in matches with followed players, and tells their followers. A match holds up no other. */
  async run(): Promise<void> {
    const failures: unknown[] = []
    for (const match of await this.#moved()) {
      await this.#look(match).catch((error: unknown) => failures.push(error))
    }
    // Unread, so that what cannot be read holds up the news for a while at most.
    await sql`delete from watchlist_news
               where at < ${new Date(this.#world.now() - STALE_MS)}::timestamptz`.execute(this.#db)
    await this.#inParts(() => this.#next())
    if (failures.length > 0) throw failures[0]
  }

  /** Matches of followed players, and those to come, that have heard something since. */
  async #moved(): Promise<readonly FixtureId[]> {
    const { rows } = await sql<{ id: number }>`
      select m.id from matches m left join watchlist_matches w on w.match_id = m.id
       where (m.settled_at is null or m.settled_at > ${new Date(this.#world.now() - SETTLED_MS)}::timestamptz)
         and m.quarantine is null
         -- The line-ups of a match that is looked at before they are known are news.
         and (m.phase = 'scheduled'
              or exists (select from instruments i join watchlist_players p on p.instrument_id = i.id
                       where i.match_id = m.id)
              or exists (select from watchlist_reminders r where r.match_id = m.id))
         and (m.info ->> 'feedSeq')::bigint > coalesce(w.feed_seq, -1)`.execute(this.#db)
    return rows.map((row) => fixtureId(row.id))
  }

  async #look(match: FixtureId): Promise<void> {
    const now = this.#world.now()
    await this.#db.transaction().execute(async (tx) => {
      const empty = JSON.stringify({})
      const { rows: made } = await sql`
        insert into watchlist_matches (match_id, feed_seq, seen) values (${match}::bigint, -1, ${empty}::jsonb)
          on conflict do nothing returning match_id`.execute(tx)
      const { rows: locked } = await sql<{ feed_seq: number; seen: unknown }>`
        select feed_seq, seen from watchlist_matches where match_id = ${match}::bigint for update skip locked`.execute(
        tx,
      )
      const row = await tx.selectFrom('matches').select(MATCH_COLUMNS).where('id', '=', match).executeTakeFirst()
      const [known] = locked
      if (known === undefined || row === undefined) return
      const info = infoFrom(row)
      if (info.quarantine !== undefined || info.feedSeq <= known.feed_seq) return
      const before = made.length > 0 ? null : readSeen(known.seen, `match ${match}: seen`)
      const { news, seen } = newsOf(info, before, now)
      await sql`
        update watchlist_matches set feed_seq = ${info.feedSeq}::bigint, seen = ${JSON.stringify(seen)}::jsonb
         where match_id = ${match}::bigint`.execute(tx)
      if (news.items.length === 0 && !news.isKickOff) return
      await sql`
        insert into watchlist_news (match_id, at, news)
          values (${match}::bigint, ${new Date(now)}::timestamptz, ${JSON.stringify(news)}::jsonb)`.execute(tx)
    })
  }

  /** Tells the next followers of some news. False when none are left that no other process is telling. */
  async #next(): Promise<boolean> {
    const told = await this.#db.transaction().execute(async (tx) => {
      const { rows } = await sql<{ id: number; match_id: number; at: Date; news: unknown; told_until: string }>`
        select * from watchlist_news order by id limit 1 for update skip locked`.execute(tx)
      const [row] = rows
      if (row === undefined) return null
      const { id } = row
      const news = readNews(row.news, `news ${id}`)
      const of = { id, matchId: row.match_id, at: instant(row.at.getTime()) }
      const players = [...new Set(news.items.map((item) => item.instrumentId))]
      // The first users of all players are among the first of each.
      const { rows: followers } = await sql<{
        user_id: string
        instruments: string[]
        kinds: string[] | null
        reminded: boolean
      }>`
        with found as (
          (select user_id, null::uuid as instrument_id from watchlist_reminders
            where ${news.isKickOff}::boolean and match_id = ${row.match_id}::bigint and user_id > ${row.told_until}::uuid
            order by user_id limit ${USERS_MAX}::integer)
          union all
          select f.* from unnest(${uuids(players)}::uuid[]) i (id) cross join lateral (
                 select user_id, instrument_id from watchlist_players
                  where instrument_id = i.id and user_id > ${row.told_until}::uuid and since <= ${row.at}::timestamptz
                  order by user_id limit ${USERS_MAX}::integer) f
        )
        select n.*, c.kinds
          from (select user_id, bool_or(instrument_id is null) as reminded,
                       coalesce(array_agg(instrument_id::text) filter (where instrument_id is not null), '{}') as instruments
                  from found group by user_id order by user_id limit ${USERS_MAX}::integer) n
          left join watchlist_choices c on c.user_id = n.user_id
         order by n.user_id`.execute(tx)
      const last = followers.at(-1)
      if (last === undefined || followers.length < USERS_MAX) {
        await sql`delete from watchlist_news where id = ${id}::bigint`.execute(tx)
        if (news.isKickOff) {
          await sql`delete from watchlist_reminders where match_id = ${row.match_id}::bigint`.execute(tx)
        }
      } else {
        await sql`update watchlist_news set told_until = ${last.user_id}::uuid where id = ${id}::bigint`.execute(tx)
      }
      const wanted = followers.map((one): Follower => ({
        userId: userId(one.user_id),
        instruments: one.instruments,
        kinds: kindsFrom(one.kinds),
        isReminded: one.reminded,
      }))
      return insertNotices(
        tx,
        wanted.flatMap((follower) => noticeOf(news, follower, of) ?? []),
      )
    })
    if (told !== null && told.length > 0) this.#tell(told)
    return told !== null
  }

  /** Tells those whose prices are reached, once each: by what is stored, or by one of these moves. */ // R31
  async judge(moves: readonly Move[]): Promise<void> {
    await this.#inParts(async () => (await this.#reached(moves)) > 0)
  }

  /** Rests after each part for as long as it took, so that those who trade notice little. */
  async #inParts(part: () => Promise<boolean>): Promise<void> {
    const { steady } = this.#world
    for (let begun = steady.now(); await part(); begun = steady.now()) await this.#rest(steady.now() - begun)
  }

  async #reached(moves: readonly Move[]): Promise<number> {
    const at = this.#world.now()
    const told = await this.#db.transaction().execute(async (tx) => {
      const { rows } = await sql<{
        id: string
        user_id: string
        instrument_id: string
        level_micros: number
        is_above: boolean
        name: string
        price_micros: number
      }>`
        with seen as (
          select i.id, 'infinity'::timestamptz as at, i.price_micros as price, side.is_high
            from matches m join instruments i on i.match_id = m.id cross join (values (true), (false)) side (is_high)
           where m.settled_at is null
          union all
          select v.id, v.at, v.price, v.is_high <> 0
            from unnest(${uuids(moves.map((move) => move.instrumentId))}::uuid[],
                        ${instants(moves.map((move) => move.at))}::timestamptz[],
                        ${bigints(moves.map((move) => move.price))}::bigint[],
                        ${integers(moves.map((move) => Number(move.isHigh)))}::integer[]) v (id, at, price, is_high)
        ), due as (
          select a.id, s.price, s.at from seen s cross join lateral (
                 (select id from watchlist_alerts
                   where s.is_high and instrument_id = s.id and is_above and level_micros <= s.price
                     and created_at <= s.at limit ${ALERTS_MAX}::integer)
                 union all
                 (select id from watchlist_alerts
                   where not s.is_high and instrument_id = s.id and not is_above and level_micros >= s.price
                     and created_at <= s.at limit ${ALERTS_MAX}::integer)) a
           limit ${ALERTS_MAX}::integer
        ), first as (
          select distinct on (id) id, price from due order by id, at
        ), taken as (
          select id from watchlist_alerts where id in (select id from first) for update skip locked
        )
        delete from watchlist_alerts a using taken, first, instruments i
         where a.id = taken.id and first.id = a.id and i.id = a.instrument_id
          returning a.id, a.user_id, a.instrument_id, a.level_micros, a.is_above, i.name,
                    first.price as price_micros`.execute(tx)
      const notices = rows.map((row) =>
        priceNotice(
          {
            id: row.id,
            userId: userId(row.user_id),
            instrumentId: instrumentId(row.instrument_id),
            player: row.name,
            level: decimal(price(row.level_micros)),
            price: decimal(price(row.price_micros)),
            isAbove: row.is_above,
          },
          at,
        ),
      )
      return insertNotices(tx, notices)
    })
    if (told.length > 0) this.#tell(told)
    return told.length
  }
}

/** Without a choice, everything. */
export const kindsFrom = (stored: readonly string[] | null): readonly Kind[] =>
  stored === null ? KINDS : KINDS.filter((kind) => stored.includes(kind))
