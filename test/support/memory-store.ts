/**
 * MatchStore and Leases in memory, for the simulator and for rooms under test. It passes the same contract suite as the
 * databases, so what is learnt on it holds for them.
 */
import { assert, present } from '../../actors/kernel/assert.ts'
import type { FixtureId, InstrumentId, PositionId, UserId } from '../../actors/kernel/ids.ts'
import { type Money, money } from '../../actors/kernel/micros.ts'
import type { IdempotencyKey, MatchEvent, MatchInfo, PriceMoved, WalletAfter } from '../../actors/match/messages.ts'
import type {
  Batch,
  CommitFailure,
  Holding,
  InstrumentHistory,
  KeyedCommand,
  Leases,
  MatchRecord,
  MatchStore,
  StoredResult,
  Verdict,
} from '../../actors/match/store.ts'
import { exitPrice, type Instrument } from '../../actors/market/instrument.ts'
import type { PricingMemory } from '../../actors/market/pricing.ts'
import { exposureOf, type Position, realisedPnl } from '../../actors/position/position.ts'

interface Wallet {
  balance: number
  margin: number
  open: number
}

export interface LedgerEntry {
  readonly tx: string
  readonly account: 'house' | UserId
  readonly amount: number
  readonly reference: string
}

type Listed = { readonly instrument: Instrument; readonly price: Instrument['base']; readonly matchId: FixtureId }

export class MemoryMatchStore implements MatchStore, Leases {
  readonly ticks: PriceMoved[] = []
  readonly ledger: LedgerEntry[] = []
  readonly positions = new Map<PositionId, Position>()
  /** The position events of each user; the nth has marker n. */
  readonly accountEvents = new Map<UserId, { readonly kind: MatchEvent['kind']; readonly position: Position }[]>()
  readonly #infos = new Map<FixtureId, { info: MatchInfo; pricing: PricingMemory }>()
  readonly #instruments = new Map<InstrumentId, Listed>()
  readonly #wallets = new Map<UserId, Wallet>()
  readonly #results = new Map<string, { readonly userId: UserId; readonly stored: StoredResult }>()
  readonly #epochs = new Map<FixtureId, number>()

  /** Gives a new user a wallet, through the ledger. */
  grant(userId: UserId, amount: Money): void {
    assert(!this.#wallets.has(userId), `${userId} has a wallet`)
    this.#wallets.set(userId, { balance: amount, margin: 0, open: 0 })
    this.#book(`grant:${userId}`, [[userId, amount, `grant:${userId}`]])
  }

  /** Stores a match as if it had been committed. */
  put({ info, pricing, instruments, openPositions }: MatchRecord): void {
    this.#infos.set(info.matchId, { info, pricing })
    for (const one of instruments) {
      this.#instruments.set(one.id, { instrument: one, price: one.published, matchId: info.matchId })
    }
    for (const position of openPositions) this.positions.set(position.id, position)
  }

  /** Every lease is granted: the last process that asks owns the match. */
  async acquire(matchId: FixtureId): Promise<number | null> {
    const epoch = (this.#epochs.get(matchId) ?? 0) + 1
    this.#epochs.set(matchId, epoch)
    return epoch
  }

  async ownerOf(): Promise<null> {
    return null
  }

  async orphans(running: readonly FixtureId[]): Promise<readonly FixtureId[]> {
    const unsettled = [...this.#infos.values()].filter(({ info }) => info.settledAt === null)
    return unsettled.map(({ info }) => info.matchId).filter((matchId) => !running.includes(matchId))
  }

  async renew(matchId: FixtureId, epoch: number): Promise<boolean> {
    return this.#epochs.get(matchId) === epoch
  }

  async release(): Promise<void> {}

  async load(matchId: FixtureId): Promise<MatchRecord | null> {
    const match = this.#infos.get(matchId)
    if (match === undefined) return null
    return structuredClone({
      ...match,
      instruments: [...this.#instruments.values()].filter((i) => i.matchId === matchId).map((i) => i.instrument),
      openPositions: [...this.positions.values()].filter((p) => p.fixtureId === matchId && p.close === null),
    })
  }

  async histories(ids: readonly InstrumentId[]): Promise<ReadonlyMap<InstrumentId, InstrumentHistory>> {
    const known = ids.flatMap((id) => {
      const listed = this.#instruments.get(id)
      if (listed === undefined) return []
      const heldBy = this.#isOver(listed.matchId) ? null : listed.matchId
      return [[id, { last: listed.price, anchor: null, heldBy }]] as const
    })
    return new Map(known)
  }

  async recall(userId: UserId, idempotency: IdempotencyKey): Promise<StoredResult | null> {
    const held = this.#results.get(idempotency.id)
    return held?.userId === userId ? held.stored : null
  }

  async commit(batch: Batch): Promise<Verdict> {
    await Promise.resolve()
    if (this.#epochs.get(batch.matchId) !== batch.epoch) return { kind: 'fenced' }
    const changes = changesOf(batch)
    for (const event of batch.events) {
      if (event.kind === 'instrument_listed') {
        const held = this.#instruments.get(event.instrument.id)
        const isFree = held === undefined || held.matchId === batch.matchId || this.#isOver(held.matchId)
        assert(isFree, 'a listed instrument is held by another match')
      }
      if (event.kind === 'position_closed') assert(this.#closable(event.position, batch), 'closes what is not open')
    }
    const failures = this.#failures(batch, changes)
    if (failures.length > 0) return { kind: 'rejected', failures }
    this.#write(structuredClone(batch), changes)
    const wallets = batch.watch.map((holding) => [holding.userId, this.#walletBeside(holding)] as const)
    return { kind: 'committed', wallets: new Map(wallets) }
  }

  walletOf(userId: UserId): WalletAfter {
    const wallet = this.#wallet(userId)
    let unrealized = 0
    for (const p of this.positions.values()) {
      const listed = this.#instruments.get(p.instrumentId)
      if (p.userId !== userId || p.close !== null || listed === undefined) continue
      unrealized += realisedPnl(p, exitPrice(listed.instrument, exposureOf(p)))
    }
    return { balance: money(wallet.balance), marginUsed: money(wallet.margin), unrealizedPnl: money(unrealized) }
  }

  /** A real store trusts a match's own value of the user's positions in it; this one checks it. */
  #walletBeside({ userId, openPositions, unrealizedPnl }: Holding): WalletAfter {
    const wallet = this.walletOf(userId)
    if (openPositions === this.#wallet(userId).open) {
      assert(unrealizedPnl === wallet.unrealizedPnl, `the match values the positions of ${userId} at ${unrealizedPnl}`)
    }
    return wallet
  }

  #wallet(userId: UserId): Wallet {
    return present(this.#wallets.get(userId), `wallet of ${userId}`)
  }

  #isOver(matchId: FixtureId): boolean {
    return (this.#infos.get(matchId)?.info.settledAt ?? null) !== null
  }

  #closable({ id }: Position, batch: Batch): boolean {
    if (batch.events.some((event) => event.kind === 'position_opened' && event.position.id === id)) return true
    return this.positions.get(id)?.close === null
  }

  #failures(batch: Batch, changes: Map<UserId, Wallet>): CommitFailure[] {
    const failures = new Map<UserId, CommitFailure>()
    for (const { userId, idempotency } of batch.keyed) {
      const held = this.#results.get(idempotency.id)
      if (held !== undefined) failures.set(userId, { kind: 'key_used', userId, stored: held.stored })
    }
    for (const [userId, change] of changes) {
      const wallet = this.#wallets.get(userId) ?? { balance: 0, margin: 0, open: 0 }
      if (failures.has(userId)) continue
      if (change.balance < 0 && wallet.balance + change.balance < 0) {
        failures.set(userId, { kind: 'insufficient_margin', userId, available: money(wallet.balance) })
      } else if (change.open > 0 && wallet.open + change.open > batch.openPositionsMax) {
        failures.set(userId, { kind: 'position_limit', userId })
      }
    }
    return [...failures.values()]
  }

  #write(batch: Batch, changes: Map<UserId, Wallet>): void {
    for (const [userId, change] of changes) {
      const wallet = this.#wallet(userId)
      wallet.balance += change.balance
      wallet.margin += change.margin
      wallet.open += change.open
    }
    const entries: [UserId, number, string][] = []
    for (const event of batch.events) {
      if ('position' in event) {
        const { userId } = event.position
        this.accountEvents.set(userId, [...(this.accountEvents.get(userId) ?? []), event])
      }
      if (event.kind === 'match_updated') {
        this.#infos.set(batch.matchId, { info: event.info, pricing: event.pricing })
      } else if (event.kind === 'position_opened') {
        const { position } = event
        assert(!this.positions.has(position.id), `position ${position.id} is there already`)
        this.positions.set(position.id, position)
        entries.push([position.userId, -position.margin, `open:${position.id}`])
      } else if (
        event.kind === 'levels_changed' ||
        event.kind === 'margin_warned' ||
        event.kind === 'position_closed'
      ) {
        this.#change(event.position)
        if (event.kind === 'position_closed') {
          const { position } = event
          entries.push([position.userId, position.margin + position.close.pnl, `close:${position.id}`])
        }
      }
    }
    if (entries.length > 0) this.#book(`batch:${batch.id}`, entries)
    for (const { instrument, price } of batch.instruments) {
      this.#instruments.set(instrument.id, {
        instrument: { ...instrument, published: price },
        price,
        matchId: batch.matchId,
      })
    }
    this.ticks.push(...batch.ticks)
    for (const keyed of batch.keyed) this.#remember(keyed)
  }

  #change(position: Position): void {
    const before = present(this.positions.get(position.id), `position ${position.id}`)
    assert(before.close === null, `position ${position.id} is closed`)
    this.positions.set(position.id, position)
  }

  #remember({ userId, idempotency, result }: KeyedCommand): void {
    if (result === null) return
    const { id, fingerprint } = idempotency
    this.#results.set(id, {
      userId,
      stored: { fingerprint, result: structuredClone(result), wallet: this.walletOf(userId) },
    })
  }

  #book(tx: string, entries: readonly (readonly [UserId, number, string])[]): void {
    let house = 0
    for (const [account, amount, reference] of entries) {
      assert(!this.ledger.some((e) => e.reference === reference), `${reference} is booked twice`)
      this.ledger.push({ tx, account, amount, reference })
      house -= amount
    }
    this.ledger.push({ tx, account: 'house', amount: house, reference: tx })
  }

  /** Σ of all entries, and the users whose balance is not the sum of theirs. Zero and empty when the books balance. */
  audit(): { readonly imbalance: number; readonly mismatched: readonly UserId[] } {
    const sums = new Map<string, number>()
    for (const { account, amount } of this.ledger) sums.set(account, (sums.get(account) ?? 0) + amount)
    return {
      imbalance: [...sums.values()].reduce((a, b) => a + b, 0),
      mismatched: [...this.#wallets].filter(([user, w]) => w.balance !== sums.get(user)).map(([user]) => user),
    }
  }
}

function changesOf(batch: Batch): Map<UserId, Wallet> {
  const changes = new Map<UserId, Wallet>()
  const add = (user: UserId, balance: number, margin: number, open: number): void => {
    const change = changes.get(user) ?? { balance: 0, margin: 0, open: 0 }
    changes.set(user, {
      balance: change.balance + balance,
      margin: change.margin + margin,
      open: change.open + open,
    })
  }
  for (const event of batch.events) {
    if (event.kind === 'position_opened') {
      add(event.position.userId, -event.position.margin, event.position.margin, 1)
    } else if (event.kind === 'position_closed') {
      const { userId, margin, close } = event.position
      add(userId, margin + close.pnl, -margin, -1)
    }
  }
  return changes
}
