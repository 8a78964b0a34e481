/** What a user's closed positions of a match or a week came to, and what they did to the user's rank. */
import { type Kysely, type RawBuilder, sql } from 'kysely'
import {
  type FixtureId,
  fixtureId,
  type InstrumentId,
  instrumentId,
  type UserId,
  userId,
} from '../../../actors/kernel/ids.ts'
import { type Money, money, price } from '../../../actors/kernel/micros.ts'
import { type CommonPurse, isCommon, type Purse, PURSES } from '../../../actors/kernel/purse.ts'
import { DAY_MS, type Instant, instant, MINUTE_MS, type World } from '../../../actors/kernel/world.ts'
import type { PlayerRole } from '../../../actors/market/fixture.ts'
import type { ClosedPosition } from '../../../actors/position/position.ts'
import { BASE_MOVE, isPlaceOf, wasOpenBy } from '../../../db/parts.ts'
import { POSITION_COLUMNS, positionFrom } from '../../../db/positions.ts'
import { uuids } from '../../../db/postgres/arrays.ts'
import type { Connection } from '../../../db/postgres/connection.ts'
import type { Database } from '../../../db/postgres/schema.ts'
import { inSnapshot } from '../../../db/postgres/snapshot.ts'
import type { Mark } from './recap.ts'

/** Closes of one match, or of all, between two moments. */
export interface RecapQuery {
  readonly purse: Purse
  readonly match: FixtureId | null
  readonly from: Instant
  /** The first moment that does not belong to it. */
  readonly to: Instant
}

export interface RecapCloses {
  /** `from`, or when the first of the match's positions was opened. */
  readonly since: Instant
  /** What the purse was worth then, every open position at its margin. */
  readonly start: Money
  readonly closes: readonly ClosedPosition[]
  /** Parts that these positions had closed before. */
  readonly earlier: readonly ClosedPosition[]
}

export interface RankChange {
  /** Null for a user who was on no board before. */
  readonly before: number | null
  readonly after: number | null
  /** Users who were ahead before and are behind now, the nearest first. */
  readonly passed: readonly UserId[]
}

export interface RecordedPlayer {
  readonly name: string
  readonly role: PlayerRole
}

/** Prices of a player in a curve: about one a minute of a match. */
const CURVE_MARKS = 120
/** Users who were passed that are named, and the places behind the user where they are looked for. */
const PASSED_MAX = 3
const PLACES_BEHIND = 200
/** Positions that are read at a time, newest first. */
const PAGE = 500
/** Positions that are read for one recap. */
const READ_MAX = 20_000
/** Few positions last longer: those of matches that are suspended for days. */
const LASTS_MS = 8 * DAY_MS
/** After a settlement: late news has found what it corrects. */
const REST_MS = 2 * MINUTE_MS
/** Matches settled longer ago are no longer ranked. */
const RANKED_MS = 7 * DAY_MS
const MATCHES_A_LOOK = 10

export class Recaps {
  readonly #db: Kysely<Database>
  readonly #connection: Pick<Connection, 'withoutTimeout'>
  readonly #world: Pick<World, 'now'>
  readonly #rules: () => { readonly roiFloor: Money; readonly ranksBots: boolean }

  constructor(
    connection: Pick<Connection, 'db' | 'withoutTimeout'>,
    world: Pick<World, 'now'>,
    rules: () => { readonly roiFloor: Money; readonly ranksBots: boolean },
  ) {
    this.#db = connection.db
    this.#connection = connection
    this.#world = world
    this.#rules = rules
  }

  /** Names and roles of players, those who have left the market too. */
  async players(ids: readonly InstrumentId[]): Promise<ReadonlyMap<InstrumentId, RecordedPlayer>> {
    const { rows } = await sql<RecordedPlayer & { id: string }>`
      select id, name, role from instruments where id = any(${uuids(ids)}::uuid[])`.execute(this.#db)
    return new Map(rows.map(({ id, name, role }) => [instrumentId(id), { name, role }]))
  }

  /**
   * A user's closes, and what the purse was worth before. Null without a wallet in the purse, and where the user has
   * opened more than READ_MAX positions since.
   */ // R23
  async closes(user: UserId, { purse, match, from, to }: RecapQuery): Promise<RecapCloses | null> {
    return inSnapshot(this.#db, async (tx) => {
      const wallet = await tx
        .selectFrom('wallets')
        .select(['balance_micros', 'margin_micros'])
        .where('user_id', '=', user)
        .where('purse', '=', purse)
        .executeTakeFirst()
      if (wallet === undefined) return null
      const found = await closedSince(tx, user, purse, from)
      if (found === null) return null
      const closed = found.filter(({ close }) => close.at >= from)
      const isPart = ({ fixtureId: of, close }: ClosedPosition) => (match === null || of === match) && close.at < to
      const closes = closed.filter(isPart)
      const ids = new Set(closes.map(({ id }) => id))
      const earlier = found.filter(({ partOf, close }) => partOf !== undefined && ids.has(partOf) && close.at < from)
      const since =
        match === null ? from : closes.reduce((least, { openedAt }) => (openedAt < least ? openedAt : least), to)
      const { rows } = await sql<{ given: number }>`
          select coalesce(sum(amount_micros), 0)::bigint as given from ledger_entries
           where user_id = ${user}::uuid and purse = ${purse} and marker is null and at >= ${new Date(since)}::timestamptz
             and kind in ('refill', 'referral', 'external_adjustment', 'void_shortfall')`.execute(tx)
      const made = closed.reduce((sum, { close }) => (close.at < since ? sum : sum + close.pnl), 0)
      const start = wallet.balance_micros + wallet.margin_micros - (rows[0]?.given ?? 0) - made
      return { since, start: money(start), closes, earlier }
    })
  }

  /** What the players of these positions cost while they were open, about CURVE_MARKS times each, oldest first. */
  async marks(closes: readonly ClosedPosition[], purse: Purse): Promise<readonly Mark[]> {
    const from = closes.reduce((least, { openedAt }) => Math.min(least, openedAt), Infinity)
    const to = closes.reduce((most, { close }) => Math.max(most, close.at), 0)
    if (from >= to) return []
    const stepMs = Math.ceil((to - from) / CURVE_MARKS)
    const ids = [...new Set(closes.map((one) => one.instrumentId))]
    // A league trades without the crowd.
    const column = sql.ref(isCommon(purse) ? 'price_micros' : 'base_micros')
    const { rows } = await sql<{ instrument_id: string; mark: number; price: number }>`
      select instrument_id, mark, (array_agg(price order by at desc))[1] as price
        from (select instrument_id, at, ${column} as price,
                     floor((extract(epoch from at) * 1000 - ${from}::bigint) / ${stepMs}::integer)::integer as mark
                from ticks where instrument_id = any(${uuids(ids)}::uuid[])
                 and at between ${new Date(from).toISOString()}::timestamptz and ${new Date(to).toISOString()}::timestamptz) t
       group by instrument_id, mark order by mark`.execute(this.#db)
    return rows.map(({ instrument_id, mark, price: at }) => ({
      instrumentId: instrumentId(instrument_id),
      at: instant(from + (mark + 1) * stepMs),
      price: price(at),
    }))
  }

  /**
   * What a stretch of time, or a match in it, did to a rank. In a league it is that among its members, by what they
   * have realised, the frozen last as in its table; otherwise that on the board, from before the first settled match in
   * it to after the last. Null while it is not known, which takes a few minutes after a settlement.
   */
  async rank(user: UserId, { purse, match, from, to }: RecapQuery): Promise<RankChange | null> {
    return isCommon(purse)
      ? this.#boardRank(user, { match, from, to, purse })
      : this.#leagueRank(user, { purse, match, from, to })
  }

  async #boardRank(user: UserId, { purse, match, from, to }: RecapQuery): Promise<RankChange | null> {
    const { rows } = await sql<{ rank_before: number | null; rank_after: number | null }>`
      select rank_before, rank_after from match_ranks r
       where user_id = ${user}::uuid and purse = ${purse} and ${stillCounts}
         and settled_at >= ${new Date(from)}::timestamptz and settled_at < ${new Date(to)}::timestamptz
         and (${match}::bigint is null or match_id = ${match}::bigint)
       order by settled_at, match_id`.execute(this.#db)
    const [first, last] = [rows[0], rows.at(-1)]
    if (first === undefined || last === undefined) return null
    const change = { before: first.rank_before, after: last.rank_after }
    return { ...change, passed: match === null ? [] : await this.#passed(match, purse, change) }
  }

  /** Of those who have traded the match, too, and are not far behind. */
  async #passed(match: FixtureId, purse: Purse, { before, after }: Omit<RankChange, 'passed'>): Promise<UserId[]> {
    if (before === null || after === null || before <= after) return []
    const { rows } = await sql<{ user_id: string }>`
      select user_id from (
        select user_id, rank_before, rank_after from match_ranks r
         where match_id = ${match}::bigint and purse = ${purse} and ${stillCounts} and rank_after > ${after}::integer
         order by rank_after limit ${PLACES_BEHIND}::integer) behind
       where rank_before < ${before}::integer and ${isOnBoards(sql`user_id`)} order by rank_after, user_id limit ${PASSED_MAX}::integer`.execute(
      this.#db,
    )
    return rows.map((row) => userId(row.user_id))
  }

  async #leagueRank(user: UserId, { purse, match, from, to }: RecapQuery): Promise<RankChange | null> {
    const { rows } = await sql<{ before: number; after: number; passed: string[] }>`
      with made as (
        select m.user_id, u.status <> 'active' as is_frozen,
               coalesce(sum(p.pnl_micros) filter (where p.closed_at < ${new Date(to)}::timestamptz), 0) as upto,
               coalesce(sum(p.pnl_micros) filter (where p.closed_at >= ${new Date(from)}::timestamptz
                          and p.closed_at < ${new Date(to)}::timestamptz
                          and (${match}::bigint is null or p.match_id = ${match}::bigint)), 0) as within
          from league_members m join users u on u.id = m.user_id
               left join all_positions p on p.user_id = m.user_id and p.purse = ${purse}
               and p.purse not in ('main', 'practice')
         where m.league_id = ${purse}::uuid and m.left_at is null group by m.user_id, u.status
      ), ranked as (
        select user_id, rank() over (order by is_frozen, upto - within desc)::integer as before,
               rank() over (order by is_frozen, upto desc)::integer as after from made
      )
      select before, after, array(
               select o.user_id from ranked o
                where o.before < own.before and o.after > own.after and ${isOnBoards(sql`o.user_id`)}
                order by o.after, o.user_id limit ${PASSED_MAX}::integer) as passed
        from ranked own where user_id = ${user}::uuid`.execute(this.#db)
    return rows[0] === undefined ? null : { ...rows[0], passed: rows[0].passed.map(userId) }
  }

  /**
   * Notes, for each user who has closed a position in a match that was settled lately, their rank without that match
   * and with it. Of several processes one works at a time. Returns how many matches.
   */ // R23
  async rankMatches(): Promise<number> {
    // A fixture that was void may be played again.
    await sql`
      delete from ranked_matches r using matches m where m.id = r.match_id and m.settled_at is null`.execute(this.#db)
    if ((await this.#unranked(this.#db)).length === 0) return 0
    // With a million careers it takes longer than a statement may.
    return this.#connection.withoutTimeout(async (patient) => {
      for (let n = 0; n < MATCHES_A_LOOK; n++) if (!(await this.#rankNext(patient))) return n
      return MATCHES_A_LOOK
    })
  }

  /** The first match that is to be ranked, if any. */
  async #unranked(db: Kysely<Database>, lock = sql``) {
    const now = this.#world.now()
    const { rows } = await sql<{ id: number; settled_at: Date }>`
      select id, settled_at from matches m
       where settled_at between ${new Date(now - RANKED_MS)}::timestamptz and ${new Date(now - REST_MS)}::timestamptz
         and not exists (select from ranked_matches r where r.match_id = m.id)
         -- Careers have counted all of it.
         and exists (select from outbox_cursors c where c.match_id = m.id and not exists (
               select from outbox o where o.match_id = m.id and o.seq > c.seq))
         and not exists (select from outbox_failures f where f.match_id = m.id)
       order by settled_at limit 1 ${lock}`.execute(db)
    return rows
  }

  async #rankNext(db: Kysely<Database>): Promise<boolean> {
    return db.transaction().execute(async (tx) => {
      // Behind a pooler the role has a timeout of its own.
      await sql`set local statement_timeout = '10min'`.execute(tx)
      // Or several processes would sort all careers at once, each for a match of its own.
      const { rows: locked } = await sql<{ mine: boolean }>`
        select pg_try_advisory_xact_lock(hashtextextended('touchline match ranks', 0)) as mine`.execute(tx)
      if (locked[0]?.mine !== true) return false
      const [match] = await this.#unranked(tx, sql`for no key update skip locked`)
      if (match === undefined) return false
      for (const purse of PURSES) {
        await this.#rankIn(tx, purse, { id: fixtureId(match.id), settledAt: instant(match.settled_at.getTime()) })
      }
      await sql`insert into ranked_matches (match_id) values (${match.id}::bigint) on conflict do nothing`.execute(tx)
      return true
    })
  }

  async #rankIn(
    tx: Kysely<Database>,
    purse: CommonPurse,
    { id, settledAt }: { readonly id: FixtureId; readonly settledAt: Instant },
  ): Promise<void> {
    const { roiFloor, ranksBots } = this.#rules()
    const [column, isOff] = [
      purse === 'main' ? '' : 'practice_',
      ranksBots ? 'off_boards' : '(off_boards or bot_since is not null)',
    ]
    const of = (name: string) => sql.ref(`careers.${column}${name}`)
    // Positions have no index by match: its events tell them.
    await sql`
      with closed as (
        select distinct (e ->> 'positionId')::uuid as id
          from outbox o cross join lateral json_array_elements(o.events) e
         where o.match_id = ${id}::bigint and e ->> 'kind' = 'closed' and e ->> 'purse' = ${purse}
      ), wholes as (
        select user_id, sum(pnl_micros) as pnl, sum(${BASE_MOVE}) as moves, sum(margin_micros) as margin
          from positions join closed using (id)
         where match_id = ${id}::bigint and closed_by <> 'void'
         group by user_id, coalesce(part_of, id)
      ), played as (
        select user_id, count(*) as closed, count(*) filter (where pnl > 0) as wins, sum(pnl) as pnl,
               sum(moves) as moves, sum(margin) as margin
          from wholes group by user_id
      ), standings as (
        select careers.user_id, ${of('closed')} as closed, ${of('wins')} as wins, ${of('pnl_micros')} as pnl,
               ${of('base_moves_micros')} as moves, ${of('margin_micros')} as margin, ${of('first_trade_at')} as first_at
          from careers join users on users.id = careers.user_id
         where ${of('closed')} > 0 and not ${sql.raw(isOff)}
      ), after as (
        select user_id, rank() over (${orderOf(roiFloor)})::integer as rank from standings
      ), before as (
        select user_id, rank() over (${orderOf(roiFloor)})::integer as rank
          from (select s.user_id, s.closed - coalesce(p.closed, 0) as closed, s.wins - coalesce(p.wins, 0) as wins,
                       s.pnl - coalesce(p.pnl, 0) as pnl, s.moves - coalesce(p.moves, 0) as moves,
                       s.margin - coalesce(p.margin, 0) as margin, s.first_at
                  from standings s left join played p on p.user_id = s.user_id) s
         where s.closed > 0
      )
      insert into match_ranks (match_id, purse, user_id, settled_at, rank_before, rank_after)
        select ${id}::bigint, ${purse}, p.user_id, ${new Date(settledAt)}::timestamptz, before.rank, after.rank
          from played p left join before on before.user_id = p.user_id left join after on after.user_id = p.user_id
      on conflict (user_id, purse, match_id) do update
        set settled_at = excluded.settled_at, rank_before = excluded.rank_before, rank_after = excluded.rank_after`.execute(
      tx,
    )
  }
}

/** Of a row `r` of match_ranks: no operator has voided a position since that made it what it says. */ // R14
const stillCounts = sql`not exists (
  select from position_voids v join all_positions p on p.id = v.position_id and p.closed_by = 'void'
   where p.user_id = r.user_id and p.match_id = r.match_id and p.purse = r.purse and v.at > r.settled_at)`

/** Users who have been frozen, or have hidden or left since, are not named to others. */ // C2, Y2, Y6
const isOnBoards = (user: RawBuilder<unknown>) =>
  sql`exists (select from users u where u.id = ${user} and not u.off_boards)`

/** The order of a board by return (actors/community/ranking.ts). */
const orderOf = (floor: Money) => sql`order by
  round(moves * 1000000::numeric / greatest(margin, ${floor}::bigint, 1)) desc,
  round(wins * 1000000::numeric / closed) desc, pnl desc, first_at`

/** A user's positions of a purse that were closed at a time or later, and parts from before; null beyond READ_MAX. */
async function closedSince(
  db: Kysely<Database>,
  user: UserId,
  purse: Purse,
  from: Instant,
): Promise<readonly ClosedPosition[] | null> {
  const found: ClosedPosition[] = []
  let before = Number.MAX_SAFE_INTEGER
  for (let read = 0; read < READ_MAX; read += PAGE) {
    const rows = await db
      .selectFrom('ledger_entries as opening')
      .innerJoin('all_positions as positions', (on) =>
        on
          .onRef('positions.id', '=', 'opening.reference')
          .on(isPlaceOf('opening', 'positions'))
          .on(wasOpenBy('opening', 'positions')),
      )
      .select(POSITION_COLUMNS)
      .select(['opening.marker', 'opening.at as booked_at'])
      .where('opening.user_id', '=', user)
      .where('opening.kind', 'in', ['margin', 'release'])
      .where('opening.marker', '<', before)
      .orderBy('opening.marker', 'desc')
      .limit(PAGE)
      .execute()
    for (const row of rows) {
      const { close, ...position } = positionFrom(row)
      if (row.purse !== purse || close === null) continue
      if (close.at >= from || position.partOf !== undefined) found.push({ ...position, close })
    }
    const last = rows.at(-1)
    if (rows.length < PAGE || last === undefined || last.booked_at.getTime() < from - LASTS_MS) return found
    before = last.marker ?? 0
  }
  return null
}
