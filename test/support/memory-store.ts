import { quarantined, rescuedInfo } from '../../actors/match/quarantine.ts'
/**
 * MatchStore and Leases in memory, for the simulator and for rooms under test. It passes the same contract suite as the
 * databases, so what is learnt on it holds for them.
 */
import { assert, present } from '../../actors/kernel/assert.ts'
import type { FixtureId, InstrumentId, LeagueId, PositionId, UserId } from '../../actors/kernel/ids.ts'
import { type Money, money, price as priceOf } from '../../actors/kernel/micros.ts'
import { type Purse, PURSES, type WalletKey } from '../../actors/kernel/purse.ts'
import type {
  FillMoved,
  IdempotencyKey,
  MatchEvent,
  MatchInfo,
  PriceMoved,
  WalletAfter,
} from '../../actors/match/messages.ts'
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
  WalletFound,
} from '../../actors/match/store.ts'
import { type Instrument, type PastMatches } from '../../actors/market/instrument.ts'
import type { PricingMemory } from '../../actors/market/pricing.ts'
import type { Instant } from '../../actors/kernel/world.ts'
import { closingFill } from '../../actors/position/fills.ts'
import { byAge, type Position, realisedPnl } from '../../actors/position/position.ts'

interface Wallet {
  balance: number
  margin: number
  open: number
}

interface Change extends Wallet, WalletKey<UserId> {
  /** The margins of what the batch opens. */
  need: number
  /** Protection: what its closes pay and news may move. */
  held: number
}

export interface LedgerEntry {
  readonly tx: string
  readonly account: 'house' | UserId
  readonly purse: Purse
  readonly amount: number
  readonly reference: string
}

/** A wallet as the key of a map. */
type WalletName = `${Purse} ${UserId}`
const nameOf = ({ userId, purse }: WalletKey<UserId>): WalletName => `${purse} ${userId}`

type Listed = { readonly instrument: Instrument; readonly price: Instrument['base']; readonly matchId: FixtureId }

export class MemoryMatchStore implements MatchStore, Leases {
  readonly ticks: PriceMoved[] = []
  readonly ledger: LedgerEntry[] = []
  readonly positions = new Map<PositionId, Position>()
  /** The position events of each user; the nth has marker n. */
  readonly accountEvents = new Map<UserId, { readonly kind: MatchEvent['kind']; readonly position: Position }[]>()
  readonly #infos = new Map<FixtureId, { info: MatchInfo; pricing: PricingMemory }>()
  readonly #instruments = new Map<InstrumentId, Listed>()
  readonly #past = new Map<InstrumentId, PastMatches>()
  /** Protection: until when news may move a close. */
  readonly #movable = new Map<PositionId, Instant>()
  readonly #wallets = new Map<WalletName, Wallet>()
  readonly #results = new Map<string, { readonly userId: UserId; readonly stored: StoredResult }>()
  readonly #epochs = new Map<FixtureId, number>()

  /** Gives a new user a wallet in each purse that all have, through the ledger. */
  grant(userId: UserId, amount: Money): void {
    this.#grant(userId, amount, PURSES)
  }

  /** Gives a user a wallet in a league. */
  join(userId: UserId, amount: Money, league: LeagueId): void {
    this.#grant(userId, amount, [league])
  }

  #grant(userId: UserId, amount: Money, purses: readonly Purse[]): void {
    for (const purse of purses) {
      const wallet = { userId, purse }
      assert(!this.#wallets.has(nameOf(wallet)), `${userId} has a wallet`)
      this.#wallets.set(nameOf(wallet), { balance: amount, margin: 0, open: 0 })
      const reference = `grant:${nameOf(wallet)}`
      this.#book(reference, [{ ...wallet, amount, reference }])
    }
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

  async elsewhere(): Promise<readonly FixtureId[]> {
    return []
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
      instruments: [...this.#instruments.values()]
        .filter((i) => i.matchId === matchId)
        .map((i) => i.instrument)
        .toSorted((a, b) => (a.id < b.id ? -1 : 1)),
      openPositions: [...this.positions.values()]
        .filter((p) => p.fixtureId === matchId && p.close === null)
        .toSorted(byAge),
      movableCloses: [...this.#movable].flatMap(([id, until]) => {
        const position = present(this.positions.get(id), `position ${id}`)
        const { close } = position
        return close === null || position.fixtureId !== matchId ? [] : [{ position: { ...position, close }, until }]
      }),
    })
  }

  async quarantine(matchId: FixtureId, reason: string): Promise<MatchRecord | null> {
    const record = await this.load(matchId)
    if (record === null) return null
    return quarantined(rescuedInfo(record.info, record.info, reason), record.instruments, record.openPositions)
  }

  async histories(ids: readonly InstrumentId[]): Promise<ReadonlyMap<InstrumentId, InstrumentHistory>> {
    const known = ids.flatMap((id) => {
      const listed = this.#instruments.get(id)
      if (listed === undefined) return []
      const heldBy = this.#isOver(listed.matchId) ? null : listed.matchId
      return [[id, { last: listed.price, anchor: null, past: this.#past.get(id) ?? null, heldBy }]] as const
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
      if (event.kind === 'position_closed' || event.kind === 'position_split') {
        assert(this.#closable(event.position, batch), 'closes what is not open')
      }
    }
    const failures = this.#failures(batch, changes)
    if (failures.length > 0) return { kind: 'rejected', failures, wallets: this.#found(batch, changes) }
    this.#write(structuredClone(batch), changes)
    const wallets = batch.watch.map((holding) => [holding.userId, this.#walletBeside(holding, batch)] as const)
    return { kind: 'committed', wallets: new Map(wallets) }
  }

  /** `at`: the instant at which protection holds back what closes have paid; absent without it. */
  walletOf(userId: UserId, purse: Purse = 'main', at?: Instant): WalletAfter {
    const wallet = this.#wallet({ userId, purse })
    let unrealized = 0
    for (const p of this.positions.values()) {
      const listed = this.#instruments.get(p.instrumentId)
      if (p.userId !== userId || p.purse !== purse || p.close !== null || listed === undefined) continue
      unrealized += realisedPnl(p, closingFill(listed.instrument, p))
    }
    return {
      balance: money(wallet.balance),
      ...(at === undefined ? {} : { locked: this.#lockedOf({ userId, purse }, at) }),
      marginUsed: money(wallet.margin),
      unrealizedPnl: money(unrealized),
    }
  }

  /** A real store trusts a match's own value of the user's positions in it; this one checks it. */
  #walletBeside({ userId, purse, openPositions, unrealizedPnl }: Holding, batch: Batch): WalletAfter {
    const wallet = this.walletOf(userId, purse, batch.protected === true ? batch.at : undefined)
    if (openPositions === this.#wallet({ userId, purse }).open) {
      assert(unrealizedPnl === wallet.unrealizedPnl, `the match values the positions of ${userId} at ${unrealizedPnl}`)
    }
    return wallet
  }

  /** What closes have paid that news may still move. */
  #lockedOf({ userId, purse }: WalletKey<UserId>, at: Instant): Money {
    let locked = 0
    for (const [id, until] of this.#movable) {
      const { close, margin, ...of } = present(this.positions.get(id), `position ${id}`)
      const isOver = (this.#infos.get(of.fixtureId)?.info.settling ?? null) !== null
      if (of.userId === userId && of.purse === purse && close !== null && until > at && !isOver) {
        locked += margin + close.pnl
      }
    }
    return money(locked)
  }

  #wallet(wallet: WalletKey<UserId>): Wallet {
    return present(this.#wallets.get(nameOf(wallet)), `wallet of ${wallet.userId}`)
  }

  #isOver(matchId: FixtureId): boolean {
    return (this.#infos.get(matchId)?.info.settledAt ?? null) !== null
  }

  #closable({ id }: Position, batch: Batch): boolean {
    if (batch.events.some((event) => isMade(event, id))) return true
    return this.positions.get(id)?.close === null
  }

  #failures(batch: Batch, changes: ReadonlyMap<WalletName, Change>): CommitFailure[] {
    const failures = new Map<UserId, CommitFailure>()
    for (const { userId, idempotency } of batch.keyed) {
      const held = this.#results.get(idempotency.id)
      if (held !== undefined) failures.set(userId, { kind: 'key_used', userId, stored: held.stored })
    }
    for (const [name, change] of changes) {
      const { userId } = change
      const wallet = this.#wallets.get(name) ?? { balance: 0, margin: 0, open: 0 }
      if (failures.has(userId)) continue
      const locked = batch.protected === true ? this.#lockedOf(change, batch.at) : 0
      if (change.need > 0 && wallet.balance + change.balance < locked + change.held) {
        const available = money(Math.max(0, wallet.balance - locked))
        failures.set(userId, { kind: 'insufficient_margin', userId, available })
      } else if (change.open > 0 && wallet.open + change.open > batch.openPositionsMax) {
        failures.set(userId, { kind: 'position_limit', userId })
      }
    }
    return [...failures.values()]
  }

  #found(batch: Batch, changes: ReadonlyMap<WalletName, Change>): WalletFound[] {
    const names = new Map<WalletName, WalletKey<UserId>>(changes)
    for (const holding of batch.watch) names.set(nameOf(holding), holding)
    return [...names].map(([name, { userId, purse }]) => {
      const wallet = this.#wallets.get(name)
      const locked = batch.protected === true ? this.#lockedOf({ userId, purse }, batch.at) : 0
      const available = money((wallet?.balance ?? 0) - locked)
      return { userId, purse, available, openPositions: wallet?.open ?? 0 }
    })
  }

  #write(batch: Batch, changes: ReadonlyMap<WalletName, Change>): void {
    for (const change of changes.values()) {
      const wallet = this.#wallet(change)
      wallet.balance += change.balance
      wallet.margin += change.margin
      wallet.open += change.open
    }
    const entries: Entry[] = []
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
        entries.push({ ...ownerOf(position), amount: -position.margin, reference: `open:${position.id}` })
      } else if (event.kind === 'position_split') {
        this.#change(event.position)
        assert(!this.positions.has(event.part.id), `position ${event.part.id} is there already`)
        this.positions.set(event.part.id, event.part)
      } else if (
        event.kind === 'levels_changed' ||
        event.kind === 'margin_warned' ||
        event.kind === 'position_closed'
      ) {
        this.#change(event.position)
        if (event.kind === 'position_closed') {
          const { position } = event
          const amount = position.margin + position.close.pnl
          entries.push({ ...ownerOf(position), amount, reference: `close:${position.id}` })
          if (event.movableUntil !== undefined) this.#movable.set(position.id, event.movableUntil)
        }
      } else if (event.kind === 'fill_moved') {
        const { position, amount, movableUntil, rest } = event
        this.positions.set(position.id, position)
        if (rest !== undefined) this.#change(rest)
        if (movableUntil !== null) this.#movable.set(position.id, movableUntil)
        if (amount !== 0) {
          entries.push({
            ...ownerOf(position),
            amount,
            reference: `moved:${position.id}:${this.ledger.length + entries.length}`,
          })
        }
      } else if (event.kind === 'close_forgotten') this.#movable.delete(event.positionId)
    }
    if (entries.length > 0) this.#book(`batch:${batch.id}`, entries)
    for (const { instrument, price } of batch.instruments) {
      this.#instruments.set(instrument.id, {
        instrument: { ...instrument, published: price },
        price,
        matchId: batch.matchId,
      })
    }
    this.#rememberMatch(batch)
    this.ticks.push(...batch.ticks)
    for (const keyed of batch.keyed) this.#remember(keyed, batch)
  }

  /** Full time of a live match: what those who took part in it were worth. */
  #rememberMatch({ events, instruments }: Batch): void {
    const whistled = events.some(
      ({ kind, ...event }) =>
        kind === 'match_updated' && 'info' in event && event.info.settling === 'full_time' && !event.info.replay,
    )
    if (!whistled) return
    for (const event of events) {
      const settled = instruments.find(
        ({ instrument }) => event.kind === 'instrument_settled' && instrument.id === event.instrumentId,
      )?.instrument
      if (settled === undefined || settled.base === settled.start) continue
      const { matches, mean } = this.#past.get(settled.id) ?? { matches: 0, mean: 0 }
      this.#past.set(settled.id, {
        matches: matches + 1,
        mean: priceOf(Math.round((matches * mean + settled.base) / (matches + 1))),
      })
    }
  }

  #change(position: Position): void {
    const before = present(this.positions.get(position.id), `position ${position.id}`)
    assert(before.close === null, `position ${position.id} is closed`)
    this.positions.set(position.id, position)
  }

  #remember({ userId, purse, idempotency, result }: KeyedCommand, { protected: isProtected, at }: Batch): void {
    if (result === null) return
    const { id, fingerprint } = idempotency
    this.#results.set(id, {
      userId,
      stored: {
        fingerprint,
        result: structuredClone(result),
        wallet: this.walletOf(userId, purse, isProtected === true ? at : undefined),
      },
    })
  }

  #book(tx: string, entries: readonly Entry[]): void {
    const house = new Map<Purse, number>()
    for (const { userId: account, purse, amount, reference } of entries) {
      assert(!this.ledger.some((e) => e.reference === reference), `${reference} is booked twice`)
      this.ledger.push({ tx, account, purse, amount, reference })
      house.set(purse, (house.get(purse) ?? 0) - amount)
    }
    for (const [purse, amount] of house) this.ledger.push({ tx, account: 'house', purse, amount, reference: tx })
  }

  /**
   * Σ of all entries, and the wallets whose balance is not the sum of theirs. Zero and empty when the books balance. An
   * imbalance of one purse counts, even where another makes up for it.
   */
  audit(): { readonly imbalance: number; readonly mismatched: readonly string[] } {
    const [inPurse, inWallet] = [new Map<Purse, number>(), new Map<string, number>()]
    for (const { account, purse, amount } of this.ledger) {
      inPurse.set(purse, (inPurse.get(purse) ?? 0) + amount)
      inWallet.set(`${purse} ${account}`, (inWallet.get(`${purse} ${account}`) ?? 0) + amount)
    }
    return {
      imbalance: [...inPurse.values()].reduce((a, b) => a + Math.abs(b), 0),
      mismatched: [...this.#wallets].filter(([name, w]) => w.balance !== inWallet.get(name)).map(([name]) => name),
    }
  }
}

/** Whether an event makes a position of this id. */
const isMade = (event: MatchEvent, id: PositionId): boolean =>
  (event.kind === 'position_opened' && event.position.id === id) ||
  (event.kind === 'position_split' && event.part.id === id)

type Entry = WalletKey<UserId> & Pick<LedgerEntry, 'amount' | 'reference'>

const ownerOf = ({ userId, purse }: Position): WalletKey<UserId> => ({ userId, purse })

/** Protection: how much more of what a close has paid is held back, now that news has moved it. */
function heldMore({ position, before, movableUntil }: FillMoved, at: Instant): number {
  if (position.close === null || before.close === null) return 0
  const now = movableUntil !== null && movableUntil > at ? position.margin + position.close.pnl : 0
  return now - (before.margin + before.close.pnl)
}

function changesOf(batch: Batch): Map<WalletName, Change> {
  const changes = new Map<WalletName, Change>()
  const add = (of: Position, balance: number, margin: number, open: number, held = 0): void => {
    const change = changes.get(nameOf(of)) ?? { balance: 0, margin: 0, open: 0, need: 0, held: 0 }
    changes.set(nameOf(of), {
      ...ownerOf(of),
      balance: change.balance + balance,
      margin: change.margin + margin,
      open: change.open + open,
      need: change.need + Math.max(0, margin),
      held: change.held + held,
    })
  }
  for (const event of batch.events) {
    if (event.kind === 'position_opened') {
      add(event.position, -event.position.margin, event.position.margin, 1)
    } else if (event.kind === 'position_split') {
      add(event.part, 0, 0, 1)
    } else if (event.kind === 'position_closed') {
      const { margin, close } = event.position
      const held = event.movableUntil === undefined ? 0 : margin + close.pnl
      add(event.position, margin + close.pnl, -margin, -1, held)
    } else if (event.kind === 'fill_moved') add(event.position, event.amount, 0, 0, heldMore(event, batch.at))
  }
  return changes
}
