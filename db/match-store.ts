/** MatchStore on PostgreSQL: loads a match, and commits a batch of it in one statement. */
import type { Selectable } from 'kysely'
import { assert, present } from '../actors/kernel/assert.ts'
import {
  type FixtureId,
  fixtureId,
  type InstrumentId,
  instrumentId,
  playerId,
  type PositionId,
  type UserId,
  userId,
} from '../actors/kernel/ids.ts'
import { isReplayFixture } from '../actors/kernel/limits.ts'
import { lots, type Money, money, type Price, price, slope } from '../actors/kernel/micros.ts'
import { type Instant, instant } from '../actors/kernel/world.ts'
import type { Instrument } from '../actors/market/instrument.ts'
import type { PricingMemory } from '../actors/market/pricing.ts'
import { committedEvents } from '../actors/match/committed-events.ts'
import type { IdempotencyKey, MatchEvent, MatchInfo, WalletAfter } from '../actors/match/messages.ts'
import type {
  Batch,
  CommitFailure,
  InstrumentHistory,
  KeyedCommand,
  MatchRecord,
  MatchStore,
  StoredResult,
  Verdict,
} from '../actors/match/store.ts'
import { type Position, signOf } from '../actors/position/position.ts'
import type { AccountEventKind } from './account-log.ts'
import { type ArrayFormat, bigintsFrom, jsonLines } from './postgres/arrays.ts'
import { findResult, keptOf, restoreResults, type StoredRow } from './command-results.ts'
import type { Connection } from './postgres/connect.ts'
import { POSITION_COLUMNS, positionFrom } from './positions.ts'
import type { InstrumentsTable } from './postgres/schema.ts'
import { tapeEntriesOf } from './tape.ts'
import type { VersionedBalance, WalletCache } from './wallet-cache.ts'

type OfKind<K extends MatchEvent['kind']> = Extract<MatchEvent, { kind: K }>

export class SqlMatchStore implements MatchStore {
  readonly #connection: Pick<Connection, 'db' | 'call' | 'arrays'>
  readonly #cache: WalletCache

  constructor(connection: Pick<Connection, 'db' | 'call' | 'arrays'>, cache: WalletCache) {
    this.#connection = connection
    this.#cache = cache
  }

  async load(matchId: FixtureId): Promise<MatchRecord | null> {
    // One snapshot for the three reads: no commit of a former owner can fall between them.
    return this.#connection.db
      .transaction()
      .setIsolationLevel('repeatable read')
      .execute(async (tx) => {
        const match = await tx.selectFrom('matches').selectAll().where('id', '=', matchId).executeTakeFirst()
        if (match === undefined) return null
        const instruments = await tx.selectFrom('instruments').selectAll().where('match_id', '=', matchId).execute()
        const positions = await tx
          .selectFrom('positions')
          .select(POSITION_COLUMNS)
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
    const { db } = this.#connection
    const [lasts, anchors] = await Promise.all([
      db
        .selectFrom('instruments')
        .innerJoin('matches', 'matches.id', 'instruments.match_id')
        .select(['instruments.id', 'price_micros', 'match_id', 'settled_at'])
        .where('instruments.id', 'in', [...ids])
        .execute(),
      db
        .selectFrom('anchors')
        .selectAll()
        .where('instrument_id', 'in', [...ids])
        .execute(),
    ])
    const known = new Map<InstrumentId, InstrumentHistory>()
    for (const row of anchors) {
      known.set(instrumentId(row.instrument_id), { last: null, anchor: price(row.price_micros), heldBy: null })
    }
    for (const row of lasts) {
      const id = instrumentId(row.id)
      const heldBy = row.settled_at === null ? fixtureId(row.match_id) : null
      known.set(id, { last: price(row.price_micros), anchor: known.get(id)?.anchor ?? null, heldBy })
    }
    return known
  }

  async recall(user: UserId, idempotency: IdempotencyKey): Promise<StoredResult | null> {
    return findResult(this.#connection.db, user, idempotency)
  }

  async commit(batch: Batch): Promise<Verdict> {
    const wallets = walletChanges(batch)
    const moved = wallets.filter((change) => change.balance !== 0).map((change) => change.userId)
    const cached = await this.#cache.claim(moved, (users) => this.#versionsOf(users))
    const rows = await this.#connection.call<CommitRow>(
      'commit_batch',
      argumentsOf(this.#connection.arrays, batch, wallets, cached),
    )
    const [first] = rows
    if (first?.verdict === 'fenced') return { kind: 'fenced' }
    if (first?.verdict !== 'committed') return this.#rejection(rows)
    const after = walletsAfter(wallets, first)
    // The books are closed; a cache that cannot be written now is behind by a version, and readers can tell.
    this.#cache.write(after)
    const seen = after.filter((wallet): wallet is typeof wallet & WalletAfter => wallet.unrealizedPnl !== null)
    return { kind: 'committed', wallets: new Map(seen.map((wallet) => [wallet.userId, wallet])) }
  }

  async #rejection(rows: readonly CommitRow[]): Promise<Verdict> {
    const failures = new Map<UserId, CommitFailure>()
    const used: Extract<CommitRow, { verdict: 'key_used' }>[] = []
    for (const row of rows) {
      assert(row.verdict !== 'committed' && row.verdict !== 'fenced', 'a batch was turned down and was not')
      const user = userId(row.user_id)
      if (row.verdict === 'key_used') {
        used.push(row)
      } else if (row.verdict === 'insufficient_margin') {
        failures.set(user, { kind: row.verdict, userId: user, available: money(row.balance) })
      } else if (!failures.has(user)) {
        failures.set(user, { kind: row.verdict, userId: user })
      }
    }
    assert(rows.length > 0, 'a commit came back without a verdict')
    // A key that was used before answers for the whole command, whatever the wallet says today.
    const stored = await restoreResults(this.#connection.db, used)
    for (const [n, result] of stored.entries()) {
      const user = userId(present(used[n], 'used key').user_id)
      failures.set(user, { kind: 'key_used', userId: user, stored: result })
    }
    return { kind: 'rejected', failures: [...failures.values()] }
  }

  async #versionsOf(users: readonly UserId[]): Promise<Map<UserId, number>> {
    const rows = await this.#connection.db
      .selectFrom('wallets')
      .select(['user_id', 'version'])
      .where('user_id', 'in', [...users])
      .execute()
    return new Map(rows.map((row) => [userId(row.user_id), row.version]))
  }
}

/** What a batch does to one wallet. */
interface WalletChange {
  readonly userId: UserId
  balance: number
  margin: number
  open: number
  events: number
}

/** The wallets that the batch concerns, those of users who only wait for an answer included, in ascending order. */
function walletChanges(batch: Batch): WalletChange[] {
  const changes = new Map<UserId, WalletChange>()
  const of = (user: UserId): WalletChange => {
    const change = changes.get(user) ?? { userId: user, balance: 0, margin: 0, open: 0, events: 0 }
    changes.set(user, change)
    return change
  }
  for (const { userId: user } of batch.watch) of(user)
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
  return [...changes.values()].toSorted((a, b) => (a.userId < b.userId ? -1 : 1))
}

interface AccountEvent {
  readonly kind: AccountEventKind
  readonly position: Position
  /** How many events of the same user come after it in the batch. */
  readonly followers: number
}

/** The account event that each event of the batch is to the owner of its position. */
function accountEvents(batch: Batch): AccountEvent[] {
  const seen = new Map<UserId, number>()
  const events: AccountEvent[] = []
  for (const event of batch.events.toReversed()) {
    const kind = ACCOUNT_EVENT[event.kind]
    if (kind === undefined || !('position' in event)) continue
    const { position } = event
    const followers = seen.get(position.userId) ?? 0
    seen.set(position.userId, followers + 1)
    events.push({ kind, position, followers })
  }
  return events.toReversed()
}

const ACCOUNT_EVENT: Partial<Readonly<Record<MatchEvent['kind'], AccountEventKind>>> = {
  position_opened: 'opened',
  levels_changed: 'changed',
  margin_warned: 'margin_warning',
  position_closed: 'closed',
}

/** Openings and closes stand in the ledger, everything else in a row of its own. */
const isLogged = ({ kind }: AccountEvent): boolean => kind === 'changed' || kind === 'margin_warning'

function ofKind<K extends MatchEvent['kind']>(batch: Batch, kind: K): OfKind<K>[] {
  return batch.events.filter((event): event is OfKind<K> => event.kind === kind)
}

/** Either one row, or one for each failure. */
type CommitRow =
  | CommittedRow
  | { readonly verdict: 'fenced' }
  | ({ readonly verdict: 'key_used'; readonly user_id: string } & StoredRow)
  | { readonly verdict: 'insufficient_margin'; readonly user_id: string; readonly balance: number }
  | { readonly verdict: 'position_limit'; readonly user_id: string }

/** Array literals, one value for each wallet in the order in which they were asked for. */
interface CommittedRow {
  readonly verdict: 'committed'
  readonly balances: string | null
  readonly margins: string | null
  readonly worths: string | null
  readonly versions: string | null
}

type WalletWritten = VersionedBalance & Pick<WalletAfter, 'marginUsed'> & { readonly unrealizedPnl: Money | null }

/** Unrealised PnL is null for those whom nobody watches. */
function walletsAfter(wallets: readonly WalletChange[], row: CommittedRow): WalletWritten[] {
  const [balances, margins, worths, versions] = [
    bigintsFrom(row.balances),
    bigintsFrom(row.margins),
    bigintsFrom(row.worths),
    bigintsFrom(row.versions),
  ]
  return wallets.map(({ userId: user }, n) => {
    const worth = worths[n] ?? null
    return {
      userId: user,
      balance: money(present(balances[n], 'balance')),
      marginUsed: money(present(margins[n], 'margin')),
      unrealizedPnl: worth === null ? null : money(worth),
      version: present(versions[n], 'version'),
    }
  })
}

/** The arguments of `commit_batch`, in the order of its declaration (migrations/commit-batch.ts). */
function argumentsOf(
  arrays: ArrayFormat,
  batch: Batch,
  wallets: readonly WalletChange[],
  cached: readonly VersionedBalance[],
): unknown[] {
  const info = ofKind(batch, 'match_updated').at(-1)
  // Arrays of PostgreSQL begin at 1.
  const indexes = new Map(wallets.map((wallet, n) => [wallet.userId, n + 1]))
  const indexOf = (user: UserId): number => present(indexes.get(user), 'wallet index')
  const account = accountEvents(batch)
  return [
    batch.matchId,
    batch.epoch,
    batch.id,
    iso(batch.at),
    batch.openPositionsMax,
    ...walletArguments(arrays, batch, wallets, cached),
    ...positionArguments(arrays, batch, account, indexOf),
    ...accountArguments(arrays, account.filter(isLogged), indexOf),
    ...instrumentArguments(arrays, batch),
    ...tickArguments(arrays, batch.ticks),
    ...tapeArguments(arrays, batch),
    info === undefined ? null : JSON.stringify(info.info),
    info === undefined ? null : JSON.stringify(info.pricing),
    ...outboxArguments(batch),
  ]
}

function outboxArguments(batch: Batch): unknown[] {
  const events = committedEvents(batch.events)
  return [isReplayFixture(batch.matchId), events.length === 0 ? null : JSON.stringify(events)]
}

function walletArguments(
  arrays: ArrayFormat,
  batch: Batch,
  wallets: readonly WalletChange[],
  cached: readonly VersionedBalance[],
): unknown[] {
  const holdings = new Map(batch.watch.map((holding) => [holding.userId, holding]))
  const cachedOf = new Map(cached.map((balance) => [balance.userId, balance]))
  const keyedOf = new Map(batch.keyed.map((one) => [one.userId, one]))
  assert(keyedOf.size === batch.keyed.length, 'a user has two keyed commands in one batch')
  const caches = wallets.map((wallet) => cachedOf.get(wallet.userId))
  const keyed = wallets.map((wallet) => keyedOf.get(wallet.userId))
  const watched = wallets.map((wallet) => holdings.get(wallet.userId))
  return [
    arrays.uuids(wallets.map((w) => w.userId)),
    arrays.bigints(wallets.map((w) => w.balance)),
    arrays.bigints(wallets.map((w) => w.margin)),
    arrays.integers(wallets.map((w) => w.open)),
    arrays.integers(wallets.map((w) => w.events)),
    arrays.integers(watched.map((holding) => holding?.openPositions ?? null)),
    arrays.bigints(watched.map((holding) => holding?.unrealizedPnl ?? null)),
    arrays.bigints(caches.map((c) => c?.balance ?? null)),
    arrays.bigints(caches.map((c) => c?.version ?? null)),
    batch.keyed.some(({ result }) => result === null || 'refusal' in result),
    arrays.uuids(keyed.map((k) => k?.idempotency.id ?? null)),
    ...resultArguments(arrays, keyed),
  ]
}

/** Of commands whose results need a row of their own. */
function resultArguments(arrays: ArrayFormat, keyed: readonly (KeyedCommand | undefined)[]): unknown[] {
  const kept = keyed.map((k) => (k === undefined || k.result === null ? null : keptOf(k.result)))
  if (kept.every((one) => one === null)) return [NONE, null]
  return [arrays.texts(keyed.map((k) => k?.idempotency.fingerprint ?? null)), jsonLines(kept)]
}

/** Positions opened, changed and closed. */
function positionArguments(
  arrays: ArrayFormat,
  batch: Batch,
  account: readonly AccountEvent[],
  indexOf: (user: UserId) => number,
): unknown[] {
  const opened = ofKind(batch, 'position_opened').map((event) => event.position)
  const answers = openingAnswers(batch)
  const changed = lastChanges(batch)
  const closed = ofKind(batch, 'position_closed').map((event) => event.position)
  return [
    arrays.uuids(opened.map((p) => p.id)),
    arrays.integers(opened.map((p) => indexOf(p.userId))),
    arrays.uuids(opened.map((p) => p.instrumentId)),
    arrays.smallints(opened.map((p) => signOf(p.direction))),
    arrays.bigints(opened.map((p) => p.lots)),
    arrays.bigints(opened.map((p) => p.openPrice)),
    arrays.bigints(opened.map((p) => p.margin)),
    arrays.bigints(opened.map((p) => p.stopLoss)),
    arrays.bigints(opened.map((p) => p.takeProfit)),
    arrays.instants(opened.map((p) => p.closableAt)),
    arrays.integers(account.filter((e) => e.kind === 'opened').map((e) => e.followers)),
    arrays.texts(opened.map((p) => answers.get(p.id)?.fingerprint ?? null)),
    arrays.bigints(opened.map((p) => answers.get(p.id)?.price ?? null)),
    arrays.uuids(changed.map((p) => p.id)),
    arrays.bigints(changed.map((p) => p.stopLoss)),
    arrays.bigints(changed.map((p) => p.takeProfit)),
    arrays.smallints(changed.map((p) => p.warned)),
    arrays.uuids(closed.map((p) => p.id)),
    arrays.integers(closed.map((p) => indexOf(p.userId))),
    arrays.bigints(closed.map((p) => p.close.price)),
    arrays.bigints(closed.map((p) => p.close.pnl)),
    arrays.bigints(closed.map((p) => p.margin + p.close.pnl)),
    arrays.texts(closed.map((p) => p.close.by)),
    arrays.integers(account.filter((e) => e.kind === 'closed').map((e) => e.followers)),
  ]
}

/** What the retries of keyed openings are told, by the id of the position, which is that of the command. */
function openingAnswers(batch: Batch): ReadonlyMap<string, { readonly fingerprint: string; readonly price: Price }> {
  const answers = new Map<string, { readonly fingerprint: string; readonly price: Price }>()
  for (const { idempotency, result } of batch.keyed) {
    if (result === null || 'refusal' in result || result.position.close !== null) continue
    assert(result.position.id === idempotency.id, 'a position opened under a key has the id of its command')
    answers.set(idempotency.id, { fingerprint: idempotency.fingerprint, price: result.price })
  }
  return answers
}

function accountArguments(
  arrays: ArrayFormat,
  account: readonly AccountEvent[],
  indexOf: (user: UserId) => number,
): unknown[] {
  return [
    arrays.integers(account.map((e) => indexOf(e.position.userId))),
    arrays.integers(account.map((e) => e.followers)),
    arrays.texts(account.map((e) => e.kind)),
    arrays.uuids(account.map((e) => e.position.id)),
    arrays.bigints(account.map((e) => e.position.stopLoss)),
    arrays.bigints(account.map((e) => e.position.takeProfit)),
    arrays.smallints(account.map((e) => e.position.warned)),
  ]
}

function instrumentArguments(arrays: ArrayFormat, batch: Batch): unknown[] {
  const moved = batch.instruments
  const listed = new Set(ofKind(batch, 'instrument_listed').map((event) => event.instrument.id))
  // The column, and with it the parameter, keeps the name of the wire: position.
  const news = moved
    .filter((m) => listed.has(m.instrument.id))
    .map((m) => ({ ...m.instrument, position: m.instrument.role }))
  return [
    news.length === 0 ? null : JSON.stringify(news),
    arrays.uuids(moved.map((m) => m.instrument.id)),
    arrays.bigints(moved.map((m) => m.instrument.base)),
    arrays.bigints(moved.map((m) => m.instrument.imbalance)),
    arrays.bigints(moved.map((m) => m.price)),
    arrays.instants(moved.map((m) => m.instrument.suspendedUntil)),
    arrays.bigints(moved.map((m) => m.instrument.settlement)),
  ]
}

function tickArguments(arrays: ArrayFormat, ticks: Batch['ticks']): unknown[] {
  return [
    arrays.uuids(ticks.map((t) => t.instrumentId)),
    arrays.instants(ticks.map((t) => t.at)),
    arrays.bigints(ticks.map((t) => t.quote.price)),
    arrays.bigints(ticks.map((t) => t.quote.base)),
    arrays.bigints(ticks.map((t) => t.quote.imbalance)),
    arrays.texts(ticks.map((t) => t.cause)),
    arrays.bigints(ticks.map((t) => t.providerEventId)),
  ]
}

/** What was traded, by player. */
function tapeArguments(arrays: ArrayFormat, batch: Batch): unknown[] {
  const entries = tapeEntriesOf(batch.events)
  return [
    arrays.uuids(entries.map((entry) => entry.instrumentId)),
    arrays.bigints(entries.map((entry) => entry.lots)),
    arrays.texts(entries.map((entry) => entry.trades)),
  ]
}

/** What each changed or warned position ends up as; one that the batch also closes keeps what it closed with. */
function lastChanges(batch: Batch) {
  const changed = new Map<PositionId, Position>()
  for (const event of batch.events) {
    if (event.kind === 'levels_changed' || event.kind === 'margin_warned')
      changed.set(event.position.id, event.position)
  }
  return [...changed.values()]
}

export function instrumentFrom(row: Selectable<InstrumentsTable>): Instrument {
  return {
    id: instrumentId(row.id),
    playerId: playerId(row.player_id),
    name: row.name,
    role: row.position,
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

/** An array of nothing: whoever unnests it beside others reads nulls. */
const NONE = '{}'

const iso = (at: Instant): string => new Date(at).toISOString()
