/** What happened to a user's positions, by marker: what came after the last one he saw, or how things stand now. */
import type { Kysely, Selectable } from 'kysely'
import type { UserId } from '../actors/kernel/ids.ts'
import { type Price, price } from '../actors/kernel/micros.ts'
import { type Instant, instant } from '../actors/kernel/world.ts'
import type { Position } from '../actors/position/position.ts'
import { type HeldPosition, positionFrom } from './positions.ts'
import type { AccountLogView, Database, PositionsTable } from './schema.ts'

export interface AccountEvent {
  /** Counts the user's events from 1, without gaps, in the order in which they were committed. */
  readonly marker: number
  readonly kind: AccountLogView['kind']
  readonly at: Instant
  /** The position as the event left it. */
  readonly position: Position
  /** The last committed price of its instrument. */
  readonly currentPrice: Price
}

export type AccountChanges =
  /** Everything after the marker that was asked about, up to `marker`; `more` when that is not all. */
  | {
      readonly kind: 'events'
      readonly marker: number
      readonly events: readonly AccountEvent[]
      readonly more: boolean
    }
  /** The marker cannot be gone on from: the open positions as they stand at `marker`. */
  | { readonly kind: 'snapshot'; readonly marker: number; readonly positions: readonly HeldPosition[] }

export class AccountLog {
  readonly #db: Kysely<Database>

  constructor(db: Kysely<Database>) {
    this.#db = db
  }

  /**
   * What happened after `since`, at most `limit` events, oldest first. A null marker, one that lies in the future, or one
   * whose successors are not kept any more gets a snapshot. Null when the user has no wallet.
   */
  async changes(user: UserId, since: number | null, limit: number): Promise<AccountChanges | null> {
    // One snapshot for all reads: marker, events and positions are of the same moment.
    return this.#db
      .transaction()
      .setIsolationLevel('repeatable read')
      .execute(async (tx) => {
        const wallet = await tx.selectFrom('wallets').select('events').where('user_id', '=', user).executeTakeFirst()
        if (wallet === undefined) return null
        if (since !== null && since >= 0 && since <= wallet.events) {
          const events = await eventsAfter(tx, user, since, limit)
          // None is missing: old ones are not kept for ever.
          const isWhole = events.length > 0 ? events.at(-1)?.marker === since + events.length : since === wallet.events
          const marker = events.at(-1)?.marker ?? since
          if (isWhole) return { kind: 'events', marker, events, more: marker < wallet.events }
        }
        return { kind: 'snapshot', marker: wallet.events, positions: await openPositions(tx, user) }
      })
  }
}

async function eventsAfter(db: Kysely<Database>, user: UserId, since: number, limit: number): Promise<AccountEvent[]> {
  const rows = await db
    .selectFrom('account_log as e')
    .innerJoin('positions', 'positions.id', 'e.position_id')
    .innerJoin('instruments', 'instruments.id', 'positions.instrument_id')
    .selectAll('positions')
    .select(['e.marker', 'e.kind', 'e.at', 'e.stop_loss_micros as stop', 'e.take_profit_micros as take'])
    .select(['e.warned as warned_then', 'instruments.price_micros'])
    .where('e.user_id', '=', user)
    .where('e.marker', '>', since)
    .orderBy('e.marker')
    .limit(limit)
    .execute()
  return rows.map((row) => ({
    marker: row.marker,
    kind: row.kind,
    at: instant(row.at.getTime()),
    position: asOf(row.kind, {
      ...row,
      stop_loss_micros: row.stop,
      take_profit_micros: row.take,
      warned: row.warned_then,
    }),
    currentPrice: price(row.price_micros),
  }))
}

/** A position's row is as it is now; before its close it was open, whatever has become of it. */
function asOf(kind: AccountEvent['kind'], row: Selectable<PositionsTable>): Position {
  const position = positionFrom(row)
  return kind === 'closed' ? position : { ...position, close: null }
}

async function openPositions(db: Kysely<Database>, user: UserId): Promise<HeldPosition[]> {
  const rows = await db
    .selectFrom('positions')
    .innerJoin('instruments', 'instruments.id', 'positions.instrument_id')
    .selectAll('positions')
    .select('instruments.price_micros')
    .where('positions.user_id', '=', user)
    .where('positions.closed_at', 'is', null)
    .orderBy('positions.id')
    .execute()
  return rows.map((row) => ({ position: positionFrom(row), currentPrice: price(row.price_micros) }))
}
