/** Wallets and trades in memory, behind the real match actor: what the battery needs of a store, and no more. */
import { present } from '../../../actors/kernel/assert.ts'
import type { InstrumentId, PositionId, UserId } from '../../../actors/kernel/ids.ts'
import { type Money, money, MICROS_PER_UNIT } from '../../../actors/kernel/micros.ts'
import type { MatchEvent, WalletAfter } from '../../../actors/match/messages.ts'
import type {
  Batch,
  CommitFailure,
  Holding,
  InstrumentHistory,
  MatchStore,
  Verdict,
  WalletFound,
} from '../../../actors/match/store.ts'
import { baseMoveOf, type ClosedBy, type Position } from '../../../actors/position/position.ts'

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

/** Nobody in the battery runs out of money by accident: what a strategy earns is measured on margin. */
const BALANCE: Money = money(100_000_000 * MICROS_PER_UNIT)

type PositionEvent = Extract<MatchEvent, { position: Position }>

interface Wallet {
  balance: number
  margin: number
  open: number
}

export class Till implements MatchStore {
  readonly #histories: ReadonlyMap<InstrumentId, InstrumentHistory>
  readonly #wallets = new Map<UserId, Wallet>()
  readonly #trades = new Map<PositionId, Trade>()

  constructor(histories: ReadonlyMap<InstrumentId, InstrumentHistory>) {
    this.#histories = histories
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
    const changes = new Map<UserId, Wallet>()
    const ended = new Map<PositionId, Trade>()
    for (const event of batch.events) if ('position' in event) this.#take(event, changes, ended)
    const failures = this.#failures(changes, batch.openPositionsMax)
    if (failures.length > 0) {
      const users = new Set([...changes.keys(), ...batch.watch.map(({ userId }) => userId)])
      return { kind: 'rejected', failures, wallets: Array.from(users, (user) => this.#found(user)) }
    }
    for (const [user, { balance, margin, open }] of changes) {
      const wallet = this.#wallet(user)
      wallet.balance += balance
      wallet.margin += margin
      wallet.open += open
    }
    for (const [id, trade] of ended) this.#trades.set(id, trade)
    const wallets = batch.watch.map((holding) => [holding.userId, this.#walletBeside(holding)] as const)
    return { kind: 'committed', wallets: new Map(wallets) }
  }

  #failures(changes: ReadonlyMap<UserId, Wallet>, most: number): readonly CommitFailure[] {
    return [...changes].flatMap(([userId, { balance, open }]): CommitFailure[] => {
      const wallet = this.#wallet(userId)
      if (balance < 0 && wallet.balance + balance < 0) {
        return [{ kind: 'insufficient_margin', userId, available: money(wallet.balance) }]
      }
      return open > 0 && wallet.open + open > most ? [{ kind: 'position_limit', userId }] : []
    })
  }

  /** A close that is told of again was corrected: by news, so its base move is another too. */
  #take(event: PositionEvent, changes: Map<UserId, Wallet>, ended: Map<PositionId, Trade>): void {
    const { userId, margin, close, id } = event.position
    const own = changes.get(userId) ?? { balance: 0, margin: 0, open: 0 }
    changes.set(userId, own)
    if (event.kind === 'position_opened') {
      own.balance -= margin
      own.margin += margin
      own.open += 1
    }
    if (close === null) return
    const { pnl, base, by: closedBy } = close
    const before = ended.get(id) ?? this.#trades.get(id)
    if (before === undefined) {
      own.balance += margin + pnl
      own.margin -= margin
      own.open -= 1
      const baseMove = baseMoveOf(event.position, base)
      ended.set(id, { account: userId, margin, pnl, baseMove, closedBy, corrected: false })
      return
    }
    const by = pnl - before.pnl
    own.balance += by
    const corrected = before.corrected || by !== 0
    ended.set(id, { ...before, pnl, baseMove: before.baseMove + by, corrected })
  }

  #walletBeside({ userId, unrealizedPnl }: Holding): WalletAfter {
    const { balance, margin } = this.#wallet(userId)
    // Each account trades once in a while: nobody is refused for what is locked.
    return { balance: money(balance), locked: money(0), marginUsed: money(margin), unrealizedPnl }
  }

  #found(userId: UserId): WalletFound {
    const { balance, open } = this.#wallet(userId)
    return { userId, purse: 'main', available: money(balance), openPositions: open }
  }

  #wallet(user: UserId): Wallet {
    if (!this.#wallets.has(user)) this.#wallets.set(user, { balance: BALANCE, margin: 0, open: 0 })
    return present(this.#wallets.get(user), 'wallet')
  }
}
