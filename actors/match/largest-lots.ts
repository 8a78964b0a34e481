/** How large an order a wallet can pay for. */
import type { TradingRules } from '../kernel/limits.ts'
import { type Lots, lots, type Money } from '../kernel/micros.ts'
import type { Instrument } from '../market/instrument.ts'
import { openingFill } from '../position/fills.ts'
import { marginFor, type Position } from '../position/position.ts'

/** The largest valid size whose margin fits, its own impact included; 0 when even the smallest does not fit. */
export function largestLots(
  instrument: Instrument,
  { purse, direction }: Pick<Position, 'purse' | 'direction'>,
  available: Money,
  rules: TradingRules,
): Lots {
  let low = 0
  let high = Math.floor((rules.lotMax - rules.lotMin) / rules.lotStep) + 1
  const sizeAt = (n: number): Lots => lots(rules.lotMin + (n - 1) * rules.lotStep)
  const affordable = (n: number): boolean => {
    const fill = openingFill(instrument, { purse, direction, lots: sizeAt(n) })
    return marginFor(fill, sizeAt(n)) <= available
  }
  while (low < high) {
    const middle = Math.ceil((low + high) / 2)
    if (affordable(middle)) low = middle
    else high = middle - 1
  }
  return low === 0 ? lots(0) : sizeAt(low)
}
