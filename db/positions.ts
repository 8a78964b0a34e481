/** Reads positions. Only a match's commit writes them. */
import { type Kysely, type Selectable, sql } from 'kysely'
import { assert } from '../actors/kernel/assert.ts'
import {
  type FixtureId,
  fixtureId,
  type InstrumentId,
  instrumentId,
  type PositionId,
  positionId,
  type UserId,
  userId,
} from '../actors/kernel/ids.ts'
import { lots, MICROS_MAX, MICROS_PER_UNIT, money, type Price, price, slope } from '../actors/kernel/micros.ts'
import type { Purse } from '../actors/kernel/purse.ts'
import { type Instant, instant } from '../actors/kernel/world.ts'
import { afterMoves, movesBefore, readMoves } from '../actors/position/moved.ts'
import { closingFill } from '../actors/position/fills.ts'
import { type Close, type Position } from '../actors/position/position.ts'
import { isPlaceOf, wasOpenBy } from './parts.ts'
import type { Database } from './postgres/schema.ts'
import type { InstrumentsTable } from './postgres/schema/matches.ts'
import type { PositionsTable } from './postgres/schema/positions.ts'

/** A position, and its instrument's price as last committed. */
export interface HeldPosition {
  readonly position: Position
  readonly currentPrice: Price
  /** What closing it alone would fill at. */
  readonly exitPrice: Price
  /** Protection: until when news may move this close; absent without it, and where none can any more. */
  readonly movableUntil?: Instant
}

/**
 * A position of a list, which is in the order of `place`, newest first: the marker of its opening, or of a part its
 * close.
 */
export interface ListedPosition extends HeldPosition {
  readonly place: number
}

export interface PositionQuery {
  /** Left out: every purse. */
  readonly purse?: Purse | undefined
  readonly status: 'open' | 'closed' | 'all'
  readonly matchId?: FixtureId | undefined
  readonly instrumentId?: InstrumentId | undefined
  /** Opened at this time or later. */
  readonly from?: Instant | undefined
  /** Opened before this time. */
  readonly to?: Instant | undefined
  /** Listed after this place. */
  readonly before?: number | undefined
  readonly limit: number
  readonly offset: number
}

/** The current positions, or the archived ones besides. */
type Among = 'positions' | 'all_positions'

export class Positions {
  readonly #db: Kysely<Database>
  readonly #isProtected: () => boolean

  /** `isProtected`: whether news may move closes. */
  constructor(db: Kysely<Database>, isProtected = () => false) {
    this.#db = db
    this.#isProtected = isProtected
  }

  /** A user's positions, most recently opened first. */
  async list(user: UserId, query: PositionQuery): Promise<readonly ListedPosition[]> {
    const { purse, status, matchId, instrumentId: player, from, to, limit, offset } = query
    const before = query.before ?? Number.MAX_SAFE_INTEGER
    const asked = status === 'open' ? this.#open(user, before) : this.#opened(user, status, before)
    const rows = await asked
      .where((eb) => (purse === undefined ? eb.lit(true) : eb('positions.purse', '=', purse)))
      .$if(matchId !== undefined, (held) => held.where('positions.match_id', '=', Number(matchId)))
      .$if(player !== undefined, (held) => held.where('positions.instrument_id', '=', String(player)))
      .$if(from !== undefined, (held) => held.where('opened_at', '>=', new Date(Number(from))))
      .$if(to !== undefined, (held) => held.where('opened_at', '<', new Date(Number(to))))
      .select(({ eb }) =>
        eb
          .case()
          .when('positions.part_of', 'is', null)
          .then(eb.ref('positions.opened_marker'))
          .else(eb.ref('positions.closed_marker').$notNull())
          .end()
          .as('place'),
      )
      .limit(limit)
      .offset(offset)
      .execute()
    return this.#withEnds(rows.map((row) => ({ ...heldFrom(row), place: row.place })))
  }

  /** One position of a user; null when it does not exist or belongs to another user. */
  async find(user: UserId, id: PositionId): Promise<HeldPosition | null> {
    const row = (await this.#one('positions', user, id)) ?? (await this.#one('all_positions', user, id))
    const [found] = row === undefined ? [] : await this.#withEnds([heldFrom(row)])
    return found ?? null
  }

  /** Adds until when news may move closes. The archive has none of these. */ // N4
  async #withEnds<P extends HeldPosition>(listed: readonly P[]): Promise<readonly P[]> {
    const ids = listed.flatMap(({ position: { id, close } }) => (close === null ? [] : [id]))
    if (ids.length === 0 || !this.#isProtected()) return listed
    const rows = await this.#db
      .selectFrom('positions')
      .innerJoin('matches', 'matches.id', 'positions.match_id')
      .select(['positions.id', 'movable_until'])
      .where('positions.id', 'in', ids)
      .where('movable_until', '>', sql<Date>`now()`)
      .where(sql<boolean>`matches.info ->> 'settling' is null`)
      .execute()
    const ends = new Map(rows.map(({ id, movable_until: until }) => [positionId(id), until]))
    return listed.map((one) => {
      const until = ends.get(one.position.id) ?? null
      return until === null ? one : { ...one, movableUntil: instant(until.getTime()) }
    })
  }

  /** A key may be used again once its position is archived; then the newer position has the id. */
  #one(among: Among, user: UserId, id: PositionId) {
    return this.#held(among)
      .where('positions.id', '=', id)
      .where('positions.user_id', '=', user)
      .orderBy('opened_at', 'desc')
      .limit(1)
      .executeTakeFirst()
  }

  #open(user: UserId, before: number) {
    return this.#held('positions')
      .where('positions.user_id', '=', user)
      .where('positions.opened_marker', '<', before)
      .where('positions.closed_at', 'is', null)
      .orderBy('positions.opened_marker', 'desc')
  }

  /**
   * All that the user ever opened, and its parts, in the ledger's order: there may be thousands, and no other index has
   * them in order.
   */
  #opened(user: UserId, status: 'closed' | 'all', before: number) {
    return this.#held('all_positions')
      .innerJoin('ledger_entries as opening', (on) =>
        on
          .onRef('opening.reference', '=', 'positions.id')
          .on(isPlaceOf('opening', 'positions'))
          .on(wasOpenBy('opening', 'positions')),
      )
      .where('opening.user_id', '=', user)
      .where('opening.kind', 'in', ['margin', 'release'])
      .where('opening.marker', '<', before)
      .$if(status === 'closed', (held) => held.where('positions.closed_at', 'is not', null))
      .orderBy('opening.marker', 'desc')
  }

  #held(among: Among) {
    // The view has the columns of the table.
    const from = (among === 'positions' ? among : 'all_positions as positions') as 'positions'
    return this.#db
      .selectFrom(from)
      .innerJoin('instruments', 'instruments.id', 'positions.instrument_id')
      .select(POSITION_COLUMNS)
      .select(PRICE_COLUMNS)
  }
}

/** Of a row `p` of positions: whether it has quantities that no trade can have, so that it cannot be read. */
export const isImpossible = sql<boolean>`(
  greatest(p.lots_micros, p.open_micros, p.open_base_micros, p.margin_micros, p.stop_loss_micros, p.take_profit_micros,
           p.close_micros, p.close_base_micros, abs(p.pnl_micros)) > ${MICROS_MAX}::bigint
  or p.open_micros::numeric * p.lots_micros * 5 > ${MICROS_MAX}::numeric * ${MICROS_PER_UNIT}::numeric
  or p.warned not in (0, 50, 80))`

/** All of a position except the stored answer to its opening. */
export const POSITION_COLUMNS = [
  'positions.id',
  'positions.user_id',
  'positions.purse',
  'positions.match_id',
  'positions.instrument_id',
  'sign',
  'lots_micros',
  'open_micros',
  'open_base_micros',
  'positions.margin_micros',
  'positions.stop_loss_micros',
  'positions.take_profit_micros',
  'opened_at',
  'closable_at',
  'positions.warned',
  'close_micros',
  'close_base_micros',
  'pnl_micros',
  'closed_at',
  'closed_by',
  'void_reason',
  'void_note',
  'positions.moved',
  'positions.part_of',
] as const

export type PositionRow = Pick<
  Selectable<PositionsTable>,
  (typeof POSITION_COLUMNS)[number] extends infer Name ? (Name extends `positions.${infer Bare}` ? Bare : Name) : never
>

/** What the price of an instrument is made of, and so what leaving it pays. */
export const PRICE_COLUMNS = [
  'instruments.price_micros',
  'instruments.base_micros',
  'instruments.slope_micros',
  'instruments.impact_cap_ppm',
  'instruments.imbalance_micros',
  'instruments.ended_imbalance_micros',
  'instruments.settlement_micros',
] as const

export type PriceRow = Pick<
  Selectable<InstrumentsTable>,
  (typeof PRICE_COLUMNS)[number] extends `instruments.${infer Bare}` ? Bare : never
>

/** What closing a position alone would fill at, as its instrument was last committed. */
export const exitPriceFrom = (row: PriceRow, position: Pick<Position, 'purse' | 'direction' | 'lots'>): Price =>
  closingFill(
    {
      base: price(row.base_micros),
      slope: slope(row.slope_micros),
      impactCapPpm: row.impact_cap_ppm,
      imbalance: lots(row.imbalance_micros),
      endedImbalance: row.ended_imbalance_micros === null ? null : lots(row.ended_imbalance_micros),
      settlement: row.settlement_micros === null ? null : price(row.settlement_micros),
    },
    position,
  )

export function heldFrom(row: PositionRow & PriceRow): HeldPosition {
  const position = rescuedPosition(row)
  return { position, currentPrice: price(row.price_micros), exitPrice: exitPriceFrom(row, position) }
}

/** A row as a position. An open price of zero passes: judging such a position is a rule of the game. */
export function positionFrom(row: PositionRow): Position {
  return {
    id: positionId(row.id),
    ...(row.part_of === null ? {} : { partOf: positionId(row.part_of) }),
    userId: userId(row.user_id),
    purse: row.purse,
    instrumentId: instrumentId(row.instrument_id),
    fixtureId: fixtureId(row.match_id),
    direction: row.sign === 1 ? 'long' : 'short',
    lots: lots(row.lots_micros),
    openPrice: price(row.open_micros),
    openBase: price(row.open_base_micros),
    margin: money(row.margin_micros),
    stopLoss: row.stop_loss_micros === null ? null : price(row.stop_loss_micros),
    takeProfit: row.take_profit_micros === null ? null : price(row.take_profit_micros),
    openedAt: instant(row.opened_at.getTime()),
    closableAt: instant(row.closable_at.getTime()),
    warned: row.warned,
    close: closeFrom(row),
    ...(row.moved === null ? {} : { moved: readMoves(row.moved, `moves of ${row.id}`) }),
  }
}

/** The position without what news has moved, which protection alone needs, if that cannot be read. */
export function rescuedPosition(row: PositionRow): Position {
  try {
    return positionFrom(row)
  } catch {
    return positionFrom({ ...row, moved: null })
  }
}

/** The position as its opening left it, without later changes. */
export const positionAsOpened = (
  row: PositionRow & Pick<Selectable<PositionsTable>, 'opened_stop_micros' | 'opened_take_micros'>,
): Position => ({
  ...afterMoves(positionFrom(row), 0),
  stopLoss: row.opened_stop_micros === null ? null : price(row.opened_stop_micros),
  takeProfit: row.opened_take_micros === null ? null : price(row.opened_take_micros),
  warned: 0,
  close: null,
})

/** The position as its close left it. */
export function positionAsClosed(row: PositionRow): Position {
  const position = positionFrom(row)
  assert(position.close !== null, `position ${row.id} is not closed`)
  return afterMoves(position, movesBefore(position.close, position.moved))
}

function closeFrom(row: PositionRow): Close | null {
  const { close_micros, close_base_micros: base, pnl_micros, closed_at, closed_by: by } = row
  if (closed_at === null) return null
  assert(
    close_micros !== null && base !== null && pnl_micros !== null && by !== null,
    `position ${row.id} is half closed`,
  )
  const at = instant(closed_at.getTime())
  const note = row.void_note === null ? {} : { voidNote: row.void_note }
  return {
    price: price(close_micros),
    base: price(base),
    pnl: money(pnl_micros),
    at,
    by,
    voidReason: row.void_reason,
    ...note,
  }
}
