/** Rows as a match's commit would leave them, for tests of what reads them. */
import type { Insertable, Kysely } from 'kysely'
import type { FixtureId } from '../../actors/kernel/ids.ts'
import { type Position, signOf } from '../../actors/position/position.ts'
import type { Cause, Instrument } from '../../actors/market/instrument.ts'
import type { MatchInfo } from '../../actors/match/messages.ts'
import type { Database } from '../../db/postgres/schema.ts'
import type { TicksTable } from '../../db/postgres/schema/matches.ts'

type Db = Kysely<Database>

const date = (ms: number): Date => new Date(ms)

export async function insertMatch(db: Db, info: MatchInfo): Promise<void> {
  await db
    .insertInto('matches')
    .values({
      id: info.matchId,
      phase: info.phase,
      replay: info.replay,
      starts_at: date(info.startsAt),
      settled_at: info.settledAt === null ? null : date(info.settledAt),
      info: JSON.stringify(info),
      pricing: JSON.stringify({}),
    })
    .execute()
}

export async function insertInstrument(db: Db, match: FixtureId, instrument: Instrument, price: number): Promise<void> {
  await db
    .insertInto('instruments')
    .values({
      id: instrument.id,
      player_id: instrument.playerId,
      name: instrument.name,
      role: instrument.role,
      side: instrument.side,
      jersey: instrument.jersey,
      starter: instrument.starter,
      match_id: match,
      start_micros: instrument.start,
      slope_micros: instrument.slope,
      impact_cap_ppm: instrument.impactCapPpm,
      base_micros: instrument.base,
      imbalance_micros: instrument.imbalance,
      price_micros: price,
      published_micros: instrument.published,
      ended_imbalance_micros: instrument.endedImbalance,
      news: instrument.news === null ? null : JSON.stringify(instrument.news),
      leaving_from_micros: instrument.leavingFrom,
      settlement_micros: instrument.settlement,
    })
    .execute()
}

export async function insertTick(
  db: Db,
  tick: Pick<Insertable<TicksTable>, 'instrument_id' | 'price_micros'> & { at: number; cause?: Cause },
): Promise<void> {
  await db
    .insertInto('ticks')
    .values({
      cause: 'match',
      ...tick,
      at: date(tick.at),
      base_micros: tick.price_micros,
      imbalance_micros: 0,
      provider_event_id: 0,
    })
    .execute()
}

/** The position and its entries in the ledger: no wallet is debited, and markers only grow with time. */
export async function insertPosition(db: Db, position: Position): Promise<void> {
  const { close } = position
  const [opened, closed] = [marker(position.openedAt), close === null ? null : marker(close.at)]
  await db
    .insertInto('positions')
    .values({
      id: position.id,
      user_id: position.userId,
      purse: position.purse,
      match_id: position.fixtureId,
      instrument_id: position.instrumentId,
      sign: signOf(position.direction),
      lots_micros: position.lots,
      open_micros: position.openPrice,
      open_base_micros: position.openBase,
      margin_micros: position.margin,
      stop_loss_micros: position.stopLoss,
      take_profit_micros: position.takeProfit,
      opened_at: date(position.openedAt),
      closable_at: date(position.closableAt),
      close_micros: close?.price ?? null,
      close_base_micros: close?.base ?? null,
      pnl_micros: close?.pnl ?? null,
      closed_at: close === null ? null : date(close.at),
      closed_by: close?.by ?? null,
      void_reason: close?.voidReason ?? null,
      opened_marker: opened,
      closed_marker: closed,
      opened_stop_micros: position.stopLoss,
      opened_take_micros: position.takeProfit,
    })
    .execute()
  const { id, userId, purse } = position
  const entry = { tx: id, account: 'user', user_id: userId, purse, reference: id } as const
  const margin = { ...entry, kind: 'margin', amount_micros: -position.margin } as const
  await db
    .insertInto('ledger_entries')
    .values({ ...margin, marker: opened, at: date(position.openedAt) })
    .execute()
  if (close === null) return
  const release = { ...entry, kind: 'release', amount_micros: position.margin + close.pnl } as const
  await db
    .insertInto('ledger_entries')
    .values({ ...release, marker: closed, at: date(close.at) })
    .execute()
}

let inserted = 0
const marker = (at: number): number => at * 1_000 + ++inserted
