/** Reads matches and the instruments listed in them, as last committed. */
import { type Kysely, type Selectable, sql } from 'kysely'
import { present } from '../actors/kernel/assert.ts'
import { type FixtureId, fixtureId, type InstrumentId, instrumentId } from '../actors/kernel/ids.ts'
import { mulDivNearest, PPM, type Price, price } from '../actors/kernel/micros.ts'
import { HOUR_MS, type Instant, type World } from '../actors/kernel/world.ts'
import type { Instrument } from '../actors/market/instrument.ts'
import type { MatchInfo } from '../actors/match/messages.ts'
import { infoFrom, MATCH_COLUMNS, type MatchRow, rescuedInstrument } from './match-record.ts'
import { uuids } from './postgres/arrays.ts'
import type { Database } from './postgres/schema.ts'
import type { InstrumentsTable } from './postgres/schema/matches.ts'

/** An instrument with its match and the change of its price. */
export interface Listing {
  readonly instrument: Instrument
  readonly match: MatchInfo
  readonly price: Price
  /** Change since the first tick of the last 24 hours, or since the start of the match, in parts per million. */
  readonly changePpm: number
}

/** What a player cost at the beginning and at the end of a match. */
export interface Outcome {
  readonly instrumentId: InstrumentId
  readonly from: Price
  readonly to: Price
  /** From one to the other, in parts per million. */
  readonly changePpm: number
}

/** What has begun and is not settled is live. */
const MATCH_STAGES = ['live', 'upcoming', 'over'] as const

/** Which matches are asked for: those of a stage, and those that begin in a stretch of time. */
export interface MatchQuery {
  readonly stage?: (typeof MATCH_STAGES)[number] | undefined
  readonly from?: Instant | undefined
  /** The first moment that does not belong to it. */
  readonly to?: Instant | undefined
}

/** Enough for more than a season's unfinished matches and the latest finished ones. */
const MATCHES_MAX = 500
/** Matches under way that are read whole. */
const LIVE_MAX = 100
const CHANGE_WINDOW_MS = 24 * HOUR_MS

export class Catalogue {
  readonly #db: Kysely<Database>
  readonly #world: Pick<World, 'now'>

  constructor(db: Kysely<Database>, world: Pick<World, 'now'>) {
    this.#db = db
    this.#world = world
  }

  /**
   * Known matches in outline (no events, no squads): first those in play, latest kick-off first; then upcoming ones,
   * the next one first; then those that are over, latest first. A fixture is listed until its match exists.
   */
  async matches({ stage, from, to }: MatchQuery = {}): Promise<readonly MatchInfo[]> {
    const rank = stage === undefined ? null : MATCH_STAGES.indexOf(stage)
    const at = (time: Instant | undefined) => (time === undefined ? null : new Date(time))
    const order = sql`known.rank, case known.rank when 1 then known.starts_at end, known.starts_at desc, known.id desc`
    // The outlines of those that are chosen, for which alone the stored descriptions are read.
    const { rows } = await sql<MatchRow>`
      select ${outline} as info, known.id, known.starts_at, known.phase, known.replay, known.settled_at,
             known.quarantine
        from (
          select known.* from (
            select id, starts_at, info, phase, replay, settled_at, quarantine,
                   case when settled_at is not null then 2 when phase = 'scheduled' then 1 else 0 end as rank
              from matches m where not ${isAmongBack}
            union all
            select id, starts_at, info, coalesce(info ->> 'phase', ''), false, null, null,
                   case info ->> 'phase' when 'scheduled' then 1 else 2 end
              from fixtures f where not exists (select from matches m where m.id = f.id and not ${isAmongBack})
          ) known
           where (${rank}::integer is null or known.rank = ${rank}::integer)
             and (${at(from)}::timestamptz is null or known.starts_at >= ${at(from)}::timestamptz)
             and (${at(to)}::timestamptz is null or known.starts_at < ${at(to)}::timestamptz)
           order by ${order} limit ${MATCHES_MAX}::integer
        ) known
       order by ${order}`.execute(this.#db)
    return rows.map(infoFrom)
  }

  /** Matches that have begun and are not settled, with events and squads, latest kick-off first. */
  async underWay(): Promise<readonly MatchInfo[]> {
    const rows = await this.#db
      .selectFrom('matches')
      .select(MATCH_COLUMNS)
      .where('settled_at', 'is', null)
      .where('phase', 'in', ['live', 'break', 'ended', 'final'])
      .orderBy('starts_at', 'desc')
      .orderBy('id', 'desc')
      .limit(LIVE_MAX)
      .execute()
    return rows.map(infoFrom)
  }

  /**
   * What a settled match did to the prices of its players: from their listing to their settlement, whatever they have
   * played since. Without those whose ticks are not stored any more.
   */
  async outcomes({ squad, settledAt }: Pick<MatchInfo, 'squad' | 'settledAt'>): Promise<readonly Outcome[]> {
    if (settledAt === null) return []
    const until = new Date(settledAt).toISOString()
    const { rows } = await sql<{ id: string; from: number; to: number }>`
      select p.id, first.price_micros as "from", settled.price_micros as "to"
        from unnest(${uuids(squad.map(({ instrumentId: id }) => id))}::uuid[]) as p (id)
       cross join lateral (
         select at, price_micros from ticks t where t.instrument_id = p.id and t.cause = 'settlement'
            and t.at <= ${until}::timestamptz order by t.at desc limit 1) settled
       cross join lateral (
         select price_micros from ticks t where t.instrument_id = p.id and t.at >= coalesce((
           select case l.cause when 'listing' then l.at else l.at + interval '1 microsecond' end from ticks l
            where l.instrument_id = p.id and l.cause in ('listing', 'settlement') and l.at < settled.at
            order by l.at desc limit 1), '-infinity') order by t.at limit 1) first`.execute(this.#db)
    return rows.map(({ id, from, to }) => ({
      instrumentId: instrumentId(id),
      from: price(from),
      to: price(to),
      changePpm: changePpm(from, to),
    }))
  }

  /** A match as last committed, or as the calendar announces it. */
  async match(id: FixtureId): Promise<MatchInfo | null> {
    const match = await this.#db
      .selectFrom('matches as m')
      .select(MATCH_COLUMNS)
      .where('id', '=', id)
      .where(sql<boolean>`not ${isBack}`)
      .executeTakeFirst()
    if (match !== undefined) return infoFrom(match)
    const row = await this.#db.selectFrom('fixtures').selectAll().where('id', '=', id).executeTakeFirst()
    return row === undefined ? null : infoFrom({ ...row, ...ANNOUNCED })
  }

  /** The instruments of all matches that are not settled, by match and name. */
  async instruments(): Promise<readonly Listing[]> {
    const rows = await this.#priced()
      .innerJoin('matches', 'matches.id', 'instruments.match_id')
      .where('matches.settled_at', 'is', null)
      .orderBy('instruments.match_id')
      .orderBy('instruments.name')
      .orderBy('instruments.id')
      .execute()
    return this.#withMatches(rows)
  }

  /** One instrument, active or not. */
  async instrument(id: InstrumentId): Promise<Listing | null> {
    const rows = await this.#priced().where('instruments.id', '=', id).execute()
    const [listing] = await this.#withMatches(rows)
    return listing ?? null
  }

  /** The match whose actor an instrument belongs to. */
  async matchOfInstrument(id: InstrumentId): Promise<FixtureId | null> {
    const row = await this.#db.selectFrom('instruments').select('match_id').where('id', '=', id).executeTakeFirst()
    return row === undefined ? null : fixtureId(row.match_id)
  }

  #priced() {
    const since = new Date(this.#world.now() - CHANGE_WINDOW_MS).toISOString()
    return this.#db
      .selectFrom('instruments')
      .selectAll('instruments')
      .select(
        // A player may have played another match within the window: this one begins with its listing, or, where that
        // fell into one tick with what followed, after the settlement of the other.
        sql<number | null>`(
          select t.price_micros from ticks t
           where t.instrument_id = instruments.id
             and t.at >= greatest(${since}::timestamptz, (
               select case l.cause when 'listing' then l.at else l.at + interval '1 microsecond' end from ticks l
                where l.instrument_id = instruments.id and l.cause in ('listing', 'settlement')
                order by l.at desc limit 1))
           order by t.at limit 1)`.as('first_micros'),
      )
  }

  /** Reads each match once, however many instruments it lists. */
  async #withMatches(rows: readonly PricedRow[]): Promise<readonly Listing[]> {
    if (rows.length === 0) return []
    const ids = [...new Set(rows.map((row) => row.match_id))]
    const found = await this.#db
      .selectFrom('matches')
      .select(MATCH_COLUMNS)
      .select(outline.as('info'))
      .where('id', 'in', ids)
      .execute()
    const matches = new Map(found.map((row) => [row.id, infoFrom(row)]))
    return rows.map((row) => ({
      instrument: rescuedInstrument(row),
      match: present(matches.get(row.match_id), `match ${row.match_id}`),
      price: price(row.price_micros),
      changePpm: changePpm(row.first_micros ?? row.start_micros, row.price_micros),
    }))
  }
}

type PricedRow = Selectable<InstrumentsTable> & { readonly first_micros: number | null }

export const changePpm = (from: number, to: number): number => mulDivNearest(to - from, PPM, from)

/** A match without events, team statistics and squads: several kilobytes each that lists do not show. */
const outline = sql`case when jsonb_typeof(info) = 'object'
  then info || '{"events": [], "teamStats": null, "squad": []}'::jsonb else info end`

/** Of a match `m` that was void: whether its fixture is announced for another day. Its description is read last. */
export const isBack = sql`(m.settled_at is not null and exists (
  select from fixtures f where f.id = m.id and f.starts_at > m.starts_at and f.info ->> 'phase' = 'scheduled')
  and m.info ->> 'settling' = 'void')`

/** The same, of each of all matches: the few fixtures that are announced are read once, not one for every match. */
const isAmongBack = sql`(m.id in (select f.id from fixtures f where f.info ->> 'phase' = 'scheduled') and ${isBack})`

/** Of a fixture that no process runs yet. */
const ANNOUNCED = { phase: 'scheduled', replay: false, settled_at: null, quarantine: null } as const
