/**
 * The market once more, as a reader of the rules would write it down: one player, whole numbers without bounds, every
 * position looked at every time, nothing kept sorted, nothing remembered. It shares no code with the game, so that
 * where the two disagree one of them is wrong.
 */

const MILLION = 1_000_000n
const CONTRACT = 5n
const LEVERAGE = 10n
const LOWEST_PRICE = 10_000n
const WARNINGS = [80n, 50n] as const

export type NaiveDirection = 'long' | 'short'
export type NaiveReason = 'user' | 'stop_loss' | 'take_profit' | 'washout' | 'full_time'
export type NaiveRefusal =
  | 'market_closed'
  | 'lot_size_invalid'
  | 'price_moved'
  | 'levels_invalid'
  | 'insufficient_margin'
  | 'position_limit'
  | 'cooldown_active'
  | 'not_found'

export interface NaiveRules {
  readonly capPpm: bigint
  readonly guardPpm: bigint
  readonly holdMs: number
  readonly openPositionsMax: number
  readonly lotMin: bigint
  readonly lotMax: bigint
  readonly lotStep: bigint
}

export interface NaivePosition {
  readonly id: string
  readonly user: string
  readonly direction: NaiveDirection
  readonly lots: bigint
  readonly open: bigint
  readonly margin: bigint
  readonly closableAt: number
  stop: bigint | null
  target: bigint | null
  warned: bigint
  close: { readonly price: bigint; readonly pnl: bigint; readonly by: NaiveReason } | null
}

export interface NaiveOrder {
  readonly id: string
  readonly user: string
  readonly direction: NaiveDirection
  readonly lots: bigint
  readonly clientPrice: bigint
  readonly stop: bigint | null
  readonly target: bigint | null
  readonly at: number
}

/** The market before an order, to go back to when it cannot be paid. */
interface Past {
  readonly positions: readonly NaivePosition[]
  readonly wallets: ReadonlyMap<string, bigint>
}

export class NaiveMarket {
  readonly positions = new Map<string, NaivePosition>()
  readonly wallets = new Map<string, bigint>()
  base: bigint
  /** The price that subscribers last received. */
  published: bigint
  /** The price at which everybody leaves, once full time is shown. */
  #ended: bigint | null = null
  readonly #k0: bigint
  #rules: NaiveRules

  constructor(base: bigint, k0: bigint, rules: NaiveRules) {
    this.base = base
    this.published = base
    this.#k0 = k0
    this.#rules = rules
  }

  get open(): NaivePosition[] {
    return [...this.positions.values()].filter((position) => position.close === null)
  }

  get imbalance(): bigint {
    return this.open.reduce((sum, position) => sum + exposureOf(position), 0n)
  }

  /** The published price, which stands still once full time is shown. */
  get price(): bigint {
    return this.#ended ?? this.#at(this.imbalance)
  }

  /** What closing this position alone would fill at. */
  exitOf(position: Pick<NaivePosition, 'direction' | 'lots'>): bigint {
    return this.#ended ?? this.#leaving(exposureOf(position))
  }

  place(order: NaiveOrder): NaiveRefusal | null {
    const { lots, clientPrice, direction, user } = order
    const { lotMin, lotMax, lotStep, guardPpm, openPositionsMax } = this.#rules
    if (this.#ended !== null) return 'market_closed'
    if (lots < lotMin || lots > lotMax || lots % lotStep !== 0n) return 'lot_size_invalid'
    if (size(clientPrice - this.published) * MILLION > this.published * guardPpm) return 'price_moved'
    const before = this.imbalance
    const after = before + exposureOf(order)
    const fill = this.#mean(after, before, direction)
    if (!areLevels(order, this.#at(after))) return 'levels_invalid'
    const margin = up(fill * lots * CONTRACT, LEVERAGE * MILLION)
    const held = this.open.filter((position) => position.user === user).length
    const past = this.#remember()
    this.positions.set(order.id, {
      id: order.id,
      user,
      direction,
      lots,
      open: fill,
      margin,
      closableAt: order.at + this.#rules.holdMs,
      stop: order.stop,
      target: order.target,
      warned: 0n,
      close: null,
    })
    this.#pay(user, -margin)
    this.#fire()
    // Orders are paid for when they are written down, with whatever else they have set off.
    const holds = this.open.filter((position) => position.user === user).length
    const poor = (this.wallets.get(user) ?? 0n) < 0n
    const crowded = holds > held && holds > openPositionsMax
    if (!poor && !crowded) return null
    this.#recall(past)
    return poor ? 'insufficient_margin' : 'position_limit'
  }

  leave(user: string, id: string, at: number): NaiveRefusal | null {
    const position = this.positions.get(id)
    if (position === undefined || position.user !== user || position.close !== null) return 'not_found'
    if (at < position.closableAt) return 'cooldown_active'
    this.#end(position, this.exitOf(position), 'user')
    this.#fire()
    return null
  }

  /** Undefined keeps a level, null removes it. */
  change(
    user: string,
    id: string,
    wanted: {
      readonly stop?: bigint | null | undefined
      readonly target?: bigint | null | undefined
    },
  ): NaiveRefusal | null {
    const position = this.positions.get(id)
    if (position === undefined || position.user !== user || position.close !== null) return 'not_found'
    const stop = wanted.stop === undefined ? position.stop : wanted.stop
    const target = wanted.target === undefined ? position.target : wanted.target
    const levels = { direction: position.direction, stop, target }
    if (!areLevels(levels, this.price)) return 'levels_invalid'
    position.stop = stop
    position.target = target
    this.#fire()
    return null
  }

  /** The update that shows full time is the last that moves the base. */
  moveBase(base: bigint): void {
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
  recap(capPpm: bigint): void {
    if (this.#ended !== null) return
    this.#rules = { ...this.#rules, capPpm }
    this.#fire()
  }

  settle(): void {
    const at = this.price
    for (const position of this.open) this.#end(position, at, 'full_time')
  }

  publish(): void {
    this.published = this.price
  }

  /** Positions that have reached a level leave, all of a round at one price, until none has. */
  #fire(): void {
    if (this.#ended !== null) return
    for (;;) {
      const due = this.open.map((position) => ({ position, by: reasonAt(position, this.exitOf(position)) }))
      const leaving = due.filter(({ by }) => by !== null)
      let warned = false
      for (const { position, by } of due) if (by === null) warned = warn(position, this.exitOf(position)) || warned
      if (leaving.length === 0) {
        if (warned) continue
        return
      }
      const exposure = leaving.reduce((sum, { position }) => sum + exposureOf(position), 0n)
      const at = this.#leaving(exposure)
      for (const { position, by } of leaving) if (by !== null) this.#end(position, at, by)
    }
  }

  #end(position: NaivePosition, at: bigint, by: NaiveReason): void {
    const price = within(position, at)
    const pnl = earned(position, price)
    position.close = { price, pnl, by }
    this.#pay(position.user, position.margin + pnl)
  }

  #pay(user: string, amount: bigint): void {
    this.wallets.set(user, (this.wallets.get(user) ?? 0n) + amount)
  }

  /** The price at an imbalance, to the nearest, halves away from the base. */
  #at(imbalance: bigint): bigint {
    const pushed = this.#clamp(imbalance * this.#k0)
    const rounded =
      pushed < 0n ? -down(-2n * pushed + MILLION, 2n * MILLION) : down(2n * pushed + MILLION, 2n * MILLION)
    return this.#foot + rounded
  }

  /** One price for all who leave together with this much. */
  #leaving(exposure: bigint): bigint {
    const now = this.imbalance
    if (exposure === 0n) return this.#at(now)
    return this.#mean(now, now - exposure, exposure > 0n ? 'long' : 'short')
  }

  /**
   * The mean of the price between two imbalances, added up over the pieces into which the caps cut the way: halves of
   * trapezoids, in millionths of a micro.
   */
  #mean(a: bigint, b: bigint, direction: NaiveDirection): bigint {
    const [low, high] = a < b ? [a * this.#k0, b * this.#k0] : [b * this.#k0, a * this.#k0]
    const cuts = [low, ...[-this.#fall, this.#rise].filter((cut) => low < cut && cut < high), high]
    let twice = 0n
    for (const [n, to] of cuts.entries()) {
      const from = cuts[n - 1]
      if (from !== undefined) twice += (this.#clamp(from) + this.#clamp(to)) * (to - from)
    }
    const parts = 2n * (high - low) * MILLION
    return this.#foot + (direction === 'long' ? down(twice, parts) : up(twice, parts))
  }

  #clamp(pushed: bigint): bigint {
    if (pushed > this.#rise) return this.#rise
    return pushed < -this.#fall ? -this.#fall : pushed
  }

  get #foot(): bigint {
    return this.base < LOWEST_PRICE ? LOWEST_PRICE : this.base
  }

  get #rise(): bigint {
    return down(this.#foot * this.#rules.capPpm, MILLION) * MILLION
  }

  get #fall(): bigint {
    const room = (this.#foot - LOWEST_PRICE) * MILLION
    return room < this.#rise ? room : this.#rise
  }

  #remember(): Past {
    return {
      positions: [...this.positions.values()].map((p) => ({ ...p })),
      wallets: new Map(this.wallets),
    }
  }

  #recall(past: Past): void {
    this.positions.clear()
    for (const position of past.positions) this.positions.set(position.id, position)
    this.wallets.clear()
    for (const [user, balance] of past.wallets) this.wallets.set(user, balance)
  }
}

const size = (n: bigint): bigint => (n < 0n ? -n : n)

function down(a: bigint, b: bigint): bigint {
  return a % b !== 0n && a < 0n ? a / b - 1n : a / b
}

const up = (a: bigint, b: bigint): bigint => -down(-a, b)

const exposureOf = ({ direction, lots }: Pick<NaivePosition, 'direction' | 'lots'>): bigint =>
  direction === 'long' ? lots : -lots

/** No close fills beyond the price at which the whole margin is lost. */
function within(p: NaivePosition, at: bigint): bigint {
  const washout = lossAt(p, 100n)
  return washout !== null && isBehind(p, washout, at) ? washout : at
}

/** Never beyond a loss of the margin. */
function earned(position: NaivePosition, at: bigint): bigint {
  const move = position.direction === 'long' ? at - position.open : position.open - at
  const pnl = down(move * position.lots * CONTRACT, MILLION)
  return pnl < -position.margin ? -position.margin : pnl
}

function areLevels(p: Pick<NaivePosition, 'direction' | 'stop' | 'target'>, at: bigint): boolean {
  const [below, above] = p.direction === 'long' ? [p.stop, p.target] : [p.target, p.stop]
  return (below === null || below < at) && (above === null || at < above)
}

/** The price at which `percent` of the margin are lost, rounded towards the open price; null where no price can be. */
function lossAt(p: NaivePosition, percent: bigint): bigint | null {
  const parts = LEVERAGE * 100n
  const at = p.direction === 'long' ? up(p.open * (parts - percent), parts) : down(p.open * (parts + percent), parts)
  return at < LOWEST_PRICE ? null : at
}

const isBehind = (p: NaivePosition, level: bigint | null, at: bigint): boolean =>
  level !== null && (p.direction === 'long' ? at <= level : at >= level)

function reasonAt(p: NaivePosition, at: bigint): NaiveReason | null {
  if (isBehind(p, p.stop, at)) return 'stop_loss'
  if (isBehind(p, lossAt(p, 100n), at)) return 'washout'
  const won = p.target !== null && (p.direction === 'long' ? at >= p.target : at <= p.target)
  return won ? 'take_profit' : null
}

/** Whether there was something to warn of. */
function warn(p: NaivePosition, at: bigint): boolean {
  const due = WARNINGS.find((percent) => percent > p.warned && isBehind(p, lossAt(p, percent), at))
  if (due === undefined) return false
  p.warned = due
  return true
}
