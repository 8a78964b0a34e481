/** What a player did in their last matches, which comes next, and who of the reader's leagues holds them. */
import { type Kysely, sql } from 'kysely'
import type { FixtureId, InstrumentId, UserId } from '../../../actors/kernel/ids.ts'
import { type Price, price } from '../../../actors/kernel/micros.ts'
import type { Instant } from '../../../actors/kernel/world.ts'
import { type MoveReason, readReason } from '../../../actors/market/move-reason.ts'
import type { MatchInfo } from '../../../actors/match/messages.ts'
import type { Direction } from '../../../actors/position/position.ts'
import { infoFrom, MATCH_COLUMNS, type MatchRow } from '../../../db/match-record.ts'
import { instants, uuids } from '../../../db/postgres/arrays.ts'
import type { Database } from '../../../db/postgres/schema.ts'

/** A match that a player has settled in. */
export interface PlayedMatch {
  readonly info: MatchInfo
  readonly from: Price
  readonly to: Price
  /** How far the base moved; the rest is the crowd's. */
  readonly baseBy: number
  /** What the base moved by with each event, oldest first. */
  readonly told: readonly MoveReason[]
}

/** How the player's present match began for them. */
export interface Beginning {
  readonly start: Price
  /** What the player is worth over a season. */
  readonly anchor: Price
  /** Goals that the odds expect of their team; null without odds. */
  readonly expectedGoals: number | null
}

/** The reader of the page, and their friends. */
export interface Readers {
  readonly reader: UserId
  readonly friends: readonly UserId[]
}

export interface Holder {
  readonly username: string
  readonly direction: Direction
  /** A league that both are in; null for a friend with whom the reader shares none. */
  readonly league: string | null
}

/** Matches of one answer. */
export const MATCHES_MAX = 5
export const HOLDERS_MAX = 20
/** Members of the reader's leagues that are looked at. */
const MEMBERS_LOOKED_AT = 2_000
/** Ticks with an event that are read: more than five matches have. */
const TOLD_MAX = 500

interface SpanRow {
  readonly first_at: Date
  readonly last_at: Date
  readonly from_micros: number
  readonly to_micros: number
  readonly base_by: number
}

/** Reads alone: everything here is known otherwise. */
export class PlayerProfiles {
  readonly #db: Kysely<Database>

  constructor(db: Kysely<Database>) {
    this.#db = db
  }

  /** The last matches that the player has settled in, latest first. */
  async played(instrument: InstrumentId, limit = MATCHES_MAX): Promise<readonly PlayedMatch[]> {
    const spans = await this.#spans(instrument, limit)
    if (spans.length === 0) return []
    const [infos, told] = await Promise.all([this.#matchesOf(instrument, spans), this.#told(instrument, spans)])
    return spans.flatMap((span, n) => {
      const info = infos.get(n)
      if (info === undefined) return []
      const within = told.filter(({ at }) => at > span.first_at && at <= span.last_at)
      return {
        info,
        from: price(span.from_micros),
        to: price(span.to_micros),
        baseBy: span.base_by,
        told: within.map(({ why }) => readReason(why, 'the reason of a tick')),
      }
    })
  }

  /** From the listing for a match to its settlement: steps into an index of the few ticks that tell of either. */
  async #spans(instrument: InstrumentId, limit: number): Promise<readonly SpanRow[]> {
    const { rows } = await sql<SpanRow>`
      with ends as (
        select at, price_micros, base_micros from ticks
         where instrument_id = ${instrument}::uuid and cause = 'settlement' order by at desc limit ${limit + 1}::integer
      ), bounded as (
        select *, coalesce(lag(at) over (order by at), '-infinity') as after from ends
      )
      select f.at as first_at, b.at as last_at, f.price_micros as from_micros, b.price_micros as to_micros,
             b.base_micros - f.base_micros as base_by
        from bounded b cross join lateral (
          -- A listing may have fallen into one tick with what followed.
          select at, price_micros, base_micros from ticks
           where instrument_id = ${instrument}::uuid and at < b.at and at = coalesce(
             (select l.at from ticks l where l.instrument_id = ${instrument}::uuid and l.cause = 'listing'
                 and l.at > b.after and l.at < b.at order by l.at desc limit 1),
             (select t.at from ticks t where t.instrument_id = ${instrument}::uuid and t.at > b.after order by t.at limit 1))
           limit 1) f
       order by b.at desc limit ${limit}::integer`.execute(this.#db)
    return rows
  }

  /** The match of each span: that of the player's which was settled next. */
  async #matchesOf(instrument: InstrumentId, spans: readonly SpanRow[]): Promise<ReadonlyMap<number, MatchInfo>> {
    const named = JSON.stringify([{ instrumentId: instrument }])
    const { rows } = await sql<MatchRow & { n: number }>`
      select ends.n::integer as n, m.*
        from unnest(${instants(spans.map(({ last_at: at }) => at.getTime()))}::timestamptz[]) with ordinality ends (at, n)
        cross join lateral (
          select ${sql.join(MATCH_COLUMNS.map((name) => sql.ref(`matches.${name}`)))} from matches
           where settled_at >= ends.at - interval '1 second' and settled_at < ends.at + interval '1 day'
             and info -> 'squad' @> ${named}::jsonb
           order by settled_at limit 1) m`.execute(this.#db)
    return new Map(rows.map((row) => [row.n - 1, infoFrom(row)]))
  }

  async #told(instrument: InstrumentId, spans: readonly SpanRow[]) {
    const since = spans.at(-1)?.first_at.toISOString() ?? null
    const { rows } = await sql<{ at: Date; why: string }>`
      select at, why from ticks
       where instrument_id = ${instrument}::uuid and provider_event_id <> 0 and why is not null and at > ${since}::timestamptz
       order by at desc limit ${TOLD_MAX}::integer`.execute(this.#db)
    return rows.toReversed()
  }

  /** What the start price in the player's match was made of. */
  async beginning(instrument: InstrumentId): Promise<Beginning | null> {
    const { rows } = await sql<{ start: number; anchor: number | null; expected: number | null }>`
      select i.start_micros as start, (m.pricing -> 'anchors' ->> i.player_id::text)::bigint as anchor,
             (m.pricing -> 'expectedGoals' ->> i.side)::float8 as expected
        from instruments i join matches m on m.id = i.match_id and m.quarantine is null
       where i.id = ${instrument}::uuid`.execute(this.#db)
    const [row] = rows
    if (row === undefined) return null
    const start = price(row.start)
    return { start, anchor: price(row.anchor ?? row.start), expectedGoals: row.expected }
  }

  /** The next fixture of a team after this moment, as the calendar announces it; null where it announces none. */
  async next(team: number, after: Instant): Promise<MatchInfo | null> {
    const plays = sql<boolean>`${String(team)} in (info -> 'home' ->> 'id', info -> 'away' ->> 'id')`
    const row = await this.#db
      .selectFrom('fixtures')
      .select(['id', 'starts_at', 'info'])
      .where('starts_at', '>', new Date(after))
      .where(sql<boolean>`info ->> 'phase' = 'scheduled'`)
      .where(plays)
      .orderBy('starts_at')
      .limit(1)
      .executeTakeFirst()
    return row === undefined
      ? null
      : infoFrom({ ...row, phase: 'scheduled', replay: false, settled_at: null, quarantine: null })
  }

  /** Who holds the player, of the reader's friends and private leagues that have not ended: those on the boards. */
  async holders(
    { reader, friends }: Readers,
    instrument: InstrumentId,
    match: FixtureId,
    now: Instant,
  ): Promise<readonly Holder[]> {
    const { rows } = await sql<{ username: string; sign: 1 | -1; league: string | null }>`
      with members as (
        select m.user_id, min(l.name) as league
          from league_members own
          join leagues l on l.id = own.league_id and l.kind = 'private' and l.ends_at > ${new Date(now)}::timestamptz
          -- The bound for each league keeps the planner from reading the members of all leagues.
          cross join lateral (
            select user_id from league_members
             where league_id = own.league_id and left_at is null limit ${MEMBERS_LOOKED_AT}::integer) m
         where m.user_id <> own.user_id and own.user_id = ${reader}::uuid and own.left_at is null
         group by m.user_id limit ${MEMBERS_LOOKED_AT}::integer
      ), mates as (
        select * from members
        union all
        select id, null from unnest(${uuids(friends)}::uuid[]) f (id)
         where id <> ${reader}::uuid and id not in (select user_id from members)
      )
      select distinct u.username, p.sign, mates.league
        from mates join users u on u.id = mates.user_id and not u.off_boards
        join positions p on p.user_id = u.id and p.match_id = ${match}::bigint and p.closed_at is null
         and p.instrument_id = ${instrument}::uuid
         -- What is held with the money of a league is for its members.
         and (p.purse in ('main', 'practice') or exists (
           select from league_members r
            where r.user_id = ${reader}::uuid and r.left_at is null and r.league_id::text = p.purse))
       order by u.username, p.sign limit ${HOLDERS_MAX}::integer`.execute(this.#db)
    return rows.map(({ username, sign, league }) => ({ username, direction: sign === 1 ? 'long' : 'short', league }))
  }
}
