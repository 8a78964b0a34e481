/**
 * A strategy: follows a player who has risen by 1 % since it last looked, with a stop-loss, and leaves when the hold is
 * over. Test it over recordings, then let it trade with a personal key:
 *
 *   npm run ops -- backtest ops/examples/strategy.ts
 *   TOUCHLINE_KEY=tl_… npm run ops -- trade ops/examples/strategy.ts --url http://127.0.0.1:3000
 */
import type { Order, Strategy } from '../backtest/strategy.ts'

const followTheRise: Strategy = ({ random }) => {
  const before = new Map<string, number>()
  return ({ now, instruments, positions, freeMargin }) => {
    const orders = positions
      .filter(({ closableAt }) => closableAt <= now)
      .map(({ id }): Order => ({ kind: 'close', positionId: id }))
    for (const { id, currentPrice, tradingStatus } of instruments) {
      const hasRisen = currentPrice > 1.01 * (before.get(id) ?? currentPrice)
      before.set(id, currentPrice)
      // The margin of a lot is half its price. Not all traders of a strategy should buy at once.
      if (!hasRisen || tradingStatus !== 'OPEN' || currentPrice > freeMargin || random() > 0.2) continue
      const stopLoss = Math.round(currentPrice * 95) / 100
      orders.push({ kind: 'open', instrumentId: id, direction: 'long', lotSize: 1, stopLoss })
    }
    return orders
  }
}
export default followTheRise
