/** MatchStore on PostgreSQL: loads a match, and commits a batch of it in one statement. */
import { type Kysely, type RawBuilder, sql } from 'kysely'
import { present } from '../actors/kernel/assert.ts'
import {
  type FixtureId,
  type InstrumentId,
  instrumentId,
  playerId,
  type PositionId,
  type UserId,
  userId,
} from '../actors/kernel/ids.ts'
import { lots, money, price, slope } from '../actors/kernel/micros.ts'
import { type Instant, instant } from '../actors/kernel/world.ts'
import type { Instrument } from '../actors/market/instrument.ts'
import type { PricingMemory } from '../actors/market/pricing.ts'
import type { IdempotencyKey, KeyedResult, MatchEvent, MatchInfo, WalletAfter } from '../actors/match/messages.ts'
import type {
  Batch,
  CommitFailure,
  InstrumentHistory,
  MatchRecord,
  MatchStore,
  StoredResult,
  Verdict,
} from '../actors/match/store.ts'
import { type Position, signOf } from '../actors/position/position.ts'
import { bigints, instants, integers, smallints, texts, uuids } from './arrays.ts'
import { positionFrom } from './positions.ts'
import type { AccountEventsTable, Database, InstrumentsTable } from './schema.ts'
import type { WalletCache } from './wallet-cache.ts'
import type { Selectable } from 'kysely'

type OfKind<K extends MatchEvent['kind']> = Extract<MatchEvent, { kind: K }>

export class SqlMatchStore implements MatchStore {
  readonly #db: Kysely<Database>
  readonly #cache: WalletCache

  constructor(db: Kysely<Database>, cache: WalletCache) {
    this.#db = db
    this.#cache = cache
  }

  async load(matchId: FixtureId): Promise<MatchRecord | null> {
    // One snapshot for the three reads: no commit of a former owner can fall between them.
    return this.#db
      .transaction()
      .setIsolationLevel('repeatable read')
      .execute(async (tx) => {
        const match = await tx.selectFrom('matches').selectAll().where('id', '=', matchId).executeTakeFirst()
        if (match === undefined) return null
        const instruments = await tx.selectFrom('instruments').selectAll().where('match_id', '=', matchId).execute()
        const positions = await tx
          .selectFrom('positions')
          .selectAll()
          .where('match_id', '=', matchId)
          .where('closed_at', 'is', null)
          .orderBy('id')
          .execute()
        return {
          info: match.info as MatchInfo,
          pricing: match.pricing as PricingMemory,
          instruments: instruments.map(instrumentFrom),
          openPositions: positions.map(positionFrom),
        }
      })
  }

  async histories(ids: readonly InstrumentId[]): Promise<ReadonlyMap<InstrumentId, InstrumentHistory>> {
    const [lasts, anchors] = await Promise.all([
      this.#db
        .selectFrom('instruments')
        .select(['id', 'price_micros'])
        .where('id', 'in', [...ids])
        .execute(),
      this.#db
        .selectFrom('anchors')
        .selectAll()
        .where('instrument_id', 'in', [...ids])
        .execute(),
    ])
    const known = new Map<InstrumentId, InstrumentHistory>()
    for (const row of anchors) {
      known.set(instrumentId(row.instrument_id), { last: null, anchor: price(row.price_micros) })
    }
    for (const row of lasts) {
      const id = instrumentId(row.id)
      known.set(id, { last: price(row.price_micros), anchor: known.get(id)?.anchor ?? null })
    }
    return known
  }

  async recall(user: UserId, idempotency: IdempotencyKey): Promise<StoredResult | null> {
    const row = await this.#db
      .selectFrom('command_results')
      .selectAll()
      .where('user_id', '=', user)
      .where('route', '=', idempotency.route)
      .where('key', '=', idempotency.key)
      .executeTakeFirst()
    if (row === undefined) return null
    return {
      fingerprint: row.fingerprint,
      result: row.result as KeyedResult,
      wallet: walletFrom(row.balance_micros, row.margin_micros, row.unrealized_micros),
    }
  }

  async commit(batch: Batch): Promise<Verdict> {
    const wallets = walletChanges(batch)
    const debited = [...wallets].filter(([, change]) => change.balance < 0).map(([user]) => user)
    const cached = await this.#cache.read(debited)
    const { rows } = await commitStatement(batch, wallets, cached).execute(this.#db)
    const verdict = verdictOf(rows)
    // The books are closed; a cache that cannot be written now is behind by a version, and readers can tell.
    if (verdict.kind === 'committed') this.#cache.write(rows.filter((row) => row.user_id !== null).map(cachedFrom))
    return verdict
  }
}

interface WalletChange {
  balance: number
  margin: number
  open: number
  events: number
}

/** What the batch does to each wallet it concerns, users who only wait for an answer included. */
function walletChanges(batch: Batch): Map<UserId, WalletChange> {
  const changes = new Map<UserId, WalletChange>()
  const of = (user: UserId): WalletChange => {
    const change = changes.get(user) ?? { balance: 0, margin: 0, open: 0, events: 0 }
    changes.set(user, change)
    return change
  }
  for (const user of batch.watch) of(user)
  for (const { position } of ofKind(batch, 'position_opened')) {
    const change = of(position.userId)
    change.balance -= position.margin
    change.margin += position.margin
    change.open += 1
  }
  for (const { position } of ofKind(batch, 'position_closed')) {
    const change = of(position.userId)
    change.balance += position.margin + position.close.pnl
    change.margin -= position.margin
    change.open -= 1
  }
  for (const { position } of accountEvents(batch)) of(position.userId).events += 1
  return changes
}

/** The account event that each event of the batch is to the owner of its position, in order. */
function accountEvents(batch: Batch): { readonly kind: AccountEventsTable['kind']; readonly position: Position }[] {
  return batch.events.flatMap((event) => {
    const kind = ACCOUNT_EVENT[event.kind]
    return kind !== undefined && 'position' in event ? [{ kind, position: event.position }] : []
  })
}

const ACCOUNT_EVENT: Partial<Readonly<Record<MatchEvent['kind'], AccountEventsTable['kind']>>> = {
  position_opened: 'opened',
  levels_changed: 'changed',
  margin_warned: 'margin_warning',
  position_closed: 'closed',
}

function ofKind<K extends MatchEvent['kind']>(batch: Batch, kind: K): OfKind<K>[] {
  return batch.events.filter((event): event is OfKind<K> => event.kind === kind)
}

type CommitRow = {
  readonly verdict: 'committed' | 'fenced' | CommitFailure['kind']
  readonly user_id: string | null
  readonly balance: number | null
  readonly margin: number | null
  readonly unrealized: number | null
  readonly version: number | null
  readonly fingerprint: string | null
  readonly result: unknown
}

type Cached = Awaited<ReturnType<WalletCache['read']>>

/** The call of `commit_batch`, its arguments in the order of its declaration (migrations/commit-batch.ts). */
function commitStatement(batch: Batch, wallets: Map<UserId, WalletChange>, cached: Cached): RawBuilder<CommitRow> {
  const changes = [...wallets.values()]
  const opened = ofKind(batch, 'position_opened').map((event) => event.position)
  const changed = lastChanges(batch)
  const closed = ofKind(batch, 'position_closed').map((event) => event.position)
  const listed = new Set(ofKind(batch, 'instrument_listed').map((event) => event.instrument.id))
  const moved = batch.instruments
  const info = ofKind(batch, 'match_updated').at(-1)
  const { keyed, ticks } = batch
  const account = accountEvents(batch)
  return sql<CommitRow>`select * from commit_batch(
    ${batch.matchId}::bigint, ${batch.epoch}::bigint, ${batch.id}::uuid, ${iso(batch.at)}::timestamptz,
    ${batch.openPositionsMax}::integer, ${uuids(batch.watch)}::uuid[],
    ${uuids([...wallets.keys()])}::uuid[], ${bigints(changes.map((c) => c.balance))}::bigint[],
    ${bigints(changes.map((c) => c.margin))}::bigint[], ${integers(changes.map((c) => c.open))}::integer[],
    ${integers(changes.map((c) => c.events))}::integer[],
    ${uuids(cached.map((c) => c.userId))}::uuid[], ${bigints(cached.map((c) => c.version))}::bigint[],
    ${bigints(cached.map((c) => c.balance))}::bigint[],
    ${uuids(keyed.map((k) => k.userId))}::uuid[], ${texts(keyed.map((k) => k.idempotency.route))}::text[],
    ${texts(keyed.map((k) => k.idempotency.key))}::text[], ${texts(keyed.map((k) => k.idempotency.fingerprint))}::text[],
    ${texts(keyed.map((k) => (k.result === null ? null : JSON.stringify(k.result))))}::text[],
    ${uuids(opened.map((p) => p.id))}::uuid[], ${uuids(opened.map((p) => p.userId))}::uuid[],
    ${uuids(opened.map((p) => p.instrumentId))}::uuid[], ${smallints(opened.map((p) => signOf(p.direction)))}::smallint[],
    ${bigints(opened.map((p) => p.lots))}::bigint[], ${bigints(opened.map((p) => p.openPrice))}::bigint[],
    ${bigints(opened.map((p) => p.margin))}::bigint[], ${bigints(opened.map((p) => p.stopLoss))}::bigint[],
    ${bigints(opened.map((p) => p.takeProfit))}::bigint[], ${instants(opened.map((p) => p.closableAt))}::timestamptz[],
    ${uuids(changed.map((p) => p.id))}::uuid[], ${bigints(changed.map((p) => p.stopLoss))}::bigint[],
    ${bigints(changed.map((p) => p.takeProfit))}::bigint[], ${smallints(changed.map((p) => p.warned))}::smallint[],
    ${uuids(closed.map((p) => p.id))}::uuid[], ${uuids(closed.map((p) => p.userId))}::uuid[],
    ${bigints(closed.map((p) => p.close.price))}::bigint[], ${bigints(closed.map((p) => p.close.pnl))}::bigint[],
    ${bigints(closed.map((p) => p.margin + p.close.pnl))}::bigint[], ${texts(closed.map((p) => p.close.by))}::text[],
    ${uuids(account.map((e) => e.position.userId))}::uuid[], ${texts(account.map((e) => e.kind))}::text[],
    ${uuids(account.map((e) => e.position.id))}::uuid[], ${bigints(account.map((e) => e.position.stopLoss))}::bigint[],
    ${bigints(account.map((e) => e.position.takeProfit))}::bigint[],
    ${smallints(account.map((e) => e.position.warned))}::smallint[],
    ${JSON.stringify(moved.filter((m) => listed.has(m.instrument.id)).map((m) => m.instrument))}::jsonb,
    ${uuids(moved.map((m) => m.instrument.id))}::uuid[], ${bigints(moved.map((m) => m.instrument.base))}::bigint[],
    ${bigints(moved.map((m) => m.instrument.imbalance))}::bigint[], ${bigints(moved.map((m) => m.price))}::bigint[],
    ${bigints(moved.map((m) => m.price))}::bigint[], ${instants(moved.map((m) => m.instrument.suspendedUntil))}::timestamptz[],
    ${bigints(moved.map((m) => m.instrument.settlement))}::bigint[],
    ${uuids(ticks.map((t) => t.instrumentId))}::uuid[], ${instants(ticks.map((t) => t.at))}::timestamptz[],
    ${bigints(ticks.map((t) => t.quote.price))}::bigint[], ${bigints(ticks.map((t) => t.quote.base))}::bigint[],
    ${bigints(ticks.map((t) => t.quote.imbalance))}::bigint[], ${texts(ticks.map((t) => t.cause))}::text[],
    ${bigints(ticks.map((t) => t.providerEventId))}::bigint[],
    ${info === undefined ? null : JSON.stringify(info.info)}::jsonb,
    ${info === undefined ? null : JSON.stringify(info.pricing)}::jsonb)`
}

/** What each changed or warned position ends up as; one that the batch also closed needs none. */
function lastChanges(batch: Batch) {
  const changed = new Map<PositionId, Position>()
  for (const event of batch.events) {
    if (event.kind === 'levels_changed' || event.kind === 'margin_warned')
      changed.set(event.position.id, event.position)
  }
  for (const { position } of ofKind(batch, 'position_closed')) changed.delete(position.id)
  return [...changed.values()]
}

function verdictOf(rows: readonly CommitRow[]): Verdict {
  if (rows[0]?.verdict === 'fenced') return { kind: 'fenced' }
  const failures = new Map<string, CommitFailure>()
  const wallets = new Map<UserId, WalletAfter>()
  for (const row of rows) {
    if (row.user_id === null) continue
    const user = userId(row.user_id)
    switch (row.verdict) {
      case 'committed':
        wallets.set(user, walletOf(row))
        break
      case 'key_used':
        failures.set(user, { kind: 'key_used', userId: user, stored: storedFrom(row) })
        break
      case 'insufficient_margin':
        // A key that was used before answers for the whole command, whatever the wallet says today.
        if (!failures.has(user)) {
          failures.set(user, { kind: row.verdict, userId: user, available: money(present(row.balance, 'balance')) })
        }
        break
      case 'position_limit':
        if (!failures.has(user)) failures.set(user, { kind: row.verdict, userId: user })
        break
      case 'fenced':
        return { kind: 'fenced' }
    }
  }
  return failures.size > 0 ? { kind: 'rejected', failures: [...failures.values()] } : { kind: 'committed', wallets }
}

function storedFrom(row: CommitRow): StoredResult {
  return {
    fingerprint: present(row.fingerprint, 'fingerprint'),
    result: row.result as KeyedResult,
    wallet: walletOf(row),
  }
}

const walletOf = (row: CommitRow): WalletAfter =>
  walletFrom(present(row.balance, 'balance'), present(row.margin, 'margin'), present(row.unrealized, 'unrealized'))

const walletFrom = (balance: number, marginUsed: number, unrealizedPnl: number): WalletAfter => ({
  balance: money(balance),
  marginUsed: money(marginUsed),
  unrealizedPnl: money(unrealizedPnl),
})

const cachedFrom = (row: CommitRow) => ({
  userId: userId(present(row.user_id, 'user')),
  balance: money(present(row.balance, 'balance')),
  version: present(row.version, 'version'),
})

export function instrumentFrom(row: Selectable<InstrumentsTable>): Instrument {
  return {
    id: instrumentId(row.id),
    playerId: playerId(row.player_id),
    name: row.name,
    position: row.position,
    side: row.side,
    jersey: row.jersey,
    starter: row.starter,
    start: price(row.start_micros),
    slope: slope(row.slope_micros),
    base: price(row.base_micros),
    imbalance: lots(row.imbalance_micros),
    published: price(row.published_micros),
    suspendedUntil: row.suspended_until === null ? null : instant(row.suspended_until.getTime()),
    settlement: row.settlement_micros === null ? null : price(row.settlement_micros),
  }
}

const iso = (at: Instant): string => new Date(at).toISOString()
