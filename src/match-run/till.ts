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
import { baseMoveOf, type ClosedBy, type Position } from '../../actors/position/position.ts'

/** A position that has ended, as its owner's books show it. Amounts are in micros. */
export interface Trade {
  readonly account: UserId
  readonly margin: number
  readonly pnl: number
  /** What the match alone made of it, without the crowd. */
  readonly baseMove: number
  readonly closedBy: ClosedBy
  /** How many of its two fills news has moved in the end: what is taken back in full has moved nothing. */
  readonly moves: number
}

function movedFills({ moved = [] }: Position): number {
  const by = { open: 0, close: 0 }
  for (const move of moved) by[move.fill] += move.by
  return Number(by.open !== 0) + Number(by.close !== 0)
}

interface Wallet {
  balance: number
  margin: number
  open: number
}

interface Change extends Wallet {
  /** The margins of what is opened: the balance must cover them. */
  need: number
}

export class Till implements MatchStore {
  readonly #histories: ReadonlyMap<InstrumentId, InstrumentHistory>
  readonly #balance: Money
  readonly #wallets = new Map<UserId, Wallet>()
  readonly #trades = new Map<PositionId, Trade>()
  /** Protection: what closes have paid that opens nothing yet. */
  readonly #held = new Map<PositionId, { readonly user: UserId; readonly amount: number; readonly until: Instant }>()

  /** Every user begins with this balance. */
  constructor(histories: ReadonlyMap<InstrumentId, InstrumentHistory>, balance: Money) {
    this.#histories = histories
    this.#balance = balance
  }

  /** What a user has, without the worth of open positions. `free` may be spent on margins. */
  funds(user: UserId, at: Instant): { readonly balance: Money; readonly margin: Money; readonly free: Money } {
    const { balance, margin } = this.#wallet(user)
    return { balance: money(balance), margin: money(margin), free: money(this.#free(user, at)) }
  }

  #free(user: UserId, at: Instant): number {
    let held = 0
    for (const [id, one] of this.#held) {
      if (one.until <= at) this.#held.delete(id)
      else if (one.user === user) held += one.amount
    }
    return Math.max(0, this.#wallet(user).balance - held)
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
    for (const [user, { balance, margin, open }] of changes) {
      const wallet = this.#wallet(user)
      wallet.balance += balance
      wallet.margin += margin
      wallet.open += open
    }
    for (const [id, trade] of ended) this.#trades.set(id, trade)
    for (const event of batch.events) this.#hold(event)
    const wallets = batch.watch.map((holding) => [holding.userId, this.#walletBeside(holding)] as const)
    return { kind: 'committed', wallets: new Map(wallets) }
  }

  #failures(changes: ReadonlyMap<UserId, Change>, batch: Batch): readonly CommitFailure[] {
    return [...changes].flatMap(([userId, { balance, open, need }]): CommitFailure[] => {
      const wallet = this.#wallet(userId)
      const free = this.#free(userId, batch.at)
      if (need > 0 && free + balance < 0) {
        return [{ kind: 'insufficient_margin', userId, available: money(free) }]
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
    } else if (event.kind === 'position_split') {
      changeOf(event.part.userId, changes).open += 1
    } else if (event.kind === 'position_closed') {
      const { id, userId, margin, close } = event.position
      const own = changeOf(userId, changes)
      own.balance += margin + close.pnl
      own.margin -= margin
      own.open -= 1
      const baseMove = baseMoveOf(event.position, close.base)
      ended.set(id, {
        account: userId,
        margin,
        pnl: close.pnl,
        baseMove,
        closedBy: close.by,
        moves: movedFills(event.position),
      })
    } else if (event.kind === 'fill_moved' && event.position.close !== null) {
      const { id, userId, close } = event.position
      changeOf(userId, changes).balance += event.amount
      const before = present(ended.get(id) ?? this.#trades.get(id), 'close')
      const baseMove = baseMoveOf(event.position, close.base)
      ended.set(id, { ...before, pnl: close.pnl, baseMove, moves: movedFills(event.position) })
    }
  }

  #hold(event: MatchEvent): void {
    if (event.kind !== 'position_closed' && event.kind !== 'fill_moved') return
    const { position, movableUntil: until } = event
    if (position.close === null || until === null || until === undefined) return
    const amount = position.margin + position.close.pnl
    this.#held.set(position.id, { user: position.userId, amount, until })
  }

  #walletBeside({ userId, unrealizedPnl }: Holding): WalletAfter {
    const { balance, margin } = this.#wallet(userId)
    return { balance: money(balance), marginUsed: money(margin), unrealizedPnl }
  }

  #found(userId: UserId, at: Instant): WalletFound {
    const { open } = this.#wallet(userId)
    return { userId, purse: 'main', available: money(this.#free(userId, at)), openPositions: open }
  }

  #wallet(user: UserId): Wallet {
    if (!this.#wallets.has(user)) this.#wallets.set(user, { balance: this.#balance, margin: 0, open: 0 })
    return present(this.#wallets.get(user), 'wallet')
  }
}

function changeOf(user: UserId, changes: Map<UserId, Change>): Change {
  const own = changes.get(user) ?? { balance: 0, margin: 0, open: 0, need: 0 }
  changes.set(user, own)
  return own
}
