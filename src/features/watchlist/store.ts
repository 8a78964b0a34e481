/** The players that users follow, and the prices that they wait for. */
import { type Kysely, sql, type Transaction } from 'kysely'
import { type FixtureId, fixtureId, type InstrumentId, instrumentId, type UserId } from '../../../actors/kernel/ids.ts'
import { type Price, price } from '../../../actors/kernel/micros.ts'
import { type Instant, instant, type World } from '../../../actors/kernel/world.ts'
import { isBack } from '../../../db/catalogue.ts'
import { lockUser } from '../../../db/lock-user.ts'
import { texts } from '../../../db/postgres/arrays.ts'
import type { Database } from '../../../db/postgres/schema.ts'
import type { Kind } from './news.ts'
import { kindsFrom } from './teller.ts'

export const PLAYERS_MAX = 50
export const ALERTS_MAX = 20
export const REMINDERS_MAX = 20

export interface FollowedPlayer {
  readonly instrumentId: InstrumentId
  readonly name: string
  readonly price: Price
  readonly since: Instant
}

export interface PriceAlert {
  readonly id: string
  readonly instrumentId: InstrumentId
  readonly player: string
  readonly level: Price
  /** Whether the price has to rise to it. */
  readonly isAbove: boolean
  readonly createdAt: Instant
}

export interface Watchlist {
  readonly kinds: readonly Kind[]
  /** Newest first. */
  readonly players: readonly FollowedPlayer[]
  readonly alerts: readonly PriceAlert[]
  /** Matches at whose kick-off the user is told. */
  readonly reminders: readonly FixtureId[]
}

export type AlertMade =
  | { readonly kind: 'made'; readonly alert: PriceAlert }
  | { readonly kind: 'unknown' }
  | { readonly kind: 'full' }
  /** The price is at the level now. */
  | { readonly kind: 'reached'; readonly price: Price }

export class Watchlists {
  readonly #db: Kysely<Database>
  readonly #world: Pick<World, 'now' | 'newId'>

  constructor(db: Kysely<Database>, world: Pick<World, 'now' | 'newId'>) {
    this.#db = db
    this.#world = world
  }

  async list(user: UserId): Promise<Watchlist> {
    const [choice, players, alerts, reminders] = await Promise.all([
      sql<{ kinds: string[] }>`select kinds from watchlist_choices where user_id = ${user}::uuid`.execute(this.#db),
      sql<{ instrument_id: string; name: string; price_micros: number; since: Date }>`
        select p.instrument_id, i.name, i.price_micros, p.since
          from watchlist_players p join instruments i on i.id = p.instrument_id
         where p.user_id = ${user}::uuid order by p.since desc, p.instrument_id`.execute(this.#db),
      alertsOf(this.#db, user),
      remindersOf(this.#db, user),
    ])
    return {
      kinds: kindsFrom(choice.rows[0]?.kinds ?? null),
      players: players.rows.map((row) => ({
        instrumentId: instrumentId(row.instrument_id),
        name: row.name,
        price: price(row.price_micros),
        since: instant(row.since.getTime()),
      })),
      alerts,
      reminders,
    }
  }

  async choose(user: UserId, kinds: readonly Kind[]): Promise<void> {
    await this.#inTurn(user, (tx) =>
      sql`
        insert into watchlist_choices (user_id, kinds) values (${user}::uuid, ${texts(kinds)}::text[])
          on conflict (user_id) do update set kinds = excluded.kinds`.execute(tx),
    )
  }

  /** Following a player again changes nothing. */ // R30
  async follow(user: UserId, player: InstrumentId): Promise<'followed' | 'unknown' | 'full'> {
    return this.#inTurn(user, async (tx) => {
      if ((await priceOf(tx, player)) === null) return 'unknown'
      const { rows } = await sql<{ count: number; known: boolean | null }>`
        select count(*)::integer as count, bool_or(instrument_id = ${player}::uuid) as known
          from watchlist_players where user_id = ${user}::uuid`.execute(tx)
      const { count, known } = rows[0] ?? { count: 0, known: false }
      if (known === true) return 'followed'
      if (count >= PLAYERS_MAX) return 'full'
      await sql`
        insert into watchlist_players (user_id, instrument_id, since)
          values (${user}::uuid, ${player}::uuid, ${new Date(this.#world.now())}::timestamptz)`.execute(tx)
      return 'followed'
    })
  }

  /** Does nothing if the user does not follow the player. */
  async unfollow(user: UserId, player: InstrumentId): Promise<void> {
    await sql`
      delete from watchlist_players where user_id = ${user}::uuid and instrument_id = ${player}::uuid`.execute(this.#db)
  }

  /** Waits for a price. At the same level there is one alert. */ // R31
  async alert(user: UserId, player: InstrumentId, level: Price): Promise<AlertMade> {
    return this.#inTurn(user, async (tx) => {
      // Before the price is read: what moves it from then on counts.
      const since = new Date(this.#world.now())
      const now = await priceOf(tx, player)
      if (now === null) return { kind: 'unknown' }
      if (now === level) return { kind: 'reached', price: now }
      const alerts = await alertsOf(tx, user)
      const same = alerts.find((one) => one.instrumentId === player && one.level === level)
      if (same !== undefined) return { kind: 'made', alert: same }
      if (alerts.length >= ALERTS_MAX) return { kind: 'full' }
      const id = this.#world.newId()
      await sql`
        insert into watchlist_alerts (id, user_id, instrument_id, level_micros, is_above, created_at)
          values (${id}::uuid, ${user}::uuid, ${player}::uuid, ${level}::bigint, ${level > now}::boolean, ${since}::timestamptz)`.execute(
        tx,
      )
      const made = (await alertsOf(tx, user)).find((one) => one.id === id)
      return made === undefined ? { kind: 'unknown' } : { kind: 'made', alert: made }
    })
  }

  /** False for an alert that has fired, or belongs to another user. */
  async removeAlert(user: UserId, id: string): Promise<boolean> {
    const { rows } = await sql`
      delete from watchlist_alerts where id = ${id}::uuid and user_id = ${user}::uuid returning id`.execute(this.#db)
    return rows.length > 0
  }

  /** Reminds of a match that the caller has found not to have begun. Again changes nothing. */ // R30
  async remind(user: UserId, match: FixtureId): Promise<'reminded' | 'full'> {
    return this.#inTurn(user, async (tx) => {
      await sql`delete from watchlist_reminders r where user_id = ${user}::uuid and ${isOver}`.execute(tx)
      const reminders = await remindersOf(tx, user)
      if (reminders.includes(match)) return 'reminded'
      if (reminders.length >= REMINDERS_MAX) return 'full'
      await sql`
        insert into watchlist_reminders (user_id, match_id, since)
          values (${user}::uuid, ${match}::bigint, ${new Date(this.#world.now())}::timestamptz)`.execute(tx)
      return 'reminded'
    })
  }

  async forget(user: UserId, match: FixtureId): Promise<void> {
    await sql`
      delete from watchlist_reminders where user_id = ${user}::uuid and match_id = ${match}::bigint`.execute(this.#db)
  }

  /** One change of a user after the other, so that two cannot exceed a limit together. */
  #inTurn<T>(user: UserId, work: (tx: Transaction<Database>) => Promise<T>): Promise<T> {
    return this.#db.transaction().execute(async (tx) => {
      await lockUser(tx, user)
      return work(tx)
    })
  }
}

async function priceOf(db: Kysely<Database>, player: InstrumentId): Promise<Price | null> {
  const row = await db.selectFrom('instruments').select('price_micros').where('id', '=', player).executeTakeFirst()
  return row === undefined ? null : price(row.price_micros)
}

/**
 * Whether a reminder `r` waits in vain, so that it keeps no place from others: its match was settled or void, or its
 * fixture has become none in a month, and it is not announced again. The calendar shows only what begins within a week.
 */
const isOver = sql`(
  exists (select from matches m where m.id = r.match_id and m.settled_at is not null and not ${isBack})
  or (r.since < clock_timestamp() - interval '30 days' and not exists (select from matches m where m.id = r.match_id)
      and not exists (select from fixtures f where f.id = r.match_id and f.info ->> 'phase' = 'scheduled')))`

async function remindersOf(db: Kysely<Database>, user: UserId): Promise<readonly FixtureId[]> {
  const { rows } = await sql<{ match_id: number }>`
    select match_id from watchlist_reminders r where user_id = ${user}::uuid and not ${isOver} order by match_id`.execute(
    db,
  )
  return rows.map((row) => fixtureId(row.match_id))
}

async function alertsOf(db: Kysely<Database>, user: UserId): Promise<readonly PriceAlert[]> {
  const { rows } = await sql<{
    id: string
    instrument_id: string
    name: string
    level_micros: number
    is_above: boolean
    created_at: Date
  }>`
    select a.id, a.instrument_id, i.name, a.level_micros, a.is_above, a.created_at
      from watchlist_alerts a join instruments i on i.id = a.instrument_id
     where a.user_id = ${user}::uuid order by a.created_at desc, a.id`.execute(db)
  return rows.map((row) => ({
    id: row.id,
    instrumentId: instrumentId(row.instrument_id),
    player: row.name,
    level: price(row.level_micros),
    isAbove: row.is_above,
    createdAt: instant(row.created_at.getTime()),
  }))
}
