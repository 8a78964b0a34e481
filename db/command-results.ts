/** The stored answers of keyed commands, which are repeated to retries. Only a match's commit writes them. */
import type { Kysely, Selectable } from 'kysely'
import { present } from '../actors/kernel/assert.ts'
import { fixtureId, type PositionId, positionId, type UserId } from '../actors/kernel/ids.ts'
import { type Lots, lots, type Money, money, type Price, price } from '../actors/kernel/micros.ts'
import type { Refusal } from '../actors/kernel/outcome.ts'
import { as, fieldsOf, integer, nullable, oneOf, type Reader, text } from '../actors/kernel/read.ts'
import { readRefusal } from '../actors/kernel/read-refusal.ts'
import type { IdempotencyKey, KeyedResult, WalletAfter } from '../actors/match/messages.ts'
import type { StoredResult } from '../actors/match/store.ts'
import { afterMoves } from '../actors/position/moved.ts'
import { type ClosedPosition, type Parted, type Position, realisedPnl } from '../actors/position/position.ts'
import { partedOf, withoutParts } from './parts.ts'
import { positionAsClosed, positionAsOpened, positionFrom } from './positions.ts'
import type { Database } from './postgres/schema.ts'
import type { PositionsTable } from './postgres/schema/positions.ts'

/**
 * The column `result`. The rest is in the position's row: writing it twice would cost a sixth of a trade. An opening
 * has a row of its own only if its position does not have the id of its command.
 */
type Kept =
  | { readonly refusal: Refusal }
  | { readonly opened: string; readonly price: Price; readonly exit: Price }
  | { readonly closed: string; readonly price: Price; readonly rest?: KeptRest }

/** What was left of a position of which a part was closed. Later trades change its row. */
interface KeptRest {
  readonly lots: Lots
  readonly margin: Money
  readonly stop: Price | null
  readonly take: Price | null
  readonly warned: Position['warned']
  readonly exit: Price
}

const readRest: Reader<KeptRest> = (value, path) => {
  const field = fieldsOf(value, path)
  return {
    lots: field('lots', as(integer, lots)),
    margin: field('margin', as(integer, money)),
    stop: field('stop', nullable(as(integer, price))),
    take: field('take', nullable(as(integer, price))),
    warned: field('warned', oneOf([0, 50, 80])),
    exit: field('exit', as(integer, price)),
  }
}

const readKept: Reader<Kept> = (value, path) => {
  const field = fieldsOf(value, path)
  const refusal = field('refusal', nullable(readRefusal))
  if (refusal !== null) return { refusal }
  const [opened, answered] = [field('opened', nullable(text)), field('price', as(integer, price))]
  const rest = field('rest', nullable(readRest))
  if (opened === null) return { closed: field('closed', text), price: answered, ...(rest === null ? {} : { rest }) }
  return { opened, price: answered, exit: field('exit', as(integer, price)) }
}

type Parts = ReadonlyMap<PositionId, Parted>

/** One stored answer, as the commit returns it or a table holds it. */
export interface StoredRow {
  readonly fingerprint: string
  readonly result: string
  readonly balance: number
  readonly margin: number
  readonly unrealized: number
  readonly locked?: number | null
}

/**
 * The part of a result that must be stored, from which `restoreResults` restores it; null when the position's row has
 * everything.
 */
export function keptOf(result: KeyedResult): Kept | null {
  if ('refusal' in result) return result
  const { position, price: after, rest } = result
  if (position.close === null) return null
  if (rest === undefined) return { closed: position.id, price: after }
  const { lots: size, margin, stopLoss: stop, takeProfit: take, warned } = rest.position
  return { closed: position.id, price: after, rest: { lots: size, margin, stop, take, warned, exit: rest.exitPrice } }
}

/** The stored answer of a key; null when the key is unused. */
export async function findResult(
  db: Kysely<Database>,
  user: UserId,
  { id }: IdempotencyKey,
): Promise<StoredResult | null> {
  const opened = await db
    .selectFrom('positions')
    .selectAll()
    .where('id', '=', id)
    .where('user_id', '=', user)
    .executeTakeFirst()
  if (opened !== undefined) return openingResult(opened, await partsOf(db, [opened]))
  const row = await db
    .selectFrom('command_results')
    .select(['fingerprint', 'result', 'balance_micros as balance', 'margin_micros as margin'])
    .select(['unrealized_micros as unrealized', 'locked_micros as locked'])
    .where('id', '=', id)
    .where('user_id', '=', user)
    .executeTakeFirst()
  if (row === undefined) return null
  const [result] = await restoreResults(db, [row])
  return present(result, 'restored result')
}

/** What these have closed in parts since. They belong to one user, or to one match. */
async function partsOf(db: Kysely<Database>, rows: readonly Selectable<PositionsTable>[]): Promise<Parts> {
  const matches = Map.groupBy(rows, (row) => fixtureId(row.match_id))
  const parts = await Promise.all(
    Array.from(matches, ([match, of]) =>
      partedOf(
        db,
        match,
        of.map(({ id }) => positionId(id)),
      ),
    ),
  )
  return new Map(parts.flatMap((some) => [...some]))
}

const asOpened = (row: Selectable<PositionsTable>, parts: Parts): Position =>
  withoutParts(positionAsOpened(row), parts.get(positionId(row.id)))

function openingResult(row: Selectable<PositionsTable>, parts: Parts): StoredResult {
  return {
    fingerprint: present(row.answer_fingerprint, 'fingerprint of a keyed opening'),
    result: {
      position: asOpened(row, parts),
      price: price(present(row.answer_price_micros, 'price of a keyed opening')),
      exitPrice: price(present(row.answer_exit_micros, 'exit price of a keyed opening')),
    },
    wallet: walletAfter({
      balance: present(row.answer_balance_micros, 'balance of a keyed opening'),
      margin: present(row.answer_margin_micros, 'margin of a keyed opening'),
      unrealized: present(row.answer_unrealized_micros, 'unrealised PnL of a keyed opening'),
      locked: row.answer_locked_micros,
    }),
  }
}

/** Stored answers as they were given, in the order of the rows. Positions are shown as the command left them. */
export async function restoreResults(db: Kysely<Database>, rows: readonly StoredRow[]): Promise<StoredResult[]> {
  const kept = rows.map((row) => readKept(JSON.parse(row.result), 'the stored result of a command'))
  const ids = kept.flatMap((one) => ('refusal' in one ? [] : [positionOf(one)]))
  const positions =
    ids.length === 0 ? [] : await db.selectFrom('positions').selectAll().where('id', 'in', ids).execute()
  const wholes = positions.flatMap(({ part_of: whole }) => (whole === null ? [] : [whole]))
  if (wholes.length > 0) {
    positions.push(...(await db.selectFrom('positions').selectAll().where('id', 'in', wholes).execute()))
  }
  const positionById = new Map(positions.map((position) => [position.id, position]))
  const opened = kept.flatMap((one) => ('opened' in one ? (positionById.get(one.opened) ?? []) : []))
  const parts = opened.length === 0 ? new Map() : await partsOf(db, opened)
  return rows.map((row, n) => ({
    fingerprint: row.fingerprint,
    result: restored(present(kept[n], 'stored result'), positionById, parts),
    wallet: walletAfter(row),
  }))
}

const positionOf = (kept: Exclude<Kept, { refusal: Refusal }>): string => ('opened' in kept ? kept.opened : kept.closed)

function restored(kept: Kept, positions: ReadonlyMap<string, Selectable<PositionsTable>>, parts: Parts): KeyedResult {
  if ('refusal' in kept) return kept
  const row = present(positions.get(positionOf(kept)), 'position of a stored result')
  if ('opened' in kept) return { position: asOpened(row, parts), price: kept.price, exitPrice: kept.exit }
  const position = asClosedByOwner(row)
  const { close } = position
  const closed = { position, price: kept.price, exitPrice: close.price }
  if (kept.rest === undefined) return closed
  const { lots: size, margin, stop, take, warned, exit } = kept.rest
  const now = positionFrom(present(positions.get(row.part_of ?? ''), 'rest of a stored result'))
  const whole = afterMoves(now, position.moved?.length ?? 0) // the part has those that came before it
  const levels = { stopLoss: stop, takeProfit: take, warned }
  return { ...closed, rest: { position: { ...whole, ...levels, lots: size, margin, close: null }, exitPrice: exit } }
}

/** The position as its owner's close left it; an operator may have voided it since. */
function asClosedByOwner(row: Selectable<PositionsTable>): ClosedPosition {
  const { close, ...position } = positionAsClosed(row)
  const { voidNote: _, ...left } = present(close, 'close of a stored result')
  return { ...position, close: { ...left, by: 'user', voidReason: null, pnl: realisedPnl(position, left.price) } }
}

const walletAfter = (row: Pick<StoredRow, 'balance' | 'margin' | 'unrealized' | 'locked'>): WalletAfter => ({
  balance: money(row.balance),
  ...(row.locked ? { locked: money(row.locked) } : {}),
  marginUsed: money(row.margin),
  unrealizedPnl: money(row.unrealized),
})
