/** A user's position events by marker: those after the last one the user has seen, or a snapshot. */
import { type Kysely, type Selectable, sql } from 'kysely'
import { present } from '../actors/kernel/assert.ts'
import { type UserId, userId } from '../actors/kernel/ids.ts'
import { lots, money, type Price, price } from '../actors/kernel/micros.ts'
import { type Instant, instant, type World } from '../actors/kernel/world.ts'
import type { Position } from '../actors/position/position.ts'
import { bigints, uuids } from './postgres/arrays.ts'
import { withoutParts } from './parts.ts'
import { ACCOUNT_EVENTS_MS } from './retention.ts'
import {
  exitPriceFrom,
  type HeldPosition,
  heldFrom,
  POSITION_COLUMNS,
  positionAsClosed,
  positionAsOpened,
  positionFrom,
  type PositionRow,
  PRICE_COLUMNS,
  type PriceRow,
} from './positions.ts'
import type { Database } from './postgres/schema.ts'
import type { AccountEventsTable, PositionsTable } from './postgres/schema/positions.ts'

export type AccountEventKind = 'opened' | 'closed' | 'corrected' | AccountEventsTable['kind']

export interface AccountEvent {
  /** Counts the user's events from 1, without gaps, in the order in which they were committed. */
  readonly marker: number
  readonly kind: AccountEventKind
  readonly at: Instant
  /** The position after the event. */
  readonly position: Position
  /** The last committed price of its instrument. */
  readonly currentPrice: Price
  /** What closing it alone would fill at then. */
  readonly exitPrice: Price
}

export type AccountChanges =
  /** The events after the requested marker, up to `marker`. `more` is true when there are later ones. */
  | {
      readonly kind: 'events'
      readonly marker: number
      readonly events: readonly AccountEvent[]
      readonly more: boolean
    }
  /** The requested marker cannot be continued from: the open positions as of `marker`. */
  | { readonly kind: 'snapshot'; readonly marker: number; readonly positions: readonly HeldPosition[] }

/** The last marker that the user has seen; null asks for a snapshot. */
export interface LogQuestion {
  readonly userId: UserId
  readonly since: number | null
}

export class AccountLog {
  readonly #db: Kysely<Database>
  readonly #world: Pick<World, 'now'>

  constructor(db: Kysely<Database>, world: Pick<World, 'now'>) {
    this.#db = db
    this.#world = world
  }

  /**
   * The events after `since`, at most `limit`, oldest first. A null marker, a future one, or one whose successors are
   * no longer kept gets a snapshot. Null when the user has no wallet.
   */
  async changes(user: UserId, since: number | null, limit: number): Promise<AccountChanges | null> {
    const [changes] = await this.changesOf([{ userId: user, since }], limit)
    return changes ?? null
  }

  /**
   * The same for many users, in the order of the questions: one query, and a second one if any of them needs a
   * snapshot.
   */
  async changesOf(questions: readonly LogQuestion[], limit: number): Promise<(AccountChanges | null)[]> {
    const logs = await this.#eventsAfter(questions, limit)
    const found = questions.map((question, n) => eventsIn(logs.get(n) ?? [], question.since))
    const missing = questions.filter((_, n) => found[n] === 'snapshot').map((question) => question.userId)
    const snapshots = missing.length === 0 ? null : await this.#snapshotsOf(missing)
    return found.map((changes, n) => {
      if (changes !== 'snapshot') return changes
      return snapshots?.get(present(questions[n], 'question').userId) ?? null
    })
  }

  /** Rows by the index of the question. One statement, and so one snapshot: the end of a log fits its content. */
  async #eventsAfter(
    questions: readonly LogQuestion[],
    limit: number,
  ): Promise<ReadonlyMap<number, readonly LogRow[]>> {
    const asked = sql<{ n: number; user_id: string; since: number | null }>`(
      select n, user_id, since
        from unnest(${uuids(questions.map((q) => q.userId))}::uuid[], ${bigints(questions.map((q) => q.since))}::bigint[])
             with ordinality u (user_id, since, n))`.as<'asked'>('asked')
    const rows: readonly LogRow[] = await this.#db
      .selectFrom(asked)
      .innerJoin('wallets', (on) => on.onRef('wallets.user_id', '=', 'asked.user_id').on('wallets.purse', '=', 'main'))
      .leftJoinLateral(
        () => nextEvents(limit, new Date(this.#world.now() - ACCOUNT_EVENTS_MS)),
        (on) => on.onTrue(),
      )
      .leftJoin('positions', 'positions.id', 'e.position_id')
      .leftJoin('instruments', 'instruments.id', 'positions.instrument_id')
      .select(POSITION_COLUMNS)
      .select(PRICE_COLUMNS)
      .select(['opened_stop_micros', 'opened_take_micros'])
      .select([closedLater('lots_micros').as('lots_later'), closedLater('margin_micros').as('margin_later')])
      .select(['asked.n', 'wallets.events as newest', 'e.marker', 'e.kind', 'e.at', 'e.position_id'])
      .select(['e.stop_loss_micros as stop', 'e.take_profit_micros as take', 'e.warned as warned_then'])
      .orderBy('asked.n')
      .orderBy('e.marker')
      .execute()
    return Map.groupBy(await this.#withArchived(rows), (row) => row.n - 1)
  }

  /** Adds the positions that are in the archive: an operator may void one after years. */
  async #withArchived(rows: readonly LogRow[]): Promise<readonly LogRow[]> {
    const away = rows.flatMap(({ id, position_id: of }) => (id === null && of !== null ? [of] : []))
    if (away.length === 0) return rows
    const found = await this.#db
      .selectFrom('all_positions as positions' as 'positions')
      .innerJoin('instruments', 'instruments.id', 'positions.instrument_id')
      .select(POSITION_COLUMNS)
      .select(PRICE_COLUMNS)
      .where('positions.id', 'in', away)
      .orderBy('positions.opened_at')
      .execute()
    const byId = new Map(found.map((row) => [row.id, row]))
    return rows.map((row) => (row.id === null ? { ...row, ...byId.get(row.position_id ?? '') } : row))
  }

  async #snapshotsOf(users: readonly UserId[]): Promise<ReadonlyMap<UserId, AccountChanges>> {
    const rows = await this.#db
      .selectFrom('wallets')
      .leftJoin('positions', (on) =>
        on.onRef('positions.user_id', '=', 'wallets.user_id').on('positions.closed_at', 'is', null),
      )
      .leftJoin('instruments', 'instruments.id', 'positions.instrument_id')
      .select(POSITION_COLUMNS)
      .select(PRICE_COLUMNS)
      .select(['wallets.user_id as owner', 'wallets.events as newest'])
      .where('wallets.purse', '=', 'main')
      .where('wallets.user_id', 'in', users)
      .orderBy('positions.opened_marker')
      .execute()
    const byOwner = Map.groupBy(rows, (row) => userId(row.owner))
    return new Map(
      [...byOwner].map(([owner, held]) => {
        const positions = held.flatMap((row) => (isHeld(row) ? [heldFrom(row)] : []))
        return [owner, { kind: 'snapshot', marker: present(held[0], 'wallet').newest, positions }]
      }),
    )
  }
}

/**
 * The next events of `asked`: from the ledger, which has openings and closes, and from the events that move no money.
 * Each part is read in the order of its index, so catching up with thousands of events costs one page at a time. Older
 * events are not read: the ledger has them, but those of the other kind are no longer kept, nor is every position.
 */
const nextEvents = (limit: number, from: Date) =>
  sql<NextEvent>`(
    (select l.marker, case when l.kind = 'margin' then 'opened' when l.kind in ('moved', 'void') then 'corrected' else 'closed' end as kind, l.reference as position_id, l.at,
            null::bigint as stop_loss_micros, null::bigint as take_profit_micros, null::smallint as warned
       from ledger_entries l
      where asked.since < wallets.events and l.user_id = asked.user_id and l.marker > asked.since
        and l.at >= ${from}::timestamptz
      order by l.marker limit ${limit})
    union all
    (select a.marker, a.kind, a.position_id, a.at, a.stop_loss_micros, a.take_profit_micros, a.warned
       from account_events a
      where asked.since < wallets.events and a.user_id = asked.user_id and a.marker > asked.since
      order by a.marker limit ${limit})
    order by marker limit ${limit}
  )`.as<'e'>('e')

/** What is closed of an event's position in parts that were split off after it. */
const closedLater = (column: 'lots_micros' | 'margin_micros') =>
  sql<number>`(select coalesce(sum(t.${sql.ref(column)}), 0)::bigint from positions t
                where t.match_id = positions.match_id and t.part_of = positions.id and t.opened_marker > e.marker)`

interface NextEvent {
  readonly marker: number
  readonly kind: AccountEventKind
  readonly position_id: string
  readonly at: Date
  /** Levels and warning after the event; null where the position's row has them. */
  readonly stop_loss_micros: number | null
  readonly take_profit_micros: number | null
  readonly warned: PositionRow['warned'] | null
}

type Nullable<T> = { [Key in keyof T]: T[Key] | null }

/** A wallet with one of its events, if it has any. */
interface LogRow extends Nullable<
  PositionRow & PriceRow & Pick<Selectable<PositionsTable>, 'opened_stop_micros' | 'opened_take_micros'>
> {
  readonly n: number
  readonly newest: number
  readonly marker: number | null
  readonly position_id: string | null
  readonly kind: AccountEvent['kind'] | null
  readonly at: Date | null
  readonly stop: number | null
  readonly take: number | null
  readonly warned_then: PositionRow['warned'] | null
  readonly lots_later: number
  readonly margin_later: number
}

type Held = PositionRow & PriceRow

/** Whether a left join found a position. */
const isHeld = <Row extends { readonly id: string | null }>(row: Row): row is Row & Held => row.id !== null

/**
 * The answer from the rows of one question: null for an unknown user, a snapshot where they do not continue from
 * `since`.
 */
function eventsIn(rows: readonly LogRow[], since: number | null): AccountChanges | 'snapshot' | null {
  const [first] = rows
  if (first === undefined) return null
  const { newest } = first
  if (since === null || since < 0 || since > newest) return 'snapshot'
  const events = rows.flatMap((row) => eventFrom(row) ?? [])
  const marker = events.at(-1)?.marker ?? since
  // None may be missing; old ones are not kept for ever, nor are months that were detached.
  if (marker !== since + events.length || (events.length === 0 && since < newest)) return 'snapshot'
  return { kind: 'events', marker, events, more: marker < newest }
}

function eventFrom(row: LogRow): AccountEvent | null {
  const { marker, kind, at } = row
  if (marker === null || kind === null || at === null || !isHeld(row)) return null
  const later = { lots: lots(row.lots_later), margin: money(row.margin_later) }
  const position = withoutParts(asOf(kind, row), later)
  const [currentPrice, exitPrice] = [price(row.price_micros), exitPriceFrom(row, position)]
  return { marker, kind, at: instant(at.getTime()), position, currentPrice, exitPrice }
}

/** A position's row shows its present state. Before its close the position was open. */
function asOf(kind: AccountEventKind, row: LogRow & Held): Position {
  if (kind === 'corrected') return positionFrom(row)
  if (kind === 'closed') return positionAsClosed(row)
  if (kind === 'opened') return positionAsOpened(row)
  const then = { stop_loss_micros: row.stop, take_profit_micros: row.take, warned: row.warned_then ?? 0 }
  return { ...positionFrom({ ...row, ...then }), close: null }
}
