/**
 * Positions that an operator voids. An open one is closed by its match; one that is closed is rebooked here, in one
 * transaction, however long ago its match has ended.
 */
import { type Insertable, type Kysely, sql, type Transaction } from 'kysely'
import { present } from '../../../actors/kernel/assert.ts'
import { type FixtureId, fixtureId, type PositionId, type UserId } from '../../../actors/kernel/ids.ts'
import { decimal, MICROS_MAX, type Money, money } from '../../../actors/kernel/micros.ts'
import { DAY_MS, type Instant, instant, type World } from '../../../actors/kernel/world.ts'
import type { CommittedEvent } from '../../../actors/community/committed-event.ts'
import { aboutPosition } from '../../../actors/match/committed-events.ts'
import { baseMoveOf, type ClosedPosition } from '../../../actors/position/position.ts'
import { adopted } from '../../../db/adoption.ts'
import { AuditLog, type ControlAction } from '../../../db/audit-log.ts'
import { POSITION_COLUMNS, positionFrom, type PositionRow } from '../../../db/positions.ts'
import { uuids } from '../../../db/postgres/arrays.ts'
import type { Database } from '../../../db/postgres/schema.ts'
import type { PositionVoidsTable } from '../../../db/postgres/schema/positions.ts'
import type { WalletCache } from '../../../db/wallet-cache.ts'

/** Longer than a match takes to answer. A request whose note is older, and whose position is not void, has failed. */
const UNDER_WAY_MS = 30_000

export interface VoidRequest {
  readonly positionId: PositionId
  /** Derived from the idempotency key; null without one. */
  readonly commandId: string | null
  readonly by: UserId
  /** In plain words, for the owner. */
  readonly reason: string
}

/** What a void has done. */
export interface VoidDone {
  /** What the position had realised; null if it was open. */
  readonly pnl: Money | null
  /** What of that the owner's wallet could not give back. The house bears it. */
  readonly shortfall: Money
  readonly reason: string
}

/** The state of a position that an operator wants to void. */
export type VoidStart =
  | { readonly kind: 'unknown' }
  /** It is void already, and not by a request under this key. */
  | { readonly kind: 'void' }
  /** The key belongs to the void of another position. */
  | { readonly kind: 'key_reused' }
  /** It is a part, and the rest is open: its last close still counts all parts. */
  | { readonly kind: 'rest_open' }
  /** Another request is voiding it now. */
  | { readonly kind: 'under_way' }
  /** By an earlier request under the same key. */
  | { readonly kind: 'done'; readonly userId: UserId; readonly done: VoidDone }
  | { readonly kind: 'open' | 'closed'; readonly matchId: FixtureId; readonly userId: UserId }

interface Found {
  readonly row: PositionRow
  readonly table: 'positions' | 'positions_archive'
}

export class PositionVoids {
  readonly #db: Kysely<Database>
  readonly #cache: WalletCache
  readonly #world: Pick<World, 'now' | 'newId'>
  readonly #audit: AuditLog

  constructor(db: Kysely<Database>, cache: WalletCache, world: Pick<World, 'now' | 'newId'>) {
    this.#db = db
    this.#cache = cache
    this.#world = world
    this.#audit = new AuditLog(db, world)
  }

  /** Notes the request with its reason, which the close of an open position then shows. */
  async begin({ positionId, commandId, by, reason }: VoidRequest): Promise<VoidStart> {
    if (commandId !== null) {
      const other = await this.#db
        .selectFrom('position_voids')
        .select('position_id')
        .where('command_id', '=', commandId)
        .where('position_id', '<>', positionId)
        .executeTakeFirst()
      if (other !== undefined) return { kind: 'key_reused' }
    }
    const row = (await this.#found(this.#db, positionId))?.row
    if (row === undefined) return { kind: 'unknown' }
    const { userId, fixtureId: matchId, close } = positionFrom(row)
    const noted = await this.#noted(positionId)
    if (close?.by === 'void') {
      const isOurs = close.voidReason === 'operator' && commandId !== null && noted?.command_id === commandId
      return isOurs ? { kind: 'done', userId, done: await this.done(positionId) } : { kind: 'void' }
    }
    if (row.part_of !== null && (await this.#isOpen(row.part_of))) return { kind: 'rest_open' }
    const at = new Date(this.#world.now())
    const note = { position_id: positionId, command_id: commandId, by_id: by, reason, at }
    const noting = await this.#note(note)
    if (noting !== 'ours') return { kind: noting }
    return { kind: close === null ? 'open' : 'closed', matchId, userId }
  }

  /** Only one of two concurrent requests keeps its note, so that its key and its reason are those of the void. */
  async #note(note: Insertable<PositionVoidsTable>): Promise<'ours' | 'under_way' | 'key_reused'> {
    const { position_id: id, ...noted } = note
    // Two constraints may find another request of this moment, so neither is named.
    await this.#db
      .insertInto('position_voids')
      .values(note)
      .onConflict((on) => on.doNothing())
      .execute()
    const { by_id: by, command_id: key } = note
    const over = new Date(this.#world.now() - UNDER_WAY_MS)
    try {
      // A failed request left its note: the position is not void, and the new reason replaces the old.
      const { numUpdatedRows } = await this.#db
        .updateTable('position_voids')
        .set(noted)
        .where('position_id', '=', id)
        .where(
          sql<boolean>`((by_id = ${by}::uuid and command_id is not distinct from ${key ?? null}::uuid) or at < ${over})`,
        )
        .executeTakeFirstOrThrow()
      if (numUpdatedRows > 0n) return 'ours'
    } catch (error) {
      if (error instanceof Error && 'constraint' in error && error.constraint === 'position_voids_command_id_key') {
        return 'key_reused'
      }
      throw error
    }
    return (await this.#noted(id as PositionId)) === undefined ? 'key_reused' : 'under_way'
  }

  /** What the void of a position has done. */
  async done(positionId: PositionId): Promise<VoidDone> {
    const row = present(await this.#noted(positionId), 'void')
    const pnl = row.pnl_micros === null ? null : money(row.pnl_micros)
    return { pnl, shortfall: money(row.shortfall_micros), reason: row.reason }
  }

  /**
   * Voids a closed position whose void has begun: what it has earned is taken back, what it has lost is given back, and
   * it counts nowhere. The owner's wallet never falls below zero: the house bears the rest. False when it is not
   * closed, or void already.
   */ // C4
  async rebook(positionId: PositionId): Promise<boolean> {
    const at = this.#world.now()
    const written = await this.#db.transaction().execute(async (tx) => {
      const before = (await this.#found(tx, positionId))?.row
      if (before === undefined || before.closed_at === null) return null
      // Commits of the match hold this row, so none is under way: the outbox is numbered by one writer at a time.
      await sql`select from match_leases where match_id = ${before.match_id}::bigint for update`.execute(tx)
      const found = await this.#found(tx, positionId, true)
      if (found === undefined || found.row.closed_by === null || found.row.closed_by === 'void') return null
      const { row, table } = found
      const { reason, by_id: by } = present(await this.#noted(positionId, tx), 'void')
      const position = positionFrom(row) as ClosedPosition
      const paid = await this.#pay(tx, position, at)
      // News no longer moves it, so what it leaves to its owner is free. No position in the archive may move.
      const final = table === 'positions' ? sql`, movable_until = null` : sql``
      await sql`
        update ${sql.table(table)}
           set pnl_micros = 0, closed_by = 'void', void_reason = 'operator', void_note = ${reason}${final}
         where id = ${positionId}::uuid and opened_at = ${row.opened_at}::timestamptz`.execute(tx)
      await this.#tell(tx, position, at)
      await tx
        .updateTable('position_voids')
        .set({ pnl_micros: position.close.pnl, shortfall_micros: paid.shortfall })
        .where('position_id', '=', positionId)
        .execute()
      const { userId, purse } = position
      const action: ControlAction = {
        actor: by as UserId,
        action: 'position.void',
        subject: positionId,
        before: { userId, realizedPnl: decimal(position.close.pnl) },
        after: { shortfall: decimal(paid.shortfall) },
        words: { field: 'reason', about: userId, words: reason },
      }
      await this.#audit.record(action, tx)
      return { ...paid, userId, purse }
    })
    if (written === null) return false
    const { userId, balance, version } = written
    if (written.purse === 'main') this.#cache.write([{ userId, balance, version }])
    return true
  }

  /** Among the current positions, or else the archived ones: the archive may be taking it in at this moment. */
  async #found(db: Kysely<Database>, id: PositionId, lock = false): Promise<Found | undefined> {
    for (const table of ['positions', 'positions_archive'] as const) {
      // Both have the columns that are read.
      const row = await db
        .selectFrom(`${table} as positions` as 'positions')
        .select(POSITION_COLUMNS)
        .where('id', '=', id)
        .orderBy('opened_at', 'desc')
        .limit(1)
        .$if(lock, (one) => one.forUpdate())
        .executeTakeFirst()
      if (row !== undefined) return { row, table }
    }
    return undefined
  }

  async #isOpen(id: string): Promise<boolean> {
    const { rows } = await sql`
      select from positions where id = ${id}::uuid and closed_at is null`.execute(this.#db)
    return rows.length > 0
  }

  async #noted(id: PositionId, db: Kysely<Database> = this.#db) {
    return db.selectFrom('position_voids').selectAll().where('position_id', '=', id).executeTakeFirst()
  }

  /** Books the void and returns the wallet after it. */
  async #pay(tx: Transaction<Database>, position: ClosedPosition, at: Instant) {
    const { id, userId, purse, close } = position
    const wallets = await tx
      .selectFrom('wallets')
      .select(['purse', 'balance_micros', 'version', 'events'])
      .where('user_id', '=', userId)
      .orderBy('purse')
      .forNoKeyUpdate()
      .execute()
    const wallet = present(
      wallets.find((one) => one.purse === purse),
      `wallet of ${userId}`,
    )
    const log = present(
      wallets.find((one) => one.purse === 'main'),
      `main wallet of ${userId}`,
    )
    const found =
      purse === 'main' ? await adopted(tx, { cache: this.#cache, world: this.#world, userId }, wallet) : null
    await found?.audit()
    const taken = found?.micros ?? 0
    const held = wallet.balance_micros + taken
    const shortfall = Math.max(0, close.pnl - held)
    const marker = log.events + 1
    const balance = money(Math.min(MICROS_MAX, held - close.pnl + shortfall))
    await sql`
      update wallets
         set balance_micros = ${balance}::bigint, version = version + 1,
             -- It no longer counts as a loss or win of the day on which it was closed.
             day_result_micros = day_result_micros
               + case when day = ${Math.floor(close.at / DAY_MS)}::integer then ${balance - held}::bigint else 0 end
       where user_id = ${userId}::uuid and purse = ${purse}`.execute(tx)
    await sql`update wallets set events = ${marker}::bigint where user_id = ${userId}::uuid and purse = 'main'`.execute(
      tx,
    )
    const book = (kind: 'void' | 'void_shortfall' | 'external_adjustment', amount: number, marked = false) => {
      const entry = { tx: this.#world.newId(), purse, kind, reference: id, at: new Date(at) }
      return [
        { ...entry, account: 'user' as const, user_id: userId, amount_micros: amount, marker: marked ? marker : null },
        { ...entry, account: 'house' as const, user_id: null, amount_micros: -amount, marker: null },
      ]
    }
    const paid = balance - held - shortfall
    const entries = [
      ...(taken === 0 ? [] : book('external_adjustment', taken)),
      ...book('void', paid, true),
      ...(shortfall === 0 ? [] : book('void_shortfall', shortfall)),
    ]
    await tx.insertInto('ledger_entries').values(entries).execute()
    return { balance, version: wallet.version + 1, shortfall: money(shortfall) }
  }

  /** Writes the event to which careers, boards, weeks and notifications react, also long after the match. */
  async #tell(tx: Transaction<Database>, position: ClosedPosition, at: Instant): Promise<void> {
    const { openedAt, close } = position
    const { others, closedAt } = await othersOf(tx, position)
    const event: CommittedEvent = {
      kind: 'voided',
      ...aboutPosition(position),
      openedAt,
      closedAt,
      by: close.by,
      ...(position.partOf === undefined ? {} : { partOf: position.partOf }),
      ...(others === null ? {} : { others }),
      before: { pnl: close.pnl, baseMove: baseMoveOf(position, close.base) },
    }
    const matchId = fixtureId(position.fixtureId)
    await sql`
      insert into outbox (match_id, seq, at, events)
        select ${matchId}::bigint, coalesce(max(seq), 0) + 1, ${new Date(at)}::timestamptz, ${JSON.stringify([event])}::json
          from outbox where match_id = ${matchId}::bigint`.execute(tx)
    await sql`
      insert into outbox_cursors (match_id) values (${matchId}::bigint)
        on conflict (match_id) do update set finished = false`.execute(tx)
  }
}

/**
 * Erases why positions of a user were voided: an operator may have named them. The audit log knows those whose entries
 * are of a detached month.
 */ // Y3
export async function eraseVoidReasons(tx: Transaction<Database>, user: UserId): Promise<void> {
  const { rows } = await sql<{ id: string }>`
    update position_voids v set reason = ''
     where v.position_id in (select l.reference from ledger_entries l
                              where l.user_id = ${user}::uuid and l.kind in ('release', 'void'))
        or exists (select from audit_log a
                    where a.subject = v.position_id::text and a.action = 'position.void'
                      and a.before ->> 'userId' = ${user}::text)
    returning v.position_id as id`.execute(tx)
  for (const table of ['positions', 'positions_archive'] as const) {
    await sql`
      update ${sql.table(table)} set void_note = null
       where id = any(${uuids(rows.map(({ id }) => id))}::uuid[]) and user_id = ${user}::uuid and void_note is not null`.execute(
      tx,
    )
  }
}

/** Of a position that has been voided: what its other parts have realised, and when the last of all closed. */
async function othersOf(
  tx: Transaction<Database>,
  { id, partOf = id, fixtureId: match, close }: ClosedPosition,
): Promise<{ readonly others: Money | null; readonly closedAt: Instant }> {
  const { rows } = await sql<{ others: number | null; closed_at: Date | null }>`
    select sum(pnl_micros) filter (where closed_by <> 'void')::bigint as others,
           max(closed_at) filter (where part_of is null) as closed_at
      from (select * from all_positions where id = ${partOf}::uuid and match_id = ${match}::bigint
             union all
            select * from all_positions where match_id = ${match}::bigint and part_of = ${partOf}::uuid) p`.execute(tx)
  const [row] = rows
  return {
    others: row === undefined || row.others === null ? null : money(row.others),
    closedAt: row === undefined || row.closed_at === null ? close.at : instant(row.closed_at.getTime()),
  }
}
