/** Recent trades in a player, anonymised. */
import { type Kysely, type RawBuilder, type Selectable, sql } from 'kysely'
import type { InstrumentId } from '../actors/kernel/ids.ts'
import { type Lots, lots, type Price, price } from '../actors/kernel/micros.ts'
import { integer, listOf, oneOf, type Reader } from '../actors/kernel/read.ts'
import { type Instant, instant, SECOND_MS } from '../actors/kernel/world.ts'
import { isCommon } from '../actors/kernel/purse.ts'
import type { MatchEvent } from '../actors/match/messages.ts'
import { type ClosedBy, type Direction, signOf } from '../actors/position/position.ts'
import type { Database } from './postgres/schema.ts'
import type { RecentTradesTable } from './postgres/schema/matches.ts'

/** One opening or close of a position. */
export interface RecentTrade {
  readonly at: Instant
  /** The direction of the position: closing a long one is a `long` trade with action `close`. */
  readonly direction: Direction
  readonly lots: Lots
  readonly price: Price
  readonly action: 'open' | 'close'
  readonly key: TradeKey
}

/**
 * The place of a trade among them: the second after its batch, the running total of lots with it, and which of the
 * batch's trades it is. It tells the time no better than they do.
 */
export type TradeKey = readonly [secondAfter: number, traded: number, n: number]

/** What one batch traded in one player. */
interface TradeEntry {
  readonly instrumentId: InstrumentId
  /** All lots traded. */
  readonly lots: Lots
  /** The newest trades as JSON, oldest first. */
  readonly trades: string
}

/** Trades that a batch keeps per player: no more than a request can ask for. */
const STRIP_MAX = 100

/** A stored trade: sign of the position, lots and price in micros, 1 for an opening. */
type Kept = readonly [sign: 1 | -1, lots: number, price: number, opened: 0 | 1]

/** A close at the end of a match, or because it is void, is not a trade. Nor is anything in a league. */
const NO_TRADE: ReadonlySet<ClosedBy> = new Set(['full_time', 'void'])

/** What these events traded: one entry per player. */
export function tradeEntriesOf(events: readonly MatchEvent[]): readonly TradeEntry[] {
  const traded = new Map<InstrumentId, Kept[]>()
  for (const event of events) {
    const kept = keptOf(event)
    if (kept === null) continue
    const [id, trade] = kept
    const entry = traded.get(id)
    if (entry === undefined) traded.set(id, [trade])
    else entry.push(trade)
  }
  return [...traded].map(([instrumentId, trades]) => ({
    instrumentId,
    lots: lots(trades.reduce((sum, [, size]) => sum + size, 0)),
    trades: JSON.stringify(trades.slice(-STRIP_MAX)),
  }))
}

function keptOf(event: MatchEvent): readonly [InstrumentId, Kept] | null {
  if ('position' in event && !isCommon(event.position.purse)) return null
  if (event.kind === 'position_opened') {
    const { instrumentId, direction, lots: size, openPrice } = event.position
    return [instrumentId, [signOf(direction), size, openPrice, 1]]
  }
  if (event.kind !== 'position_closed' || NO_TRADE.has(event.position.close.by)) return null
  const { instrumentId, direction, lots: size, close } = event.position
  return [instrumentId, [signOf(direction), size, close.price, 0]]
}

/** Lots traded in a player since a moment, as a part of a query: the running total now, less that before. */
export function volumeSince(instrument: RawBuilder<unknown>, since: RawBuilder<unknown>): RawBuilder<number> {
  const counted = (condition: RawBuilder<unknown>) => sql`
    coalesce((select t.traded_micros from recent_trades t where t.instrument_id = ${instrument} and ${condition}
               order by t.at desc, t.traded_micros desc limit 1), 0)`
  return sql<number>`greatest(0, ${counted(sql`true`)} - ${counted(sql`t.at < ${since}`)})`
}

export class RecentTrades {
  readonly #db: Kysely<Database>

  constructor(db: Kysely<Database>) {
    this.#db = db
  }

  /** The latest trades in a player, newest first; those after a trade, if one is given. */
  async recent(id: InstrumentId, limit: number, after?: TradeKey): Promise<readonly RecentTrade[]> {
    const [second = 0, traded = 0, n = 0] = after ?? []
    const entries = await this.#db
      .selectFrom('recent_trades')
      .select(['at', 'trades', 'traded_micros'])
      .where('instrument_id', '=', id)
      .$if(after !== undefined, (trades) =>
        trades.where('at', '<=', new Date(second * SECOND_MS)).where('traded_micros', '<=', traded),
      )
      .orderBy('at', 'desc')
      .orderBy('traded_micros', 'desc')
      // Each holds at least one trade, and the first may hold only such as were read before.
      .limit(limit + 1)
      .execute()
    const isRead = ({ key }: RecentTrade): boolean => key[1] === traded && key[2] <= n
    const trades = entries.flatMap(tradesFrom)
    return (after === undefined ? trades : trades.filter((trade) => !isRead(trade))).slice(0, limit)
  }
}

const readTrade: Reader<Kept> = (value, path) => {
  const [sign, size, at, opened] = listOf(integer)(value, path)
  return [
    oneOf([1, -1])(sign, `${path}: sign`),
    integer(size, `${path}: lots`),
    integer(at, `${path}: price`),
    oneOf([0, 1])(opened, `${path}: opened`),
  ]
}
const readTrades = listOf(readTrade)

type Row = Pick<Selectable<RecentTradesTable>, 'at' | 'trades' | 'traded_micros'>

function tradesFrom(entry: Row): RecentTrade[] {
  const kept = readTrades(JSON.parse(entry.trades), 'recent trades')
  return kept.toReversed().map(([sign, size, at, opened], n) => ({
    key: [Math.ceil(entry.at.getTime() / SECOND_MS) + 1, entry.traded_micros, n],
    at: instant(entry.at.getTime()),
    direction: sign === 1 ? 'long' : 'short',
    lots: lots(size),
    price: price(at),
    action: opened === 1 ? 'open' : 'close',
  }))
}
