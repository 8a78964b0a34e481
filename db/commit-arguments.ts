/**
 * The arguments with which a batch is committed: what it does to wallets, positions, instruments and logs, as arrays.
 */
import { assert, present } from '../actors/kernel/assert.ts'
import type { PositionId, UserId } from '../actors/kernel/ids.ts'
import { isReplayFixture } from '../actors/kernel/limits.ts'
import type { Price } from '../actors/kernel/micros.ts'
import type { Instant } from '../actors/kernel/world.ts'
import { committedEvents } from '../actors/match/committed-events.ts'
import type { MatchEvent } from '../actors/match/messages.ts'
import type { Batch, KeyedCommand } from '../actors/match/store.ts'
import { type Position, signOf } from '../actors/position/position.ts'
import type { AccountEventKind } from './account-log.ts'
import { keptOf } from './command-results.ts'
import { type ArrayFormat, jsonLines } from './postgres/arrays.ts'
import type {
  AccountArguments,
  BatchArguments,
  ChangedArguments,
  ClosedArguments,
  CommitArguments,
  InstrumentArguments,
  MatchArguments,
  OpenedArguments,
  TapeArguments,
  TickArguments,
  WalletArguments,
} from './postgres/commit-batch.ts'
import { tapeEntriesOf } from './tape.ts'
import type { VersionedBalance } from './wallet-cache.ts'

type OfKind<K extends MatchEvent['kind']> = Extract<MatchEvent, { kind: K }>

/** What a batch does to one wallet. */
export interface WalletChange {
  readonly userId: UserId
  balance: number
  margin: number
  open: number
  events: number
}

/** The wallets that the batch concerns, including those of users who only wait for an answer, in ascending order. */
export function walletChanges(batch: Batch): WalletChange[] {
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

/** `cached` are the balances that the fast store holds, at the versions they belong to. */
export function commitArguments(
  arrays: ArrayFormat,
  batch: Batch,
  wallets: readonly WalletChange[],
  cached: readonly VersionedBalance[],
): CommitArguments {
  const form: Form = {
    arrays,
    // PostgreSQL's arrays begin at 1.
    walletIndexes: new Map(wallets.map((wallet, n) => [wallet.userId, n + 1])),
  }
  const account = accountEvents(batch)
  return {
    ...batchArguments(batch),
    ...walletArguments(form, batch, wallets, cached),
    ...openedArguments(form, batch, account),
    ...changedArguments(form, batch),
    ...closedArguments(form, batch, account),
    ...accountArguments(form, account.filter(hasOwnRow)),
    ...instrumentArguments(form, batch),
    ...tickArguments(form, batch.ticks),
    ...tapeArguments(form, batch),
    ...matchArguments(batch),
  }
}

interface Form {
  readonly arrays: ArrayFormat
  readonly walletIndexes: ReadonlyMap<UserId, number>
}

const indexOf = ({ walletIndexes }: Form, user: UserId): number => present(walletIndexes.get(user), 'wallet index')

interface AccountEvent {
  readonly kind: AccountEventKind
  readonly position: Position
  /** How many events of the same user come after it in the batch. */
  readonly followers: number
}

/** The batch's events as entries in the account logs of the positions' owners. */
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

/** Openings and closes are in the row of their position. */
const hasOwnRow = ({ kind }: AccountEvent): boolean => kind === 'changed' || kind === 'margin_warning'

function ofKind<K extends MatchEvent['kind']>(batch: Batch, kind: K): OfKind<K>[] {
  return batch.events.filter((event): event is OfKind<K> => event.kind === kind)
}

function batchArguments(batch: Batch): BatchArguments {
  const events = committedEvents(batch.events)
  return {
    p_match: batch.matchId,
    p_epoch: batch.epoch,
    p_batch: batch.id,
    p_at: iso(batch.at),
    p_open_max: batch.openPositionsMax,
    p_look: batch.keyed.some(({ result }) => result === null || 'refusal' in result),
    p_replay: isReplayFixture(batch.matchId),
    p_events: events.length === 0 ? null : JSON.stringify(events),
  }
}

const iso = (at: Instant): string => new Date(at).toISOString()

function walletArguments(
  { arrays }: Form,
  batch: Batch,
  wallets: readonly WalletChange[],
  cached: readonly VersionedBalance[],
): WalletArguments {
  const holdings = new Map(batch.watch.map((holding) => [holding.userId, holding]))
  const cachedOf = new Map(cached.map((balance) => [balance.userId, balance]))
  const keyedOf = new Map(batch.keyed.map((one) => [one.userId, one]))
  assert(keyedOf.size === batch.keyed.length, 'a user has two keyed commands in one batch')
  const caches = wallets.map((wallet) => cachedOf.get(wallet.userId))
  const keyed = wallets.map((wallet) => keyedOf.get(wallet.userId))
  const watched = wallets.map((wallet) => holdings.get(wallet.userId))
  return {
    w_user: arrays.uuids(wallets.map((w) => w.userId)),
    w_balance: arrays.bigints(wallets.map((w) => w.balance)),
    w_margin: arrays.bigints(wallets.map((w) => w.margin)),
    w_open: arrays.integers(wallets.map((w) => w.open)),
    w_events: arrays.integers(wallets.map((w) => w.events)),
    w_held: arrays.integers(watched.map((holding) => holding?.openPositions ?? null)),
    w_worth: arrays.bigints(watched.map((holding) => holding?.unrealizedPnl ?? null)),
    w_cached: arrays.bigints(caches.map((c) => c?.balance ?? null)),
    w_cached_version: arrays.bigints(caches.map((c) => c?.version ?? null)),
    w_command: arrays.uuids(keyed.map((k) => k?.idempotency.id ?? null)),
    ...resultArguments(arrays, keyed),
  }
}

/** Of commands whose results need a row of their own. */
function resultArguments(
  arrays: ArrayFormat,
  keyed: readonly (KeyedCommand | undefined)[],
): Pick<WalletArguments, 'w_fingerprint' | 'w_result'> {
  const kept = keyed.map((k) => (k === undefined || k.result === null ? null : keptOf(k.result)))
  if (kept.every((one) => one === null)) return { w_fingerprint: NONE, w_result: null }
  return {
    w_fingerprint: arrays.texts(keyed.map((k) => k?.idempotency.fingerprint ?? null)),
    w_result: jsonLines(kept),
  }
}

/** An empty array: unnested beside longer ones it yields nulls. */
const NONE = '{}'

function openedArguments(form: Form, batch: Batch, account: readonly AccountEvent[]): OpenedArguments {
  const { arrays } = form
  const opened = ofKind(batch, 'position_opened').map((event) => event.position)
  const answers = openingAnswers(batch)
  return {
    o_id: arrays.uuids(opened.map((p) => p.id)),
    o_wallet: arrays.integers(opened.map((p) => indexOf(form, p.userId))),
    o_instrument: arrays.uuids(opened.map((p) => p.instrumentId)),
    o_sign: arrays.smallints(opened.map((p) => signOf(p.direction))),
    o_lots: arrays.bigints(opened.map((p) => p.lots)),
    o_price: arrays.bigints(opened.map((p) => p.openPrice)),
    o_base: arrays.bigints(opened.map((p) => p.openBase)),
    o_margin: arrays.bigints(opened.map((p) => p.margin)),
    o_stop: arrays.bigints(opened.map((p) => p.stopLoss)),
    o_take: arrays.bigints(opened.map((p) => p.takeProfit)),
    o_closable: arrays.instants(opened.map((p) => p.closableAt)),
    o_followers: arrays.integers(account.filter((e) => e.kind === 'opened').map((e) => e.followers)),
    o_fingerprint: arrays.texts(opened.map((p) => answers.get(p.id)?.fingerprint ?? null)),
    o_after: arrays.bigints(opened.map((p) => answers.get(p.id)?.price ?? null)),
    o_exit: arrays.bigints(opened.map((p) => answers.get(p.id)?.exitPrice ?? null)),
  }
}

interface OpeningAnswer {
  readonly fingerprint: string
  readonly price: Price
  readonly exitPrice: Price
}

/** What is repeated to the retries of keyed openings, by the id of the position, which is that of the command. */
function openingAnswers(batch: Batch): ReadonlyMap<string, OpeningAnswer> {
  const answers = new Map<string, OpeningAnswer>()
  for (const { idempotency, result } of batch.keyed) {
    if (result === null || 'refusal' in result || result.position.close !== null) continue
    assert(result.position.id === idempotency.id, 'a position opened under a key has the id of its command')
    const { price, exitPrice } = result
    answers.set(idempotency.id, { fingerprint: idempotency.fingerprint, price, exitPrice })
  }
  return answers
}

function changedArguments({ arrays }: Form, batch: Batch): ChangedArguments {
  const changed = lastChanges(batch)
  return {
    l_id: arrays.uuids(changed.map((p) => p.id)),
    l_stop: arrays.bigints(changed.map((p) => p.stopLoss)),
    l_take: arrays.bigints(changed.map((p) => p.takeProfit)),
    l_warned: arrays.smallints(changed.map((p) => p.warned)),
  }
}

/**
 * Each changed or warned position after its last change. One that the batch also closes keeps what it had at its close.
 */
function lastChanges(batch: Batch): readonly Position[] {
  const changed = new Map<PositionId, Position>()
  for (const event of batch.events) {
    if (event.kind === 'levels_changed' || event.kind === 'margin_warned') {
      changed.set(event.position.id, event.position)
    }
  }
  return [...changed.values()]
}

function closedArguments(form: Form, batch: Batch, account: readonly AccountEvent[]): ClosedArguments {
  const { arrays } = form
  const closed = ofKind(batch, 'position_closed').map((event) => event.position)
  return {
    x_id: arrays.uuids(closed.map((p) => p.id)),
    x_wallet: arrays.integers(closed.map((p) => indexOf(form, p.userId))),
    x_price: arrays.bigints(closed.map((p) => p.close.price)),
    x_base: arrays.bigints(closed.map((p) => p.close.base)),
    x_pnl: arrays.bigints(closed.map((p) => p.close.pnl)),
    x_release: arrays.bigints(closed.map((p) => p.margin + p.close.pnl)),
    x_by: arrays.texts(closed.map((p) => p.close.by)),
    x_reason: arrays.texts(closed.map((p) => p.close.voidReason)),
    x_followers: arrays.integers(account.filter((e) => e.kind === 'closed').map((e) => e.followers)),
  }
}

function accountArguments(form: Form, account: readonly AccountEvent[]): AccountArguments {
  const { arrays } = form
  return {
    e_wallet: arrays.integers(account.map((e) => indexOf(form, e.position.userId))),
    e_followers: arrays.integers(account.map((e) => e.followers)),
    e_kind: arrays.texts(account.map((e) => e.kind)),
    e_position: arrays.uuids(account.map((e) => e.position.id)),
    e_stop: arrays.bigints(account.map((e) => e.position.stopLoss)),
    e_take: arrays.bigints(account.map((e) => e.position.takeProfit)),
    e_warned: arrays.smallints(account.map((e) => e.position.warned)),
  }
}

function instrumentArguments({ arrays }: Form, batch: Batch): InstrumentArguments {
  const moved = batch.instruments
  const listedIds = new Set(ofKind(batch, 'instrument_listed').map((event) => event.instrument.id))
  const listed = moved.filter((m) => listedIds.has(m.instrument.id)).map((m) => m.instrument)
  return {
    i_listed: listed.length === 0 ? null : JSON.stringify(listed),
    i_id: arrays.uuids(moved.map((m) => m.instrument.id)),
    i_base: arrays.bigints(moved.map((m) => m.instrument.base)),
    i_imbalance: arrays.bigints(moved.map((m) => m.instrument.imbalance)),
    i_price: arrays.bigints(moved.map((m) => m.price)),
    i_news: arrays.texts(moved.map(({ instrument: { news } }) => (news === null ? null : JSON.stringify(news)))),
    i_settlement: arrays.bigints(moved.map((m) => m.instrument.settlement)),
    i_cap: arrays.integers(moved.map((m) => m.instrument.impactCapPpm)),
    i_awaits: arrays.smallints(moved.map((m) => Number(m.instrument.awaitsSettlement))),
  }
}

function tickArguments({ arrays }: Form, ticks: Batch['ticks']): TickArguments {
  return {
    t_id: arrays.uuids(ticks.map((t) => t.instrumentId)),
    t_at: arrays.instants(ticks.map((t) => t.at)),
    t_price: arrays.bigints(ticks.map((t) => t.quote.price)),
    t_base: arrays.bigints(ticks.map((t) => t.quote.base)),
    t_imbalance: arrays.bigints(ticks.map((t) => t.quote.imbalance)),
    t_cause: arrays.texts(ticks.map((t) => t.cause)),
    t_event: arrays.bigints(ticks.map((t) => t.providerEventId)),
  }
}

function tapeArguments({ arrays }: Form, batch: Batch): TapeArguments {
  const entries = tapeEntriesOf(batch.events)
  return {
    s_id: arrays.uuids(entries.map((entry) => entry.instrumentId)),
    s_lots: arrays.bigints(entries.map((entry) => entry.lots)),
    s_trades: arrays.texts(entries.map((entry) => entry.trades)),
  }
}

function matchArguments(batch: Batch): MatchArguments {
  const updated = ofKind(batch, 'match_updated').at(-1)
  return {
    m_info: updated === undefined ? null : JSON.stringify(updated.info),
    m_pricing: updated === undefined ? null : JSON.stringify(updated.pricing),
  }
}
