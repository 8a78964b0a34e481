/** The stored results of keyed commands: what a retry is answered with. Only a match's commit writes them. */
import type { Kysely, Selectable } from 'kysely'
import { present } from '../actors/kernel/assert.ts'
import type { UserId } from '../actors/kernel/ids.ts'
import { money } from '../actors/kernel/micros.ts'
import type { Refusal } from '../actors/kernel/outcome.ts'
import type { Quote } from '../actors/market/instrument.ts'
import type { IdempotencyKey, KeyedResult, WalletAfter } from '../actors/match/messages.ts'
import type { StoredResult } from '../actors/match/store.ts'
import { positionAsClosed, positionAsOpened } from './positions.ts'
import type { Database, PositionsTable } from './schema.ts'

/** As the column `result` has it. A position's own row knows the rest: writing it twice would cost a sixth of a trade. */
type Kept =
  | { readonly refusal: Refusal }
  | { readonly opened: string; readonly quote: Quote }
  | { readonly closed: string; readonly quote: Quote }

/** What the commit returns or the table holds of one result. */
export interface StoredRow {
  readonly fingerprint: string
  readonly result: string
  readonly balance: number
  readonly margin: number
  readonly unrealized: number
}

/** What has to be stored of a result; `restoreResults` makes it whole again. */
export function keptOf(result: KeyedResult): Kept {
  if ('refusal' in result) return result
  const { position, quote } = result
  return position.close === null ? { opened: position.id, quote } : { closed: position.id, quote }
}

/** The result of a key, or null when it was not used. */
export async function findResult(
  db: Kysely<Database>,
  user: UserId,
  { route, key }: IdempotencyKey,
): Promise<StoredResult | null> {
  const row = await db
    .selectFrom('command_results')
    .select(['fingerprint', 'result', 'balance_micros as balance', 'margin_micros as margin'])
    .select('unrealized_micros as unrealized')
    .where('user_id', '=', user)
    .where('route', '=', route)
    .where('key', '=', key)
    .executeTakeFirst()
  if (row === undefined) return null
  const [result] = await restoreResults(db, [row])
  return present(result, 'restored result')
}

/** Stored results as they were given, in the order of the rows. A position is shown as the command left it. */
export async function restoreResults(db: Kysely<Database>, rows: readonly StoredRow[]): Promise<StoredResult[]> {
  const kept = rows.map((row) => JSON.parse(row.result) as Kept)
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
  return { position: 'opened' in kept ? positionAsOpened(row) : positionAsClosed(row), quote: kept.quote }
}

const walletAfter = (row: Pick<StoredRow, 'balance' | 'margin' | 'unrealized'>): WalletAfter => ({
  balance: money(row.balance),
  marginUsed: money(row.margin),
  unrealizedPnl: money(row.unrealized),
})
