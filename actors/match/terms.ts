/** What a decision is made from, and what comes of one that the rules allow. */
import type { TradingRules } from '../kernel/limits.ts'
import type { Price } from '../kernel/micros.ts'
import type { Instant } from '../kernel/world.ts'
import type { Position } from '../position/position.ts'
import type { Rest } from './messages.ts'
import type { WalletFound } from './store.ts'

/** The inputs of a decision: values only, so that it can be repeated. */
export interface Terms {
  readonly at: Instant
  readonly rules: TradingRules
  readonly newId: () => string
  /** What wallets held when the store last rejected this batch, by name. Orders of others are left to the commit. */
  readonly wallets?: ReadonlyMap<string, WalletFound>
}

/** The result of a command that the rules allow. The commit still checks the wallet. */
export interface Allowed {
  readonly position: Position
  /** The price of its instrument right after it. */
  readonly price: Price
  /** What closing the position then fills at; its close price once it is closed. */
  readonly exitPrice: Price
  /** What is left of the position of which a part was closed; absent if nothing is. */
  readonly rest?: Rest
}
