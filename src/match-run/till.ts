/** Wallets and trades in memory, behind the real match actor: what a run needs of a store, and no more. */
import { present } from '../../actors/kernel/assert.ts'
import type { InstrumentId, PositionId, UserId } from '../../actors/kernel/ids.ts'
import { type Money, money } from '../../actors/kernel/micros.ts'
import type { Instant } from '../../actors/kernel/world.ts'
import type { MatchEvent, WalletAfter } from '../../actors/match/messages.ts'
import type {
  Batch,
  CommitFailure,
  Holding,
  InstrumentHistory,
  MatchStore,
  Verdict,
  WalletFound,
} from '../../actors/match/store.ts'
import { baseMoveOf, type ClosedBy } from '../../actors/position/position.ts'
import { baseMoveShifted, type Lock } from '../../actors/position/recent-close.ts'

/** A position that has ended, as its owner's books show it. Amounts are in micros. */
export interface Trade {
  readonly account: UserId
  readonly margin: number
  readonly pnl: number
  /** What the match alone made of it, without the crowd. */
  readonly baseMove: number
  readonly closedBy: ClosedBy
  /** Its PnL was changed after it was closed. */
  readonly corrected: boolean
}

interface Wallet {
  balance: number
  margin: number
  open: number
  /** What late news may still take back, by key. */
  readonly locks: Map<string, Lock>
}

interface Change extends Wallet {
  /** The margins of what is opened: what is not locked must cover them. */
  need: number
}

export class Till implements MatchStore {
  readonly #histories: ReadonlyMap<InstrumentId, InstrumentHistory>
  readonly #balance: Money
  readonly #wallets = new Map<UserId, Wallet>()
  readonly #trades = new Map<PositionId, Trade>()

  /** Every user begins with this balance. */
  constructor(histories: ReadonlyMap<InstrumentId, InstrumentHistory>, balance: Money) {
    this.#histories = histories
    this.#balance = balance
  }

  /** What a user has, without the worth of open positions. `free` may still be spent on margins. */
  funds(user: UserId, at: Instant): { readonly balance: Money; readonly margin: Money; readonly free: Money } {
    const { balance, margin, locks } = this.#wallet(user)
    const locked = locks.size === 0 ? 0 : lockedAt(locks, at)
    return { balance: money(balance), margin: money(margin), free: money(Math.max(0, balance - locked)) }
  }

  get trades(): readonly Trade[] {
    return [...this.#trades.values()]
  }

  async load(): Promise<null> {
    return null
  }

  async recall(): Promise<null> {
    return null
  }

  async histories(): Promise<ReadonlyMap<InstrumentId, InstrumentHistory>> {
    return this.#histories
  }

  async commit(batch: Batch): Promise<Verdict> {
    const changes = new Map<UserId, Change>()
    const ended = new Map<PositionId, Trade>()
    for (const event of batch.events) this.#take(event, changes, ended)
    const failures = this.#failures(changes, batch)
    if (failures.length > 0) {
      const users = new Set([...changes.keys(), ...batch.watch.map(({ userId }) => userId)])
      return { kind: 'rejected', failures, wallets: Array.from(users, (user) => this.#found(user, batch.at)) }
    }
    for (const [user, { balance, margin, open, locks }] of changes) {
      const wallet = this.#wallet(user)
      wallet.balance += balance
      wallet.margin += margin
      wallet.open += open
      for (const [key, lock] of locks) {
        if (lock.amount > 0) wallet.locks.set(key, lock)
        else wallet.locks.delete(key)
      }
    }
    for (const [id, trade] of ended) this.#trades.set(id, trade)
    const wallets = batch.watch.map((holding) => [holding.userId, this.#walletBeside(holding, batch.at)] as const)
    return { kind: 'committed', wallets: new Map(wallets) }
  }

  #failures(changes: ReadonlyMap<UserId, Change>, batch: Batch): readonly CommitFailure[] {
    return [...changes].flatMap(([userId, { balance, open, need, locks }]): CommitFailure[] => {
      const wallet = this.#wallet(userId)
      const locked = lockedAt(new Map([...wallet.locks, ...locks]), batch.at)
      if (need > 0 && wallet.balance + balance < locked) {
        return [{ kind: 'insufficient_margin', userId, available: this.#found(userId, batch.at).available }]
      }
      return open > 0 && wallet.open + open > batch.openPositionsMax ? [{ kind: 'position_limit', userId }] : []
    })
  }

  #take(event: MatchEvent, changes: Map<UserId, Change>, ended: Map<PositionId, Trade>): void {
    if (event.kind === 'position_opened') {
      const { userId, margin } = event.position
      const own = changeOf(userId, changes)
      own.balance -= margin
      own.margin += margin
      own.need += margin
      own.open += 1
    } else if (event.kind === 'position_closed') {
      const { id, userId, margin, close } = event.position
      const own = changeOf(userId, changes)
      own.balance += margin + close.pnl
      own.margin -= margin
      own.open -= 1
      for (const lock of event.locks) own.locks.set(lock.key, lock)
      const baseMove = baseMoveOf(event.position, close.base)
      ended.set(id, { account: userId, margin, pnl: close.pnl, baseMove, closedBy: close.by, corrected: false })
    } else if (event.kind === 'close_corrected') {
      const { id, userId, close } = event.position
      const own = changeOf(userId, changes)
      own.balance += event.amount
      for (const lock of event.locks) own.locks.set(lock.key, lock)
      const before = present(ended.get(id) ?? this.#trades.get(id), 'close')
      const corrected = before.corrected || event.amount !== 0
      ended.set(id, {
        ...before,
        pnl: close.pnl,
        baseMove: baseMoveShifted(event.position, event.shift.after),
        corrected,
      })
    }
  }

  #walletBeside({ userId, unrealizedPnl }: Holding, at: Instant): WalletAfter {
    const { balance, margin, locks } = this.#wallet(userId)
    return { balance: money(balance), locked: lockedAt(locks, at), marginUsed: money(margin), unrealizedPnl }
  }

  #found(userId: UserId, at: Instant): WalletFound {
    const { balance, open, locks } = this.#wallet(userId)
    return { userId, purse: 'main', available: money(balance - lockedAt(locks, at)), openPositions: open }
  }

  #wallet(user: UserId): Wallet {
    if (!this.#wallets.has(user))
      this.#wallets.set(user, { balance: this.#balance, margin: 0, open: 0, locks: new Map() })
    return present(this.#wallets.get(user), 'wallet')
  }
}

function changeOf(user: UserId, changes: Map<UserId, Change>): Change {
  const own = changes.get(user) ?? { balance: 0, margin: 0, open: 0, need: 0, locks: new Map() }
  changes.set(user, own)
  return own
}

const lockedAt = (locks: ReadonlyMap<string, Lock>, at: Instant): Money =>
  money([...locks.values()].reduce((sum, { amount, until }) => sum + (until === null || until > at ? amount : 0), 0))
