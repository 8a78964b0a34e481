/** The stored answers of keyed commands, which are repeated to retries. Only a match's commit writes them. */
import type { Kysely, Selectable } from 'kysely'
import { present } from '../actors/kernel/assert.ts'
import type { UserId } from '../actors/kernel/ids.ts'
import { money, type Price, price } from '../actors/kernel/micros.ts'
import type { Refusal } from '../actors/kernel/outcome.ts'
import { as, fieldsOf, integer, nullable, type Reader, text } from '../actors/kernel/read.ts'
import { readRefusal } from '../actors/kernel/read-refusal.ts'
import type { IdempotencyKey, KeyedResult, WalletAfter } from '../actors/match/messages.ts'
import type { StoredResult } from '../actors/match/store.ts'
import { positionAsClosed, positionAsOpened } from './positions.ts'
import type { Database } from './postgres/schema.ts'
import type { PositionsTable } from './postgres/schema/positions.ts'

/**
 * The column `result`. The rest is in the position's row: writing it twice would cost a sixth of a trade. An opening
 * has a row of its own only if its position does not have the id of its command.
 */
type Kept =
  | { readonly refusal: Refusal }
  | { readonly opened: string; readonly price: Price; readonly exit: Price }
  | { readonly closed: string; readonly price: Price }

const readKept: Reader<Kept> = (value, path) => {
  const field = fieldsOf(value, path)
  const refusal = field('refusal', nullable(readRefusal))
  if (refusal !== null) return { refusal }
  const [opened, answered] = [field('opened', nullable(text)), field('price', as(integer, price))]
  if (opened === null) return { closed: field('closed', text), price: answered }
  return { opened, price: answered, exit: field('exit', as(integer, price)) }
}

/** One stored answer, as the commit returns it or a table holds it. */
export interface StoredRow {
  readonly fingerprint: string
  readonly result: string
  readonly balance: number
  readonly margin: number
  readonly unrealized: number
  readonly locked: number
}

/**
 * The part of a result that must be stored, from which `restoreResults` restores it; null when the position's row has
 * everything.
 */
export function keptOf(result: KeyedResult): Kept | null {
  if ('refusal' in result) return result
  return result.position.close === null ? null : { closed: result.position.id, price: result.price }
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
  if (opened !== undefined) return openingResult(opened)
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

function openingResult(row: Selectable<PositionsTable>): StoredResult {
  return {
    fingerprint: present(row.answer_fingerprint, 'fingerprint of a keyed opening'),
    result: {
      position: positionAsOpened(row),
      price: price(present(row.answer_price_micros, 'price of a keyed opening')),
      exitPrice: price(present(row.answer_exit_micros, 'exit price of a keyed opening')),
    },
    wallet: walletAfter({
      balance: present(row.answer_balance_micros, 'balance of a keyed opening'),
      margin: present(row.answer_margin_micros, 'margin of a keyed opening'),
      unrealized: present(row.answer_unrealized_micros, 'unrealised PnL of a keyed opening'),
      locked: row.answer_locked_micros ?? 0,
    }),
  }
}

/** Stored answers as they were given, in the order of the rows. Positions are shown as the command left them. */
export async function restoreResults(db: Kysely<Database>, rows: readonly StoredRow[]): Promise<StoredResult[]> {
  const kept = rows.map((row) => readKept(JSON.parse(row.result), 'the stored result of a command'))
  const ids = kept.flatMap((one) => ('refusal' in one ? [] : [positionOf(one)]))
  const positions =
    ids.length === 0 ? [] : await db.selectFrom('positions').selectAll().where('id', 'in', ids).execute()
  const positionById = new Map(positions.map((position) => [position.id, position]))
  return rows.map((row, n) => ({
    fingerprint: row.fingerprint,
    result: restored(present(kept[n], 'stored result'), positionById),
    wallet: walletAfter(row),
  }))
}

const positionOf = (kept: Exclude<Kept, { refusal: Refusal }>): string => ('opened' in kept ? kept.opened : kept.closed)

function restored(kept: Kept, positions: ReadonlyMap<string, Selectable<PositionsTable>>): KeyedResult {
  if ('refusal' in kept) return kept
  const row = present(positions.get(positionOf(kept)), 'position of a stored result')
  if ('opened' in kept) return { position: positionAsOpened(row), price: kept.price, exitPrice: kept.exit }
  const position = positionAsClosed(row)
  return { position, price: kept.price, exitPrice: present(position.close, 'close of a stored result').price }
}

const walletAfter = (row: Pick<StoredRow, 'balance' | 'margin' | 'unrealized' | 'locked'>): WalletAfter => ({
  balance: money(row.balance),
  locked: money(row.locked),
  marginUsed: money(row.margin),
  unrealizedPnl: money(row.unrealized),
})
