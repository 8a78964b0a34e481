/**
 * The arguments with which batches are committed: what they do to wallets, positions, instruments and logs, as arrays.
 */
import { assert, present } from '../actors/kernel/assert.ts'
import type { PositionId, UserId } from '../actors/kernel/ids.ts'
import { BATCH_MAX } from '../actors/kernel/limits.ts'
import type { Money, Price } from '../actors/kernel/micros.ts'
import type { WalletKey } from '../actors/kernel/purse.ts'
import { committedEvents } from '../actors/match/committed-events.ts'
import { reasonText } from '../actors/market/move-reason.ts'
import type { Batch, KeyedCommand } from '../actors/match/store.ts'
import { type Position, signOf } from '../actors/position/position.ts'
import { keptOf } from './command-results.ts'
import type { JournalRow } from './journal-codec.ts'
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
  SplitArguments,
  OutboxArguments,
  TradeArguments,
  TickArguments,
  WalletArguments,
} from './postgres/commit-batch.ts'
import { tradeEntriesOf } from './recent-trades.ts'
import type { TapeRow } from './tape-writer.ts'
import type { VersionedBalance } from './wallet-cache.ts'
import {
  type AccountEvent,
  accountEvents,
  compareKeys,
  logOf,
  ofKind,
  type WalletChange,
  WalletMap,
} from './wallet-changes.ts'

/** Events per row of the outbox: as many as a full batch of orders leaves. */
const OUTBOX_ROW_MAX = BATCH_MAX

/** Balances of main wallets that the fast store holds. */
export interface Cached {
  readonly balances: readonly VersionedBalance[]
  /** Null without any. */
  readonly timeline: string | null
  /** The most that one of them may add to a wallet. */
  readonly adoptMax: Money
}

/** A batch, and what else its commit writes. */
export interface Written {
  readonly batch: Batch
  /** What it does to wallets, in ascending order. */
  readonly wallets: readonly WalletChange[]
  readonly cached: Cached
  readonly journal: JournalRow | null
  readonly tape: TapeRow | null
}

/** A wallet that one of the batches concerns. `of`: its place among them, from 0. */
export interface WalletOf {
  readonly change: WalletChange
  readonly of: number
}

/** The wallets of all batches in ascending order. */
export function walletsOf(all: readonly Written[]): readonly WalletOf[] {
  const wallets = all.flatMap((one, of) => one.wallets.map((change) => ({ change, of })))
  return all.length === 1 ? wallets : wallets.toSorted((a, b) => compareKeys(a.change, b.change))
}

/** What a batch consists of, apart from whose it is. */
type Contents = Pick<Batch, 'events' | 'keyed' | 'watch' | 'instruments' | 'ticks'>

/** Batches that come together have no user and no instrument in common. */
function contentsOf(all: readonly Written[]): Contents {
  const [first] = all
  if (first !== undefined && all.length === 1) return first.batch
  return {
    events: all.flatMap(({ batch }) => batch.events),
    keyed: all.flatMap(({ batch }) => batch.keyed),
    watch: all.flatMap(({ batch }) => batch.watch),
    instruments: all.flatMap(({ batch }) => batch.instruments),
    ticks: all.flatMap(({ batch }) => batch.ticks),
  }
}

/** For batches that may be committed together (commit-groups.ts), with what `walletsOf` makes of them. */
export function commitArguments(
  arrays: ArrayFormat,
  all: readonly Written[],
  wallets: readonly WalletOf[],
): CommitArguments {
  const walletIndexes = new WalletMap<number>()
  // PostgreSQL's arrays begin at 1.
  for (const [n, { change }] of wallets.entries()) walletIndexes.set(change, n + 1)
  const form: Form = { arrays, walletIndexes }
  const batch = contentsOf(all)
  const account = accountEvents(batch.events)
  const tapes = all.map(({ tape }) => tape)
  const journal = all[0]?.journal
  return {
    ...batchArguments(form, all),
    ...walletArguments(form, batch, wallets, all),
    ...openedArguments(form, batch, account),
    ...changedArguments(form, batch),
    ...splitArguments(form, batch, account),
    ...closedArguments(form, batch, account),
    ...accountArguments(form, account.filter(hasOwnRow)),
    ...instrumentArguments(form, batch),
    ...tickArguments(form, batch.ticks),
    ...tradeArguments(form, all),
    ...matchArguments(batch),
    ...outboxArguments(form, all),
    j_fresh: journal?.fresh ?? null,
    j_entries: journal?.entries ?? null,
    r_first: arrays.integers(tapes.map((tape) => tape?.first ?? null)),
    r_last: arrays.integers(tapes.map((tape) => tape?.last ?? null)),
    r_secret: arrays.bytes(tapes.map((tape) => tape?.secret ?? null)),
    r_lines: arrays.bytes(tapes.map((tape) => tape?.lines ?? null)),
  }
}

interface Form {
  readonly arrays: ArrayFormat
  readonly walletIndexes: Pick<WalletMap<number>, 'get'>
}

const indexOf = ({ walletIndexes }: Form, wallet: WalletKey<UserId>): number =>
  present(walletIndexes.get(wallet), 'wallet index')

/** Openings and closes have an entry in the ledger. */
const hasOwnRow = ({ kind }: AccountEvent): boolean => kind === 'changed' || kind === 'margin_warning'

function batchArguments({ arrays }: Form, all: readonly Written[]): BatchArguments {
  const [{ batch, cached }] = all as readonly [Written]
  return {
    b_match: arrays.bigints(all.map((one) => one.batch.matchId)),
    b_epoch: arrays.bigints(all.map((one) => one.batch.epoch)),
    b_id: arrays.uuids(all.map((one) => one.batch.id)),
    b_at: arrays.instants(all.map((one) => one.batch.at)),
    p_open_max: batch.openPositionsMax,
    p_timeline: cached.timeline,
    p_adopt_max: cached.adoptMax,
    p_look: all.some((one) => one.batch.keyed.some(({ result }) => result === null || 'refusal' in result)),
  }
}

function outboxArguments({ arrays }: Form, all: readonly Written[]): OutboxArguments {
  const rows = all.flatMap(({ batch }, of) =>
    piecesOf(committedEvents(batch.events)).map((events, n) => ({ batch: of + 1, n: n + 1, events })),
  )
  return {
    k_batch: arrays.integers(rows.map((row) => row.batch)),
    k_n: arrays.integers(rows.map((row) => row.n)),
    k_events: rows.length === 0 ? null : jsonLines(rows.map((row) => row.events)),
  }
}

/** A large commit leaves several rows in the outbox, so that a reaction to one row is bounded work. */
const piecesOf = <T>(events: readonly T[]): (readonly T[])[] =>
  Array.from({ length: Math.ceil(events.length / OUTBOX_ROW_MAX) }, (_, n) =>
    events.slice(n * OUTBOX_ROW_MAX, (n + 1) * OUTBOX_ROW_MAX),
  )

function walletArguments(
  { arrays, walletIndexes }: Form,
  batch: Contents,
  all: readonly WalletOf[],
  written: readonly Written[],
): WalletArguments {
  const wallets = all.map(({ change }) => change)
  const cached = written.flatMap((one) => one.cached.balances)
  const holdings = new Map(batch.watch.map((holding) => [holding.userId, holding]))
  const cachedOf = new Map(cached.map((balance) => [balance.userId, balance]))
  const keyedOf = new Map(batch.keyed.map((one) => [one.userId, one]))
  assert(keyedOf.size === batch.keyed.length, 'a user has two keyed commands in one batch')
  const caches = wallets.map(({ userId, purse }) => (purse === 'main' ? cachedOf.get(userId) : undefined))
  const keyed = wallets.map((wallet) => inPurse(keyedOf.get(wallet.userId), wallet))
  const watched = wallets.map((wallet) => inPurse(holdings.get(wallet.userId), wallet))
  return {
    w_user: arrays.uuids(wallets.map((w) => w.userId)),
    w_purse: arrays.texts(wallets.map((w) => w.purse)),
    w_batch: arrays.integers(all.map((w) => w.of + 1)),
    w_log: arrays.integers(wallets.map((w) => walletIndexes.get(logOf(w)) ?? null)),
    w_balance: arrays.bigints(wallets.map((w) => w.balance)),
    w_margin: arrays.bigints(wallets.map((w) => w.margin)),
    w_open: arrays.integers(wallets.map((w) => w.open)),
    w_events: arrays.integers(wallets.map((w) => w.events)),
    w_held: arrays.integers(watched.map((holding) => holding?.openPositions ?? null)),
    w_worth: arrays.bigints(watched.map((holding) => holding?.unrealizedPnl ?? null)),
    w_cached: arrays.bigints(caches.map((c) => c?.balance ?? null)),
    w_cached_version: arrays.bigints(caches.map((c) => c?.version ?? null)),
    w_need: arrays.bigints(wallets.map((w) => w.need)),
    w_command: arrays.uuids(keyed.map((k) => k?.idempotency.id ?? null)),
    ...resultArguments(arrays, keyed),
  }
}

const inPurse = <T extends WalletKey<UserId>>(one: T | undefined, { purse }: WalletKey<UserId>): T | undefined =>
  one?.purse === purse ? one : undefined

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

function openedArguments(form: Form, batch: Contents, account: readonly AccountEvent[]): OpenedArguments {
  const { arrays } = form
  const opened = ofKind(batch, 'position_opened').map((event) => event.position)
  const answers = openingAnswers(batch)
  return {
    o_id: arrays.uuids(opened.map((p) => p.id)),
    o_wallet: arrays.integers(opened.map((p) => indexOf(form, p))),
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
function openingAnswers(batch: Contents): ReadonlyMap<string, OpeningAnswer> {
  const answers = new Map<string, OpeningAnswer>()
  for (const { idempotency, result } of batch.keyed) {
    if (result === null || 'refusal' in result || result.position.close !== null) continue
    assert(result.position.id === idempotency.id, 'a position opened under a key has the id of its command')
    const { price, exitPrice } = result
    answers.set(idempotency.id, { fingerprint: idempotency.fingerprint, price, exitPrice })
  }
  return answers
}

function changedArguments({ arrays }: Form, batch: Contents): ChangedArguments {
  const changed = lastChanges(batch)
  return {
    l_id: arrays.uuids(changed.map((p) => p.id)),
    l_lots: arrays.bigints(changed.map((p) => p.lots)),
    l_margin: arrays.bigints(changed.map((p) => p.margin)),
    l_stop: arrays.bigints(changed.map((p) => p.stopLoss)),
    l_take: arrays.bigints(changed.map((p) => p.takeProfit)),
    l_warned: arrays.smallints(changed.map((p) => p.warned)),
  }
}

/**
 * Each changed, reduced or warned position after its last change. One that the batch also closes keeps what it had at
 * its close.
 */
function lastChanges(batch: Contents): readonly Position[] {
  const changed = new Map<PositionId, Position>()
  for (const event of batch.events) {
    if (event.kind === 'levels_changed' || event.kind === 'margin_warned' || event.kind === 'position_split') {
      changed.set(event.position.id, event.position)
    }
  }
  return [...changed.values()]
}

function splitArguments(form: Form, batch: Contents, account: readonly AccountEvent[]): SplitArguments {
  const { arrays } = form
  const splits = ofKind(batch, 'position_split')
  return {
    q_id: arrays.uuids(splits.map(({ part }) => part.id)),
    q_of: arrays.uuids(splits.map(({ position }) => position.id)),
    q_wallet: arrays.integers(splits.map(({ part }) => indexOf(form, part))),
    q_lots: arrays.bigints(splits.map(({ part }) => part.lots)),
    q_margin: arrays.bigints(splits.map(({ part }) => part.margin)),
    q_followers: arrays.integers(account.filter((e) => e.isSplit).map((e) => e.followers)),
  }
}

function closedArguments(form: Form, batch: Contents, account: readonly AccountEvent[]): ClosedArguments {
  const { arrays } = form
  const closed = ofKind(batch, 'position_closed').map((event) => event.position)
  return {
    x_id: arrays.uuids(closed.map((p) => p.id)),
    x_wallet: arrays.integers(closed.map((p) => indexOf(form, p))),
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
    e_wallet: arrays.integers(account.map((e) => indexOf(form, logOf(e.position)))),
    e_followers: arrays.integers(account.map((e) => e.followers)),
    e_kind: arrays.texts(account.map((e) => e.kind)),
    e_position: arrays.uuids(account.map((e) => e.position.id)),
    e_stop: arrays.bigints(account.map((e) => e.position.stopLoss)),
    e_take: arrays.bigints(account.map((e) => e.position.takeProfit)),
    e_warned: arrays.smallints(account.map((e) => e.position.warned)),
  }
}

function instrumentArguments({ arrays }: Form, batch: Contents): InstrumentArguments {
  const moved = batch.instruments
  const listedIds = new Set(ofKind(batch, 'instrument_listed').map((event) => event.instrument.id))
  const listed = moved.filter((m) => listedIds.has(m.instrument.id)).map((m) => m.instrument)
  return {
    i_listed: listed.length === 0 ? null : JSON.stringify(listed),
    i_id: arrays.uuids(moved.map((m) => m.instrument.id)),
    i_base: arrays.bigints(moved.map((m) => m.instrument.base)),
    i_imbalance: arrays.bigints(moved.map((m) => m.instrument.imbalance)),
    i_price: arrays.bigints(moved.map((m) => m.price)),
    i_settlement: arrays.bigints(moved.map((m) => m.instrument.settlement)),
    i_cap: arrays.integers(moved.map((m) => m.instrument.impactCapPpm)),
    i_leaving: arrays.bigints(moved.map((m) => m.instrument.leavingFrom)),
    i_ended: arrays.bigints(moved.map((m) => m.instrument.endedImbalance)),
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
    t_why: ticks.every(({ reason }) => reason === undefined)
      ? NONE
      : arrays.texts(ticks.map(({ reason }) => (reason === undefined ? null : reasonText(reason)))),
  }
}

function tradeArguments({ arrays }: Form, all: readonly Written[]): TradeArguments {
  const each = all.map(({ batch }) => tradeEntriesOf(batch.events))
  const entries = each.flat()
  return {
    s_id: arrays.uuids(entries.map((entry) => entry.instrumentId)),
    s_batch: arrays.integers(each.flatMap((traded, of) => traded.map(() => of + 1))),
    s_lots: arrays.bigints(entries.map((entry) => entry.lots)),
    s_trades: arrays.texts(entries.map((entry) => entry.trades)),
  }
}

function matchArguments(batch: Contents): MatchArguments {
  const updated = ofKind(batch, 'match_updated').at(-1)
  return {
    m_info: updated === undefined ? null : JSON.stringify(updated.info),
    m_pricing: updated === undefined ? null : JSON.stringify(updated.pricing),
  }
}
