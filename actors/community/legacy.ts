/** The former share model, read-only: a user's holdings, and the profit from the shares they sold. */
import { NOTED_LEGACY_QUANTITY, NOTED_LEGACY_TOTAL } from '../kernel/limits.ts'
import {
  decimal,
  type Lots,
  lots,
  MICROS_PER_UNIT,
  type Money,
  money,
  mulDivNearest,
  type Price,
} from '../kernel/micros.ts'
import type { Headline } from './notices.ts'
import type { UserId } from '../kernel/ids.ts'
import type { Instant } from '../kernel/world.ts'

export interface LegacyTrade {
  readonly id: string
  readonly userId: UserId
  /** The name of the player. */
  readonly player: string
  readonly side: 'buy' | 'sell'
  readonly quantity: Lots
  readonly price: Price
  readonly at: Instant
}

export interface LegacyHolding {
  readonly player: string
  readonly quantity: Lots
  /** The cost of the holding, at the average purchase price. */
  readonly invested: Money
}

export const legacyTotal = ({ quantity, price }: Pick<LegacyTrade, 'quantity' | 'price'>): Money =>
  money(mulDivNearest(quantity, price, MICROS_PER_UNIT))

/** Holdings by player at average cost, and the profit of the sales. Shares sold but never bought cost nothing. */
export function legacyPortfolio(inOrder: readonly LegacyTrade[]): {
  readonly holdings: readonly LegacyHolding[]
  readonly pnl: Money
} {
  const held = new Map<string, LegacyHolding>()
  let pnl = 0
  for (const trade of inOrder) {
    const { player, quantity } = trade
    const before = held.get(player) ?? { player, quantity: lots(0), invested: money(0) }
    if (trade.side === 'buy') {
      const invested = money(before.invested + legacyTotal(trade))
      held.set(player, { player, quantity: lots(before.quantity + quantity), invested })
      continue
    }
    const sold = Math.min(quantity, before.quantity)
    const cost = before.quantity === 0 ? 0 : mulDivNearest(before.invested, sold, before.quantity)
    pnl += legacyTotal(trade) - cost
    held.set(player, { player, quantity: lots(before.quantity - sold), invested: money(before.invested - cost) })
  }
  const holdings = [...held.values()].filter(({ quantity }) => quantity > 0)
  return { holdings: holdings.toSorted((a, b) => (a.player < b.player ? -1 : 1)), pnl: money(pnl) }
}

/** The headline of a legacy trade, or null when it is too small (specification 6). */
export function legacyHeadline(trade: LegacyTrade): Headline | null {
  const total = legacyTotal(trade)
  if (trade.quantity < NOTED_LEGACY_QUANTITY && total < NOTED_LEGACY_TOTAL) return null
  const did = trade.side === 'buy' ? 'bought' : 'sold'
  return {
    userId: trade.userId,
    type: 'legacy_trade',
    text: `${did} ${decimal(trade.quantity)} of ${trade.player} for ${decimal(total).toFixed(2)}`,
    data: { player: trade.player, side: trade.side, quantity: decimal(trade.quantity), total: decimal(total) },
    source: `legacy:${trade.id}`,
    at: trade.at,
  }
}
