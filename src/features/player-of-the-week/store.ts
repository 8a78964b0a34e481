/** The board of a week: the footballers whose base rose most in its live matches, written when the week is over. */
import { type Kysely, sql } from 'kysely'
import { type Week, weekBefore, weekOf } from '../../../actors/kernel/calendar.ts'
import { type InstrumentId, instrumentId } from '../../../actors/kernel/ids.ts'
import { MINUTE_MS, type World } from '../../../actors/kernel/world.ts'
import type { Database } from '../../../db/postgres/schema.ts'

/** A row of the board. */
interface PlayerWeeksTable {
  /** `2026-W21`. */
  week: string
  rank: number
  instrument_id: string
  name: string
  team: string
  gain_ppm: number
}

export interface RankedPlayer {
  readonly rank: number
  readonly instrumentId: InstrumentId
  readonly name: string
  readonly team: string
  /** From the first base of the week to the last settlement, in parts per million. */
  readonly gainPpm: number
}

export interface PlayerBoard {
  readonly week: string
  /** The best first. */
  readonly players: readonly RankedPlayer[]
}

/** A commit decided before midnight is durable a minute later, or never. */
const GRACE_MS = MINUTE_MS

export class PlayerWeeks {
  readonly #db: Kysely<Database & { player_weeks: PlayerWeeksTable }>
  readonly #world: Pick<World, 'now'>

  constructor(db: Kysely<Database>, world: Pick<World, 'now'>) {
    this.#db = db.withTables<{ player_weeks: PlayerWeeksTable }>()
    this.#world = world
  }

  /** Writes the board of the last week, unless it is there. A week without a settled live match has none. */
  async write(places: number): Promise<void> {
    const week = weekBefore(weekOf(this.#world.now()))
    if (this.#world.now() < week.endsAt + GRACE_MS) return
    const known = await this.#db
      .selectFrom('player_weeks')
      .select('rank')
      .where('week', '=', week.name)
      .limit(1)
      .execute()
    if (known.length === 0) await this.#rank(week, places)
  }

  /** The newest board, or null. */
  async latest(): Promise<PlayerBoard | null> {
    const rows = await this.#db
      .selectFrom('player_weeks')
      .selectAll()
      .where('week', '=', (of) => of.selectFrom('player_weeks').select(({ fn }) => fn.max('week').as('week')))
      .orderBy('rank')
      .execute()
    const [first] = rows
    if (first === undefined) return null
    return {
      week: first.week,
      players: rows.map(({ rank, instrument_id, name, team, gain_ppm }) => ({
        rank,
        instrumentId: instrumentId(instrument_id),
        name,
        team,
        gainPpm: gain_ppm,
      })),
    }
  }

  /** Of processes that rank a week together one writes. */
  async #rank({ name, startsAt, endsAt }: Week, places: number): Promise<void> {
    const [start, end] = [sql`${new Date(startsAt)}::timestamptz`, sql`${new Date(endsAt)}::timestamptz`]
    await sql`
      with settled as (
        select distinct on (instrument_id) instrument_id, base_micros
          from ticks
         where cause = 'settlement' and at >= ${start} and at < ${end}
         order by instrument_id, at desc
      ), gained as (
        select i.id, i.name, m.info -> i.side ->> 'name' as team,
               round((s.base_micros - f.base_micros) * 1000000::numeric / f.base_micros)::integer as gain_ppm
          from settled s
          join instruments i on i.id = s.instrument_id
          join matches m on m.id = i.match_id and not m.replay
          cross join lateral (
            select base_micros from ticks t
             where t.instrument_id = s.instrument_id and t.at >= ${start}
             order by t.at limit 1) f
      )
      insert into player_weeks (week, rank, instrument_id, name, team, gain_ppm)
        select ${name}::text, row_number() over (order by gain_ppm desc, id), id, name, team, gain_ppm
          from gained
         order by gain_ppm desc, id
         limit ${places}::integer
        on conflict do nothing`.execute(this.#db)
  }
}
