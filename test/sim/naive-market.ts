/**
 * The market once more, as a reader of the rules would write it down: one player, every position looked at every time,
 * nothing kept sorted, nothing remembered. It shares no code with the game, and its arithmetic with the simulator, so
 * that where the two disagree one of them is wrong.
 */
import type { PositionId, UserId } from '../../actors/kernel/ids.ts'
import type { TradingRules } from '../../actors/kernel/limits.ts'
import type { OpenPosition } from '../../actors/match/messages.ts'
import type { ClosedBy, Position } from '../../actors/position/position.ts'
import * as oracle from './oracle.ts'

export type NaivePosition = Pick<
  Position,
  'id' | 'userId' | 'direction' | 'lots' | 'openPrice' | 'margin' | 'closableAt' | 'stopLoss' | 'takeProfit' | 'warned'
> & { readonly close: { readonly price: number; readonly pnl: number; readonly by: ClosedBy } | null }

type Levels = Pick<Position, 'stopLoss' | 'takeProfit'>

export class NaiveMarket {
  positions = new Map<PositionId, NaivePosition>()
  wallets = new Map<UserId, number>()
  base: number
  /** The price that subscribers last received. */
  published: number
  /** The price at which everybody leaves, once full time is shown. */
  #ended: number | null = null
  readonly #k0: number
  #rules: TradingRules

  constructor(base: number, k0: number, rules: TradingRules) {
    this.base = base
    this.published = base
    this.#k0 = k0
    this.#rules = rules
  }

  get open(): NaivePosition[] {
    return [...this.positions.values()].filter((position) => position.close === null)
  }

  get imbalance(): number {
    return this.open.reduce((sum, position) => sum + exposureOf(position), 0)
  }

  /** The published price, which stands still once full time is shown. */
  get price(): number {
    return this.#ended ?? oracle.oraclePrice(this.#market, this.imbalance)
  }

  /** What closing this position alone would fill at. */
  exitOf(position: Pick<NaivePosition, 'direction' | 'lots'>): number {
    return this.#ended ?? this.#leaving(exposureOf(position))
  }

  place(order: OpenPosition, id: PositionId, at: number): string | null {
    const { lots, direction, userId, stopLoss, takeProfit } = order
    const { priceGuardPpm, openPositionsMax, holdMs } = this.#rules
    if (this.#ended !== null) return 'market_closed'
    if (!oracle.oracleLots(lots, this.#rules)) return 'lot_size_invalid'
    if (!oracle.oracleGuard(order.clientPrice, this.published, priceGuardPpm)) return 'price_moved'
    const before = this.imbalance
    const after = before + exposureOf(order)
    const fill = oracle.oracleMean(this.#market, after, before)
    if (!oracle.oracleLevels(order, oracle.oraclePrice(this.#market, after))) return 'levels_invalid'
    const margin = oracle.oracleMargin(fill, lots)
    const held = this.open.filter((position) => position.userId === userId).length
    const past = { positions: new Map(this.positions), wallets: new Map(this.wallets) }
    const terms = { openPrice: fill, margin, closableAt: at + holdMs } as Position
    const begun = { stopLoss, takeProfit, warned: 0, close: null } as const
    this.positions.set(id, { ...terms, ...begun, id, userId, direction, lots })
    this.#pay(userId, -margin)
    this.#fire()
    // Orders are paid for when they are written down, with whatever else they have set off.
    const holds = this.open.filter((position) => position.userId === userId).length
    const poor = (this.wallets.get(userId) ?? 0) < 0
    const crowded = holds > held && holds > openPositionsMax
    if (!poor && !crowded) return null
    Object.assign(this, past)
    return poor ? 'insufficient_margin' : 'position_limit'
  }

  leave(user: UserId, id: PositionId, at: number): string | null {
    const position = this.positions.get(id)
    if (position === undefined || position.userId !== user || position.close !== null) return 'not_found'
    if (at < position.closableAt) return 'cooldown_active'
    this.#end(position, this.exitOf(position), 'user')
    this.#fire()
    return null
  }

  /** Undefined keeps a level, null removes it. */
  change(user: UserId, id: PositionId, wanted: { [Level in keyof Levels]: Levels[Level] | undefined }): string | null {
    const position = this.positions.get(id)
    if (position === undefined || position.userId !== user || position.close !== null) return 'not_found'
    const stopLoss = wanted.stopLoss === undefined ? position.stopLoss : wanted.stopLoss
    const takeProfit = wanted.takeProfit === undefined ? position.takeProfit : wanted.takeProfit
    const changed = { ...position, stopLoss, takeProfit }
    // Kept levels are left alone: what has not fired is right.
    const { stopLoss: stop = null, takeProfit: target = null } = wanted
    if (!oracle.oracleLevels({ ...position, stopLoss: stop, takeProfit: target }, this.price)) return 'levels_invalid'
    this.positions.set(id, changed)
    this.#fire()
    return null
  }

  /** The update that shows full time is the last that moves the base. */
  moveBase(base: number): void {
    if (this.#ended !== null) return
    this.base = base
    this.#fire()
  }

  /** Full time is shown; it may be taken back. */
  whistle(): void {
    this.#ended = this.price
  }

  playOn(): void {
    this.#ended = null
  }

  /** Another cap for the crowd's part, but not at the end of the match. */
  recap(impactCapPpm: number): void {
    if (this.#ended !== null) return
    this.#rules = { ...this.#rules, impactCapPpm }
    this.#fire()
  }

  settle(): void {
    const at = this.price
    for (const position of this.open) this.#end(position, at, 'full_time')
  }

  publish(): void {
    this.published = this.price
  }

  get #market(): oracle.Market {
    return { base: this.base, k0: this.#k0, capPpm: this.#rules.impactCapPpm }
  }

  /** Positions that have reached a level leave, all of a round at one price, until none has. */
  #fire(): void {
    if (this.#ended !== null) return
    for (;;) {
      const due = this.open.map((position) => {
        const exit = this.exitOf(position)
        return { position, exit, by: oracle.oracleTrigger(position as Position & NaivePosition, exit) }
      })
      const leaving = due.filter(({ by }) => by !== null)
      let warned = false
      for (const { position, exit, by } of due) if (by === null) warned = this.#warn(position, exit) || warned
      if (leaving.length === 0) {
        if (warned) continue
        return
      }
      const exposure = leaving.reduce((sum, { position }) => sum + exposureOf(position), 0)
      const at = this.#leaving(exposure)
      for (const { position, by } of leaving) if (by !== null) this.#end(position, at, by)
    }
  }

  /** Whether there was something to warn of. */
  #warn(p: NaivePosition, at: number): boolean {
    const due = oracle.ORACLE_WARNINGS.findLast((percent) => percent > p.warned && oracle.oracleLost(p, at, percent))
    if (due !== undefined) this.positions.set(p.id, { ...p, warned: due })
    return due !== undefined
  }

  #end(position: NaivePosition, at: number, by: ClosedBy): void {
    const price = oracle.oracleWithin(position, at)
    const pnl = oracle.oraclePnl(position, price)
    this.positions.set(position.id, { ...position, close: { price, pnl, by } })
    this.#pay(position.userId, position.margin + pnl)
  }

  #pay(user: UserId, amount: number): void {
    this.wallets.set(user, (this.wallets.get(user) ?? 0) + amount)
  }

  /** One price for all who leave together with this much. */
  #leaving(exposure: number): number {
    return oracle.oracleMean(this.#market, this.imbalance, this.imbalance - exposure)
  }
}

const exposureOf = (bet: Pick<Position, 'direction' | 'lots'>): number =>
  oracle.oracleExposure({ ...bet, purse: 'main' })
