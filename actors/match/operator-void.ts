/** How an operator voids a position. */
import { money, price } from '../kernel/micros.ts'
import type { VoidPosition } from './messages.ts'
import type { Draft } from './state.ts'
import { emitMove, fireTriggers, type Terms } from './trading.ts'

/**
 * Closes an open position at its own opening: its margin is given back and nothing else, whatever the price and the
 * trade window are. News no longer corrects one that has closed; what it has earned is taken back in the database.
 * @returns false when it is not open in this match.
 */ // C3
export function voidPosition(draft: Draft, { positionId }: VoidPosition, terms: Terms): boolean {
  const position = draft.position(positionId)
  if (position === undefined) {
    for (const close of draft.recentCloses()) {
      if (close.position.id !== positionId) continue
      draft.emit({ kind: 'close_forgotten', positionId })
      break
    }
    return false
  }
  const before = draft.listed(position.instrumentId)
  // A corrupt record has no open price to show as its close.
  const at = price(position.openPrice === 0 ? before.base : position.openPrice)
  const how = { at: terms.at, by: 'void', voidReason: 'operator' } as const
  const close = { price: at, base: position.openBase, pnl: money(0), ...how }
  draft.emit({ kind: 'position_closed', position: { ...position, close }, locks: [] })
  emitMove(draft, before, 'trade', 0, terms)
  fireTriggers(draft, before.id, terms)
  return true
}
