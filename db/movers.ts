/** The movers board: players whose price moved most in a day, and those traded most. */
import { type Kysely, sql } from 'kysely'
import { type FixtureId, fixtureId, type InstrumentId, instrumentId } from '../actors/kernel/ids.ts'
import { type Lots, lots, type Price, price } from '../actors/kernel/micros.ts'
import { HOUR_MS, type Instant, MINUTE_MS, type World } from '../actors/kernel/world.ts'
import type { FixtureTeam, PlayerRole, Side } from '../actors/market/fixture.ts'
import { teamFrom } from './match-record.ts'
import { changePpm } from './catalogue.ts'
import type { Database } from './postgres/schema.ts'
import { volumeSince } from './recent-trades.ts'

export interface Mover {
  readonly instrumentId: InstrumentId
  readonly name: string
  readonly role: PlayerRole
  readonly side: Side
  readonly team: FixtureTeam
  readonly matchId: FixtureId
  readonly price: Price
  /** Since the price that stood when the window began, or else its first, in parts per million. */
  readonly changePpm: number
  /** Lots traded in the window. */
  readonly volume: Lots
}

/**
 * The best first, at most MOVERS_TOP each. A player without a change or a
 * trade is not listed.
 */
export interface MoversBoard {
  readonly gainers: readonly Mover[]
  readonly losers: readonly Mover[]
  readonly mostTraded: readonly Mover[]
  readonly asOf: Instant
}

/** Specification 8: top five of 24 hours, cached for 60 seconds. */
const MOVERS_TOP = 5
const WINDOW_MS = 24 * HOUR_MS
const KEPT_MS = MINUTE_MS

export class Movers {
  readonly #db: Kysely<Database>
  readonly #world: Pick<World, 'now'>
  #known: { readonly asOf: Instant; readonly board: Promise<MoversBoard> } | null = null

  constructor(db: Kysely<Database>, world: Pick<World, 'now'>) {
    this.#db = db
    this.#world = world
  }

  /** At most a minute old. Concurrent callers share one query; a failed one is not cached. */
  top(): Promise<MoversBoard> {
    const now = this.#world.now()
    if (this.#known !== null && Math.abs(now - this.#known.asOf) < KEPT_MS) return this.#known.board
    const known = { asOf: now, board: this.#read(now) }
    this.#known = known
    known.board.catch(() => {
      if (this.#known === known) this.#known = null
    })
    return known.board
  }

  /**
   * Players whose matches were active within the window. A change counts from the price that stood when the window
   * began, or from the start of the match if that was later: no user can trade between two matches.
   */
  async #read(now: Instant): Promise<MoversBoard> {
    const since = sql`${new Date(now - WINDOW_MS).toISOString()}::timestamptz`
    const { rows } = await sql<MoverRow>`
      select i.id, i.name, i.role, i.side, m.info -> i.side as team, m.id as match_id,
             i.price_micros,
             standing.price_micros as first_micros, ${volumeSince(sql`i.id`, since)} as volume
        from matches m
        join instruments i on i.match_id = m.id
       cross join lateral (
         select coalesce(
           (select t.price_micros from ticks t where t.instrument_id = i.id and t.cause = 'listing' and t.at > ${since}
             order by t.at desc limit 1),
           (select t.price_micros from ticks t where t.instrument_id = i.id and t.at <= ${since} order by t.at desc limit 1),
           (select t.price_micros from ticks t where t.instrument_id = i.id and t.at > ${since} order by t.at limit 1)
         ) as price_micros) standing
       where standing.price_micros is not null and (m.settled_at is null or m.settled_at >= ${since})`.execute(this.#db)
    return boardOf(rows.map(moverFrom), now)
  }
}

interface MoverRow {
  readonly id: string
  readonly name: string
  readonly role: PlayerRole
  readonly side: Side
  readonly team: unknown
  readonly match_id: number
  readonly price_micros: number
  readonly first_micros: number
  readonly volume: number
}

const moverFrom = (row: MoverRow): Mover => ({
  instrumentId: instrumentId(row.id),
  name: row.name,
  role: row.role,
  side: row.side,
  team: teamFrom(row.team, row.side),
  matchId: fixtureId(row.match_id),
  price: price(row.price_micros),
  changePpm: changePpm(row.first_micros, row.price_micros),
  volume: lots(row.volume),
})

function boardOf(movers: readonly Mover[], asOf: Instant): MoversBoard {
  // Ties are ordered by id.
  const top = (by: (mover: Mover) => number): readonly Mover[] =>
    movers
      .filter((mover) => by(mover) > 0)
      .toSorted((a, b) => by(b) - by(a) || (a.instrumentId < b.instrumentId ? -1 : 1))
      .slice(0, MOVERS_TOP)
  return {
    gainers: top((mover) => mover.changePpm),
    losers: top((mover) => -mover.changePpm),
    mostTraded: top((mover) => mover.volume),
    asOf,
  }
}
